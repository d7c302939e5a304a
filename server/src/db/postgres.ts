import pg from 'pg'
import { type Driver, isDatabaseAway, isStalePlan, mustCommit, type Result } from './database.ts'
import { goodbye, keepAlive } from './link.ts'
import { listen } from './listen.ts'
import { PlanGenerations } from './plan-generations.ts'
import { isoTimestamp, type Sql, statementName } from './sql.ts'

const parsers: Record<number, (text: string) => unknown> = {
  20: Number, // bigint: our counters stay below 2^53
  1184: isoTimestamp,
}

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig

/** No statement of ours takes nearly so long. Whoever knows better sets them in DATABASE_URL, in milliseconds. */
const patience = {
  statement_timeout: 25_000,
  // Of a process that froze, or whose link died, within a transaction: what it held is free again.
  idle_in_transaction_session_timeout: 20_000,
  // The server would have answered or given up by now: the link is silently gone.
  query_timeout: 30_000,
}

/**
 * Two pools, so that those who wait for a lock within a transaction leave connections to those who only read or change
 * one thing. Somebody holds what a request wants to change: it is told so while a person still waits for it.
 */
const statements = { max: 10, lock_timeout: 2_000 }
const transactions = { max: 10, lock_timeout: 5_000 }

/** A migration may take its time. */
const migrationMs = 24 * 60 * 60 * 1000

export function connectPostgres(url: string, onError: (error: Error) => void): Driver {
  const poolOf = (share: typeof statements) => {
    const pool = new pg.Pool({
      connectionString: url,
      types,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 30_000,
      application_name: 'baton',
      ...share,
      ...patience,
      ...keepAlive,
    })
    // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
    return pool.on('error', onError)
  }
  const [single, several] = [poolOf(statements), poolOf(transactions)]

  const generations = new PlanGenerations()

  /** A connection for `work`, which is given back when it is done, or closed for a reason. */
  async function using<T>(
    pool: pg.Pool,
    work: (client: pg.PoolClient, spoil: (reason: Error) => void) => Promise<T>,
  ): Promise<T> {
    const client = await pool.connect()
    let broken: Error | undefined
    const spoil = (reason: Error) => {
      broken = reason
    }
    client.on('error', onError)
    try {
      return await work(client, spoil)
    } catch (error) {
      if (isDatabaseAway(error) || isStalePlan(error)) spoil(error as Error)
      throw error
    } finally {
      client.off('error', onError)
      client.release(broken)
    }
  }

  return {
    kind: 'postgres',
    query: (statement) => using(single, (client) => send(client, generations, statement)),
    transaction: (work) =>
      using(several, async (client, spoil) => {
        await client.query('begin')
        try {
          const result = await work(
            (statement) => send(client, generations, statement),
            async (text) => void (await client.query({ text, query_timeout: migrationMs } as pg.QueryConfig)),
          )
          mustCommit((await client.query('commit')).command)
          return result
        } catch (error) {
          // A link that is gone would only be waited for once more.
          if (!isDatabaseAway(error)) await client.query('rollback').catch(spoil)
          throw error
        }
      }),
    listen: (channel, heard) => listen(url, channel, heard, onError),
    close: () => goodbye(Promise.all([single.end(), several.end()])),
  }
}

/** The generation in which a connection's statements were prepared. */
const preparedIn = new WeakMap<pg.PoolClient, number>()

async function send(client: pg.PoolClient, generations: PlanGenerations, { text, values }: Sql): Promise<Result> {
  const generation = generations.next()
  if ((preparedIn.get(client) ?? generation) !== generation) await client.query('deallocate all')
  preparedIn.set(client, generation)
  const name = statementName(text)
  // The driver does not notice that its statements are gone, so each generation has names of its own.
  const named = name && `${name}_${generation}`
  const result = await client.query(named ? { name: named, text, values: [...values] } : { text, values: [...values] })
  return { rows: result.rows, count: result.rowCount ?? 0 }
}
