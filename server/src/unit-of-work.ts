import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { Db, Queryable, Tx } from './db/database.ts'
import type { Cause } from './trace.ts'

/**
 * One transaction of a verb. Everything it writes has the same `now`. `caller` is null where the service itself acts.
 * `Connection` is wider than `Tx` for work that can also run as single statements.
 */
export interface UnitOfWork<Caller = unknown, Connection extends Queryable = Tx> {
  tx: Connection
  now: Date
  caller: Caller
  config: Config
  cause?: Cause | undefined
}

/** The part that audit entries, events and inbox entries need; `caller.id` is null for the service itself. */
export type Recording = Omit<UnitOfWork<{ id: string | null; workspaceId: string }>, 'config'>

/** Runs `work` in a transaction. The clock is read once for each attempt, also when a conflict makes it run again. */
export const transact = <Caller, T>(ctx: Context, caller: Caller, work: (unit: UnitOfWork<Caller>) => Promise<T>) =>
  ctx.db.tx((tx) => work({ tx, now: ctx.clock.now(), caller, config: ctx.config, cause: ctx.cause }))

/** The same values for work whose statements need no transaction. */
export const withoutTransaction = <Caller>(
  { db, clock, config, cause }: Context,
  caller: Caller,
): UnitOfWork<Caller, Db> => ({
  tx: db,
  now: clock.now(),
  caller,
  config,
  cause,
})
