import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { PGliteOptions } from '@electric-sql/pglite'
import { compiledDir } from '../paths.ts'
import {
  type Copy,
  type DatabaseMemory,
  type DatabaseObserver,
  type Driver,
  mustCommit,
  type Result,
  type Script,
} from './database.ts'
import type { Disk, SharedDisk } from './disk.ts'
import type { Sql } from './sql.ts'
import { vacuum } from './upkeep.ts'

export interface ThreadOptions {
  where: PGliteOptions
  disk: SharedDisk | undefined
}

/**
 * A statement with values, a script, or a COPY with the lines that it reads. `begin` starts a transaction before it;
 * `ends` says that it ends one.
 */
export type Statement =
  | { text: string; values: readonly unknown[]; begin: boolean }
  | { text: string; begin: boolean; ends: boolean }
  | { text: string; begin: boolean; copies: Uint8Array | null }

export type Request = Statement | 'memory' | 'close'

export type Answer =
  | { ready: true }
  | { print: string }
  // Statements have the time that they ran, without that in the queue of the thread.
  | (Result & { ms: number })
  | { command: string | undefined }
  | { copied: Uint8Array }
  | DatabaseMemory
  | { error: { message: string }; ms: number }

interface Options {
  disk?: Disk
  /** Messages for the operator about the disk. */
  print?: (line: string) => void
  /** Called if the thread ends without having been closed. Nothing can be read or written from then on. */
  onLost?: (error: Error) => void
}

/** PGlite: PostgreSQL in a thread of this process, one connection, one process per directory. */
export async function openEmbedded(where: PGliteOptions, options: Options = {}): Promise<Driver> {
  const thread = await DatabaseThread.open(where, options)
  /** Resolves when the last transaction that has begun, or waits to begin, has sent its end. */
  let transactions: Promise<void> | undefined

  const query = async ({ text, values }: Sql) => {
    const askedAt = performance.now()
    if (transactions) await transactions
    thread.observer?.waited(performance.now() - askedAt)
    return thread.ask<Result>({ text, values, begin: false })
  }

  // The thread keeps the order, so the next statement may be sent before the last one is answered.
  async function transaction<T>(
    work: (query: (statement: Sql) => Promise<Result>, script: Script, copy: Copy) => Promise<T>,
  ): Promise<T> {
    const before = transactions
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = () => {
        if (transactions === ended) transactions = undefined
        resolve()
      }
    })
    transactions = ended
    const askedAt = performance.now()
    if (before) await before
    thread.observer?.waited(performance.now() - askedAt)
    let hasBegun = false
    const begin = () => {
      const isFirst = !hasBegun
      hasBegun = true
      return isFirst
    }
    const finish = (text: 'commit' | 'rollback') => {
      const answer = hasBegun ? thread.ask<{ command: string }>({ text, begin: false, ends: true }) : undefined
      end()
      return answer
    }
    const copy: Copy = {
      async *copyOut(text) {
        yield (await thread.ask<{ copied: Uint8Array }>({ text, begin: begin(), copies: null })).copied
      },
      async copyIn(text, chunks) {
        for await (const copies of chunks) await thread.ask({ text, begin: begin(), copies })
      },
    }
    let result: T
    try {
      result = await work(
        ({ text, values }) => thread.ask({ text, values, begin: begin() }),
        async (text) => void (await thread.ask({ text, begin: begin(), ends: false })),
        copy,
      )
    } catch (error) {
      await finish('rollback')
      throw error
    }
    const committed = await finish('commit')
    if (committed) mustCommit(committed.command)
    return result
  }

  return {
    kind: 'embedded',
    observe: (observer) => {
      thread.observer = observer
    },
    connections: () => {
      const busy = transactions || thread.asked > 0 ? 1 : 0
      return [
        { pool: 'embedded', state: 'idle', count: 1 - busy },
        { pool: 'embedded', state: 'busy', count: busy },
        { pool: 'embedded', state: 'waiting', count: Math.max(0, thread.asked - 1) },
      ]
    },
    memory: () => thread.ask<DatabaseMemory>('memory'),
    query,
    transaction,
    tidy: () => vacuum(query, options.disk),
    listen: () => ({ ready: Promise.resolve(), stop: async () => {} }),
    close: async () => {
      while (transactions) await transactions
      await thread.close()
    },
  }
}

interface Asker {
  /** Of a statement, for the observer. */
  text: string | undefined
  resolve(answer: never): void
  reject(error: Error): void
}

class DatabaseThread {
  readonly #worker: Worker
  /** In the order of their requests, which is that of the answers. */
  #askers: Asker[] = []
  #lost: Error | undefined
  observer: DatabaseObserver | undefined

  private constructor(worker: Worker, { print = () => {}, onLost = fail }: Options) {
    this.#worker = worker
    worker.on('message', (answer: Answer) => {
      if ('print' in answer) print(answer.print)
      else this.#answered(answer)
    })
    let reason = new Error('its thread ended')
    worker.on('error', (error) => {
      reason = error
    })
    worker.on('exit', () => {
      if (!this.#lost) onLost(reason)
      this.#lost ??= reason
      for (const { reject } of this.#askers.splice(0)) reject(this.#lost)
    })
  }

  static async open(where: PGliteOptions, options: Options): Promise<DatabaseThread> {
    const workerData: ThreadOptions = { where, disk: options.disk?.shared }
    const worker = new Worker(new URL('db/embedded-thread.js', compiledDir), { workerData, execArgv: [] })
    await once(worker, 'message')
    return new DatabaseThread(worker, options)
  }

  ask<T>(request: Exclude<Request, 'close'>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#lost) return reject(this.#lost)
      this.#worker.postMessage(request)
      // Only a thread that owes an answer keeps the process alive.
      const text = typeof request === 'object' && 'values' in request ? request.text : undefined
      if (this.#askers.push({ text, resolve, reject }) === 1) this.#worker.ref()
    })
  }

  /** How many requests are not answered yet. */
  get asked() {
    return this.#askers.length
  }

  #answered(answer: Exclude<Answer, { print: string }>) {
    const asker = this.#askers.shift()
    if (this.#askers.length === 0 && !this.#lost) this.#worker.unref()
    if (asker?.text && 'ms' in answer) this.observer?.ran(asker.text, answer.ms)
    if ('error' in answer) asker?.reject(Object.assign(new Error(answer.error.message), answer.error))
    else asker?.resolve(answer as never)
  }

  async close() {
    if (this.#lost) return
    this.#lost = new Error('the database is closed')
    this.#worker.ref()
    this.#worker.postMessage('close')
    await once(this.#worker, 'exit')
  }
}

function fail(error: Error) {
  throw error
}
