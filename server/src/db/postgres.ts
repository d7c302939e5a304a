import pg from 'pg'
import { type Driver, isDatabaseUnavailable, isStalePlan, mustCommit, type Result } from './database.ts'
import { keepAlive, waitForClose } from './link.ts'
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

/** Far above what our statements take. Parameters in DATABASE_URL override them, in milliseconds. */
const timeouts = {
  statement_timeout: 25_000,
  // Releases the locks of a process that froze, or lost its link, inside a transaction.
  idle_in_transaction_session_timeout: 20_000,
  // On our side: by now the server would have answered or given up, so the link is dead.
  query_timeout: 30_000,
}

/**
 * Two pools, so that transactions waiting for locks leave connections for single statements. The lock timeouts are short
 * enough that a request is refused while its user still waits for the answer.
 */
const statements = { max: 10, lock_timeout: 2_000 }
const transactions = { max: 10, lock_timeout: 5_000 }

const migrationTimeoutMs = 24 * 60 * 60 * 1000

export function connectPostgres(url: string, onError: (error: Error) => void): Driver {
  const createPool = (settings: typeof statements) => {
    const pool = new pg.Pool({
      connectionString: url,
      types,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 30_000,
      application_name: 'baton',
      ...settings,
      ...timeouts,
      ...keepAlive,
    })
    // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
    return pool.on('error', onError)
  }
  const [single, several] = [createPool(statements), createPool(transactions)]

  const generations = new PlanGenerations()

  /** Runs `work` with a connection; closes it instead of returning it to the pool once `spoil` was called. */
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
      if (isDatabaseUnavailable(error) || isStalePlan(error)) spoil(error as Error)
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
        // The driver does not queue statements that are started at once.
        let last: Promise<unknown> = Promise.resolve()
        const sendNext = (statement: Sql) => {
          const next = last.then(() => send(client, generations, statement))
          last = next.catch(() => {})
          return next
        }
        try {
          const result = await work(
            sendNext,
            async (text) => void (await client.query({ text, query_timeout: migrationTimeoutMs } as pg.QueryConfig)),
          )
          mustCommit((await client.query('commit')).command)
          return result
        } catch (error) {
          // On a dead link, ROLLBACK would only wait for another timeout.
          if (!isDatabaseUnavailable(error)) await client.query('rollback').catch(spoil)
          throw error
        }
      }),
    listen: (channel, onMessage, onLock) => listen(url, channel, onMessage, onError, { onLock }),
    close: () => waitForClose(Promise.all([single.end(), several.end()])),
  }
}

/** The generation in which a connection's statements were prepared. */
const preparedIn = new WeakMap<pg.PoolClient, number>()

async function send(client: pg.PoolClient, generations: PlanGenerations, { text, values }: Sql): Promise<Result> {
  const generation = generations.next()
  if ((preparedIn.get(client) ?? generation) !== generation) await client.query('deallocate all')
  preparedIn.set(client, generation)
  const name = statementName(text)
  // The driver does not notice that its statements were deallocated, so each generation uses new names.
  const named = name && `${name}_${generation}`
  const result = await client.query(named ? { name: named, text, values: [...values] } : { text, values: [...values] })
  return { rows: result.rows, count: result.rowCount ?? 0 }
}
