import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Sql, sql, undurably } from './sql.ts'

export interface Result {
  rows: unknown[]
  count: number
}

/** What PGlite and PostgreSQL have in common. */
export interface Driver {
  readonly kind: 'embedded' | 'postgres'
  query(statement: Sql): Promise<Result>
  transaction<T>(work: (query: (statement: Sql) => Promise<Result>, script: Script) => Promise<T>): Promise<T>
  /** Calls `heard` for every message of other processes on the channel, and once after each time it may have missed some. */
  listen(channel: string, heard: (message: string) => void): Listening
  /** What PostgreSQL does by itself in the background. */
  tidy?(): Promise<void>
  close(): Promise<void>
}

export interface Listening {
  /** Resolves when messages arrive from now on. */
  ready: Promise<void>
  stop(): Promise<void>
}

/** Runs several statements without parameters, as migrations are. */
export type Script = (text: string) => Promise<void>

export interface Queryable {
  rows<Row>(statement: Sql): Promise<Row[]>
  row<Row>(statement: Sql): Promise<Row | undefined>
  /** Runs a statement and says how many rows it touched. */
  run(statement: Sql): Promise<number>
}

export interface Tx extends Queryable {
  script: Script
  /** Tells the rest of this process when, and only when, the transaction has committed. */
  tell<Topic extends keyof Topics>(topic: Topic, news: Iterable<Topics[Topic]>): void
}

/** What a committed transaction tells the rest of this process. */
export interface Topics {
  /** Ids of endpoints that something waits for. */
  due: string
  /** Hints, as JSON, for those who watch. */
  live: string
  /** Whom to look again: connections of listeners, and attempts that wait for an answer. */
  relay: string
  /** That an agent inside the service has something to do. */
  work: string
}

const retriesOnConflict = 5

/**
 * A query outside the open transaction would wait for ever on the embedded database, which has a single
 * connection, and would not see the transaction's changes on PostgreSQL. A guarded database fails loudly; unguarded
 * ones are for PostgreSQL in production, where following every call costs one part in twenty of a worker's speed.
 */
export class Db implements Queryable {
  readonly #driver: Driver
  readonly #open: AsyncLocalStorage<{ active: boolean }> | undefined
  readonly #audience = new Map<keyof Topics, (news: Set<string>) => void>()
  #closed: Promise<void> | undefined

  constructor(driver: Driver, { guarded = true } = {}) {
    this.#driver = driver
    this.#open = guarded ? new AsyncLocalStorage() : undefined
  }

  get kind() {
    return this.#driver.kind
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

  /** Commits what `work` did, or nothing of it. What failed only because of others is tried again. */
  async tx<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.#refuseInsideTransaction()
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(work)
      } catch (error) {
        if (!isConflict(error) || attempt > retriesOnConflict) throw error
        // Not all at once again.
        await sleep(Math.random() * 50 * attempt)
      }
    }
  }

  async #attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const state = { active: true }
    const told = new Map<keyof Topics, Set<string>>()
    const attempt = () =>
      this.#driver.transaction(async (query, script) => {
        let last: Promise<unknown> = Promise.resolve()
        // One after another, as a connection takes them, also when they are asked for at once.
        const guarded = (statement: Sql) => {
          const next = last.then(() => {
            if (!state.active) throw new Error(`query on a transaction that has ended: ${statement.text}`)
            return query(statement)
          })
          last = next.catch(() => {})
          return next
        }
        const tx: Tx = {
          script,
          rows: async <Row>(statement: Sql) => (await guarded(statement)).rows as Row[],
          row: async <Row>(statement: Sql) => (await guarded(statement)).rows[0] as Row | undefined,
          run: async (statement) => (await guarded(statement)).count,
          tell: (topic, news) => {
            told.set(topic, new Set([...(told.get(topic) ?? []), ...news]))
          },
        }
        try {
          return await work(tx)
        } finally {
          state.active = false
        }
      })
    const result = await (this.#open ? this.#open.run(state, attempt) : attempt())
    for (const [topic, news] of told) this.#audience.get(topic)?.(news)
    return result
  }

  /** For a write that is a statement of its own: tells the rest of this process what a transaction would have told. */
  tell<Topic extends keyof Topics>(topic: Topic, news: Iterable<Topics[Topic]>) {
    this.#refuseInsideTransaction()
    this.#audience.get(topic)?.(new Set(news))
  }

  /** Who hears what transactions tell about a topic. It must not throw and is not waited for. */
  onNews(topic: keyof Topics, heard: (news: Set<string>) => void) {
    this.#audience.set(topic, heard)
  }

  /** Between processes; the embedded database has only this one. */
  listen(channel: string, heard: (message: string) => void): Listening {
    return this.#driver.listen(channel, heard)
  }

  async notify(channel: string, message = ''): Promise<void> {
    // No message survives a crash of the database, so none waits for its disk.
    if (this.kind !== 'postgres') return
    await this.run(sql`${undurably} select pg_notify(${channel}, ${message}) from undurable`)
  }

  async tidy(): Promise<void> {
    await this.#driver.tidy?.()
  }

  close(): Promise<void> {
    this.#closed ??= this.#driver.close()
    return this.#closed
  }

  #refuseInsideTransaction() {
    if (this.#open?.getStore()?.active) {
      throw new Error('query outside the open transaction: use the tx that was handed to you')
    }
  }
}

/** A commit after a statement that failed is a rollback, and no error: whoever caught that failure would never know. */
export function mustCommit(command: string | undefined) {
  if (command !== 'COMMIT') throw new Error('a statement of the transaction failed, so none of it was kept')
}

const sqlState = (error: unknown) => (error as { code?: unknown } | null)?.code

/**
 * A deadlock, a serialisation failure, or a reference to a row that went away after it was looked up: on the second
 * try that row is found to be missing and the caller is told so.
 */
export const isConflict = (error: unknown) => ['40P01', '40001', '23503'].includes(String(sqlState(error)))

/** A prepared statement that no longer fits the tables, or that is not there any more: prepared anew it will do. */
export const isStalePlan = (error: unknown) => ['0A000', '26000'].includes(String(sqlState(error)))

/** Somebody else held what was asked for longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown) => sqlState(error) === '55P03'

/** No connection could be had, or the server ended it: nothing is wrong with what was asked. */
export const isDatabaseAway = (error: unknown) =>
  /^(E(CONNREFUSED|CONNRESET|CONNABORTED|PIPE|TIMEDOUT|NOTFOUND|NOENT|HOSTUNREACH|NETUNREACH|AI_AGAIN)|57P0[123]|25P03|53300|08...)$/.test(
    String(sqlState(error)),
  ) ||
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout)|not queryable/.test(
    (error as Error).message,
  )

/** Somebody else held what the statement wanted for too long, or it took too long itself. */
export const isTimedOut = (error: unknown) => isLockTimeout(error) || sqlState(error) === '57014'

/** The disk is full, or the database takes no changes for now. */
export const isUnwritable = (error: unknown) => ['53100', '25006'].includes(String(sqlState(error)))

/** A row that a unique index or key refused, by the name of that index. */
export const isDuplicate = (error: unknown, constraint: string) =>
  sqlState(error) === '23505' && (error as { constraint?: unknown }).constraint === constraint
