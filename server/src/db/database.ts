import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Sql, sql, undurably } from './sql.ts'

export interface Result {
  rows: unknown[]
  count: number
}

/** Told of every statement, also of one that failed, and of every wait for a connection. */
export interface DatabaseObserver {
  waited(ms: number): void
  /** `text` has placeholders in place of values. */
  ran(text: string, ms: number): void
}

export interface ConnectionCount {
  pool: string
  state: 'idle' | 'busy' | 'waiting'
  count: number
}

/** In bytes. */
export interface DatabaseMemory {
  /** Of the JavaScript objects in the thread of the embedded database. */
  heap: number
  /** Of the database itself. It never shrinks. */
  wasm: number
}

/** The interface that PGlite and PostgreSQL share. */
export interface Driver {
  readonly kind: 'embedded' | 'postgres'
  observe(observer: DatabaseObserver): void
  /** Connections, and requests that wait for one. */
  connections(): ConnectionCount[]
  /** Of a database inside this process. */
  memory?(): Promise<DatabaseMemory>
  query(statement: Sql): Promise<Result>
  /** Statements run in the order they are started, also if several are started at once. */
  transaction<T>(
    work: (query: (statement: Sql) => Promise<Result>, script: Script, copy: Copy) => Promise<T>,
  ): Promise<T>
  /** Calls `onMessage` for each message on the channel, and once with '' whenever it may have missed some. */
  listen(channel: string, onMessage: (message: string) => void, onLock?: OnLock): Listening
  /** Maintenance that PostgreSQL does in background processes. */
  tidy?(): Promise<void>
  close(): Promise<void>
}

/**
 * Called with the key of an advisory lock that the listening connection holds, and with null when the connection is
 * lost. The server releases the lock with the connection, so others see that the process died. Never called on the
 * embedded database.
 */
export type OnLock = (lock: number | null) => void

export interface Listening {
  /** Resolves when the connection listens. */
  ready: Promise<void>
  stop(): Promise<void>
}

/** Runs several statements without parameters, for migrations. */
export type Script = (text: string) => Promise<void>

/** COPY, for backups: rows as lines of PostgreSQL's text format. */
export interface Copy {
  /** Runs `copy … to stdout`. The embedded database collects all of it in memory first: ask for a part of a table. */
  copyOut(text: string): AsyncIterable<Uint8Array>
  /** Runs `copy … from stdin`. Each chunk ends where a line ends. */
  copyIn(text: string, chunks: AsyncIterable<Uint8Array>): Promise<void>
}

export interface Queryable {
  rows<Row>(statement: Sql): Promise<Row[]>
  row<Row>(statement: Sql): Promise<Row | undefined>
  /** Returns the number of rows that the statement affected. */
  run(statement: Sql): Promise<number>
}

export interface Tx extends Queryable, Copy {
  script: Script
  /** Passes messages to the topic's subscriber in this process once the transaction has committed. */
  afterCommit<Topic extends keyof Topics>(topic: Topic, messages: Iterable<Topics[Topic]>): void
}

/** Messages that a committed transaction sends within this process, by topic. */
export interface Topics {
  /** Ids of endpoints with pending deliveries. */
  due: string
  /** Hints for live watchers, as JSON. */
  live: string
  /** Ids to wake: connections of listeners, and attempts that wait for an answer. */
  relay: string
  /** Queues with new work: that of agents inside the service, and mail. */
  work: string
  /** The type and the id of each recorded event, with a space between them. */
  recorded: string
}

const retriesOnConflict = 5

/**
 * A query outside the open transaction would deadlock the embedded database, which has a single connection, and would
 * not see the transaction's changes on PostgreSQL. A guarded database throws. Unguarded is for PostgreSQL in
 * production, where tracking every call with AsyncLocalStorage costs 5 % of a worker's throughput.
 */
export class Db implements Queryable {
  readonly #driver: Driver
  readonly #open: AsyncLocalStorage<{ active: boolean }> | undefined
  readonly #subscribers = new Map<keyof Topics, (messages: Set<string>) => void>()
  #closed: Promise<void> | undefined

  constructor(driver: Driver, { guarded = true } = {}) {
    this.#driver = driver
    this.#open = guarded ? new AsyncLocalStorage() : undefined
  }

  get kind() {
    return this.#driver.kind
  }

  observe(observer: DatabaseObserver) {
    this.#driver.observe(observer)
  }

  connections() {
    return this.#driver.connections()
  }

  async memory(): Promise<DatabaseMemory | undefined> {
    return this.#driver.memory?.()
  }

