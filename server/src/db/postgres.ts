import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import {
  type ConnectionCount,
  type Copy,
  type DatabaseObserver,
  type Driver,
  isDatabaseUnavailable,
  isReadOnly,
  isStalePlan,
  mustCommit,
  type Result,
} from './database.ts'
import { Hosts } from './hosts.ts'
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

/** `unlimited`: statements may take as long as they need, for backups. */
export function connectPostgres(
  url: string,
  onError: (error: Error) => void,
  { unlimited = false }: { unlimited?: boolean } = {},
): Driver {
  const hosts = new Hosts(url)
  const busy = new Set<TermClient>()
  hosts.onLeave(() => {
    // Statements on a server that was cut off would be waited for until their timeout.
    for (const client of busy) client.end().catch(() => {})
  })
  const lost = (error: Error) => {
    hosts.suspect()
    onError(error)
  }

  /** Connects to the server that is the primary when it is created. */
  class TermClient extends pg.Client {
    readonly term = hosts.term

    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: hosts.url })
      // The pool listens only while a connection is idle, `using` only once it has it: not while it is verified. The
      // statement that runs then fails too, but without a listener the process would end.
      this.on('error', () => {})
    }
  }

  const createPool = (settings: typeof statements) => {
    const pool = new pg.Pool({
      Client: TermClient,
      verify: (client, done) => hosts.verify(client).then(() => done(), done),
      types,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 30_000,
      application_name: 'baton',
      ...settings,
      ...(unlimited ? { statement_timeout: 0, idle_in_transaction_session_timeout: 0 } : timeouts),
      ...keepAlive,
    })
    // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
    return pool.on('error', lost)
  }
  const [single, several] = [createPool(statements), createPool(transactions)]

  const generations = new PlanGenerations()
  let observer: DatabaseObserver | undefined

  /** A connection to the primary. One that leads to its predecessor is closed. */
  async function connect(pool: pg.Pool): Promise<pg.PoolClient & TermClient> {
    for (;;) {
      if (!hosts.isSingle) await hosts.available()
      const client = (await pool.connect()) as pg.PoolClient & TermClient
      if (client.term === hosts.term) return client
      client.release(new Error('its server is no longer the primary'))
    }
  }

  /** Runs `work` with a connection; closes it instead of returning it to the pool once `spoil` was called. */
  async function using<T>(
    pool: pg.Pool,
    work: (client: pg.PoolClient, spoil: (reason: Error) => void) => Promise<T>,
  ): Promise<T> {
    const askedAt = performance.now()
    const client = await connect(pool).catch((error) => {
      hosts.suspectAfter(error)
      throw error
    })
    observer?.waited(performance.now() - askedAt)
    let broken: Error | undefined
    const spoil = (reason: Error) => {
      broken = reason
    }
    client.on('error', lost)
    busy.add(client)
    try {
      return await work(client, spoil)
    } catch (error) {
      if (isDatabaseUnavailable(error) || isStalePlan(error) || isReadOnly(error)) spoil(error as Error)
      hosts.suspectAfter(error)
      throw error
    } finally {
      client.off('error', lost)
      busy.delete(client)
      client.release(broken)
    }
  }

  /** Without the wait for a connection. */
  async function send(client: pg.PoolClient, statement: Sql): Promise<Result> {
    const startedAt = performance.now()
    try {
      return await execute(client, generations, statement)
    } finally {
      observer?.ran(statement.text, performance.now() - startedAt)
    }
  }

  return {
    kind: 'postgres',
    observe: (next) => {
      observer = next
    },
    connections: () => [...countsOf('statements', single), ...countsOf('transactions', several)],
    query: (statement) => using(single, (client) => send(client, statement)),
    transaction: (work) =>
      using(several, async (client, spoil) => {
        await client.query('begin')
        // The driver does not queue statements that are started at once.
        let last: Promise<unknown> = Promise.resolve()
        const sendNext = (statement: Sql) => {
          const next = last.then(() => send(client, statement))
          last = next.catch(() => {})
          return next
        }
        try {
          const result = await work(
            sendNext,
            async (text) => void (await client.query({ text, query_timeout: migrationTimeoutMs } as pg.QueryConfig)),
            copyOn(client, spoil),
          )
          mustCommit((await client.query('commit')).command)
          return result
        } catch (error) {
          // On a dead link, ROLLBACK would only wait for another timeout.
          if (!isDatabaseUnavailable(error)) await client.query('rollback').catch(spoil)
          throw error
        }
      }),
    listen: (channel, onMessage, onLock) => listen(hosts, channel, onMessage, onError, { onLock }),
    close: () => waitForClose(Promise.all([single.end(), several.end()])),
  }
}

const countsOf = (name: string, { totalCount, idleCount, waitingCount }: pg.Pool): ConnectionCount[] => [
  { pool: name, state: 'idle', count: idleCount },
  { pool: name, state: 'busy', count: totalCount - idleCount },
  { pool: name, state: 'waiting', count: waitingCount },
]

function copyOn(client: pg.PoolClient, spoil: (reason: Error) => void): Copy {
  return {
    async *copyOut(text) {
      let complete = false
      try {
        yield* heard(client.query(copyTo(text)))
        complete = true
      } finally {
        // The server goes on sending.
        if (!complete) spoil(new Error('a COPY was given up'))
      }
    },
    copyIn: (text, chunks) => pipeline(Readable.from(chunks), heard(client.query(copyFrom(text)))),
  }
}

/** A COPY that was given up fails again when its connection is closed, with nothing left that waits for it. */
function heard<Copying extends Readable | Writable>(copying: Copying): Copying {
  copying.on('error', () => {})
  return copying
}

/** The generation in which a connection's statements were prepared. */
const preparedIn = new WeakMap<pg.PoolClient, number>()

async function execute(client: pg.PoolClient, generations: PlanGenerations, { text, values }: Sql): Promise<Result> {
  const generation = generations.next()
  if ((preparedIn.get(client) ?? generation) !== generation) await client.query('deallocate all')
  preparedIn.set(client, generation)
  const name = statementName(text)
  // The driver does not notice that its statements were deallocated, so each generation uses new names.
  const named = name && `${name}_${generation}`
  const result = await client.query(named ? { name: named, text, values: [...values] } : { text, values: [...values] })
  return { rows: result.rows, count: result.rowCount ?? 0 }
}
