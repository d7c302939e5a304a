import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { Db, Queryable, Tx } from './db/database.ts'
import type { Chain, Hooks } from './hooks.ts'
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
  hooks?: Hooks | undefined
  chain?: Chain | undefined
  cause?: Cause | undefined
}

/** The part that audit entries, events and inbox entries need; `caller.id` is null for the service itself. */
export type Recording = Omit<UnitOfWork<{ id: string | null; workspaceId: string }>, 'config'>

/** Runs `work` in a transaction. The clock is read once for each attempt, also when a conflict makes it run again. */
export const transact = <Caller, T>(ctx: Context, caller: Caller, work: (unit: UnitOfWork<Caller>) => Promise<T>) =>
  ctx.db.tx((tx) => work({ ...unitOf(ctx, caller), tx }))

/** The same values for work whose statements need no transaction. */
export const withoutTransaction = <Caller>(ctx: Context, caller: Caller): UnitOfWork<Caller, Db> => ({
  ...unitOf(ctx, caller),
  tx: ctx.db,
})

const unitOf = <Caller>({ clock, config, hooks, chain, cause }: Context, caller: Caller) => ({
  now: clock.now(),
  caller,
  config,
  hooks,
  chain,
  cause,
})