  async rows<Row>(statement: Sql): Promise<Row[]> {
    this.#refuseInsideTransaction()
    return (await this.#driver.query(statement)).rows as Row[]
  }

  async row<Row>(statement: Sql): Promise<Row | undefined> {
    return (await this.rows<Row>(statement))[0]
  }

  async run(statement: Sql): Promise<number> {
    this.#refuseInsideTransaction()
    return (await this.#driver.query(statement)).count
  }

  /** Commits all that `work` did, or nothing. Retries conflicts with other transactions. */
  async tx<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.#refuseInsideTransaction()
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(work)
      } catch (error) {
        if (!isConflict(error) || attempt > retriesOnConflict) throw error
        // A random delay, so that the same transactions do not collide again.
        await sleep(Math.random() * 50 * attempt)
      }
    }
  }

  async #attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const state = { active: true }
    const pending = new Map<keyof Topics, Set<string>>()
    const attempt = () =>
      this.#driver.transaction(async (query, script, copy) => {
        const guarded = (statement: Sql) => {
          if (!state.active) throw new Error(`query on a transaction that has ended: ${statement.text}`)
          return query(statement)
        }
        const tx: Tx = {
          script,
          ...copy,
          rows: async <Row>(statement: Sql) => (await guarded(statement)).rows as Row[],
          row: async <Row>(statement: Sql) => (await guarded(statement)).rows[0] as Row | undefined,
          run: async (statement) => (await guarded(statement)).count,
          afterCommit: (topic, messages) => {
            pending.set(topic, new Set([...(pending.get(topic) ?? []), ...messages]))
          },
        }
        try {
          return await work(tx)
        } finally {
          state.active = false
        }
      })
    const result = await (this.#open ? this.#open.run(state, attempt) : attempt())
    for (const [topic, messages] of pending) this.#subscribers.get(topic)?.(messages)
    return result
  }

  /**
   * A database whose transactions are parts of `tx`, for verbs that have to commit together. A failure in one of them
   * leaves `tx` unusable, unless the caller set a savepoint before.
   */
  within(tx: Tx): Db {
    return new DbWithin(this.#driver, tx)
  }

  /** For a write that is a single statement, and so committed already: passes the messages on at once. */
  afterCommit<Topic extends keyof Topics>(topic: Topic, messages: Iterable<Topics[Topic]>) {
    this.#refuseInsideTransaction()
    this.#subscribers.get(topic)?.(new Set(messages))
  }

  /** Sets the topic's subscriber. It must not throw, and is not awaited. */
  onCommitted(topic: keyof Topics, subscriber: (messages: Set<string>) => void) {
    this.#subscribers.set(topic, subscriber)
  }

  /** Messages between processes; the embedded database has only one process. */
  listen(channel: string, onMessage: (message: string) => void, onLock?: OnLock): Listening {
    return this.#driver.listen(channel, onMessage, onLock)
  }

  async notify(channel: string, message = ''): Promise<void> {
    // Notifications do not survive a crash of the database, so the commit need not wait for its disk.
    if (this.kind !== 'postgres') return
    await this.run(sql`${undurably} select pg_notify(${channel}, ${message}) from undurable`)
  }

  async tidy(): Promise<void> {
    await this.#driver.tidy?.()
  }

  close(): Promise<void> {
    this.#closed ??= this.#driver.close().finally(() => this.#open?.disable())
    return this.#closed
  }

  #refuseInsideTransaction() {
    if (this.#open?.getStore()?.active) {
      throw new Error('query outside the open transaction: use the tx that was passed in')
    }
  }
}

class DbWithin extends Db {
  readonly #tx: Tx

  constructor(driver: Driver, tx: Tx) {
    super(driver, { guarded: false })
    this.#tx = tx
  }

  override rows<Row>(statement: Sql): Promise<Row[]> {
    return this.#tx.rows(statement)
  }

  override run(statement: Sql): Promise<number> {
    return this.#tx.run(statement)
  }

  /** Conflicts are retried with the whole transaction, by the database that began it. */
  override tx<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return work(this.#tx)
  }

  override afterCommit<Topic extends keyof Topics>(topic: Topic, messages: Iterable<Topics[Topic]>) {
    this.#tx.afterCommit(topic, messages)
  }
}

/** After a failed statement, COMMIT rolls back without an error. Code that caught that failure would not notice. */
export function mustCommit(command: string | undefined) {
  if (command !== 'COMMIT') throw new Error('a statement of the transaction failed, so none of it was kept')
}

export const sqlState = (error: unknown) => (error as { code?: unknown } | null)?.code

/**
 * A deadlock, a serialisation failure, or a reference to a row deleted after it was looked up: the retry finds it
 * missing and the caller gets the proper error.
 */
export const isConflict = (error: unknown) => ['40P01', '40001', '23503'].includes(String(sqlState(error)))

/** The prepared statement no longer matches the tables, or no longer exists; preparing it again helps. */
export const isStalePlan = (error: unknown) => ['0A000', '26000'].includes(String(sqlState(error)))

/** Another transaction held the lock for longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown) => sqlState(error) === '55P03'

/** The server could not be reached or ended the connection; the statement itself is not at fault. */
export const isDatabaseUnavailable = (error: unknown) =>
  /^(E(CONNREFUSED|CONNRESET|CONNABORTED|PIPE|TIMEDOUT|NOTFOUND|NOENT|HOSTUNREACH|NETUNREACH|AI_AGAIN)|57P0[123]|25P03|53300|08...)$/.test(
    String(sqlState(error)),
  ) ||
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout)|not queryable/.test(
    (error as Error).message,
  )

/** The statement waited too long for a lock, or ran too long itself. */
export const isTimedOut = (error: unknown) => isLockTimeout(error) || sqlState(error) === '57014'

/**
 * The server is a standby, or its operator made it read-only. A standby refuses writes, and with another code even reads
 * of unlogged tables. Messages are translated, names of the server's functions are not.
 */
export const isReadOnly = (error: unknown) =>
  sqlState(error) === '25006' ||
  (sqlState(error) === '0A000' && (error as { routine?: unknown }).routine === 'get_relation_info')

/** The disk is full, or the database is read-only. */
export const isUnwritable = (error: unknown) => sqlState(error) === '53100' || isReadOnly(error)

/** A unique index or key with this name refused the row. */
export const isDuplicate = (error: unknown, constraint: string) =>
  sqlState(error) === '23505' && (error as { constraint?: unknown }).constraint === constraint
