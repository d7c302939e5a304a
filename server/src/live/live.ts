import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Db, Listening } from '../db/database.ts'
import type { Logger } from '../log.ts'
import type { Hint } from './hint.ts'
import { fewer, messages, missed, type News } from './news.ts'

const channel = 'baton_live'
/** So many may wait to be told to other processes; beyond that they are told that they missed some. */
const waitingAtMost = 5000
const retryMs = 1000
/** An agent at work tells of each word it says; other processes hear of all that came in this time at once. */
const gatherMs = 10

/** Somebody who watches one workspace. Neither function may throw. */
export interface Watcher {
  hint(hint: Hint): void
  /** Hints may have been missed. */
  resync(): void
}

/**
 * Passes what committed transactions tell to those who watch: at once to those of this process, by NOTIFY to those of
 * others. It notifies after the commit, never within: NOTIFY lines up all commits of a database. What is lost with a
 * process that dies in between is seen at the next change or reading.
 */
export class Live {
  readonly #db: Db
  readonly #clock: Clock
  readonly #log: Logger
  /** Tells our own messages from those of others. */
  readonly #node = randomUUID()
  readonly #watchers = new Map<string, Set<{ userId: string; watcher: Watcher }>>()
  readonly #listening: Listening
  readonly #waiting = new Set<string>()
  #sending: Promise<void> | undefined
  #stopped = false
  #cancelRetry = () => {}

  constructor(db: Db, clock: Clock, log: Logger) {
    this.#db = db
    this.#clock = clock
    this.#log = log
    db.onNews('live', (hints) => this.#told(fewer([...hints].map((hint) => JSON.parse(hint)))))
    this.#listening = db.listen(channel, (message) => this.#heard(message))
  }

  /** How many watch. */
  get watching() {
    return [...this.#watchers.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /** Returns what ends it. */
  watch(workspaceId: string, userId: string, watcher: Watcher): () => void {
    const entry = { userId, watcher }
    const watchers = this.#watchers.get(workspaceId) ?? new Set()
    this.#watchers.set(workspaceId, watchers.add(entry))
    return () => {
      watchers.delete(entry)
      if (watchers.size === 0 && this.#watchers.get(workspaceId) === watchers) this.#watchers.delete(workspaceId)
    }
  }

  /** Hears nobody any more, and resolves when others have been told what was to be told. */
  async stop() {
    this.#stopped = true
    this.#cancelRetry()
    await this.#listening.stop()
    await this.#sending
  }

  #told(news: News[]) {
    for (const one of news) this.#show(one)
    if (this.#db.kind !== 'postgres') return
    for (const one of news) {
      const text = JSON.stringify(one)
      // The last word on something stays the last.
      this.#waiting.delete(text)
      this.#waiting.add(text)
    }
    if (this.#waiting.size > waitingAtMost) this.#forget()
    this.#sending ??= this.#sendAll()
  }

  #heard(message: string) {
    if (message === missed) {
      for (const watchers of this.#watchers.values()) for (const { watcher } of watchers) watcher.resync()
      return
    }
    const { node, news } = JSON.parse(message) as { node: string; news: News[] }
    if (node !== this.#node) for (const one of news) this.#show(one)
  }

  #show(news: News) {
    for (const { userId, watcher } of this.#watchers.get(news.workspace_id) ?? []) {
      if ((news.only ?? userId) !== userId || news.except === userId) continue
      if ('resync' in news) watcher.resync()
      else watcher.hint(news)
    }
  }

  /** What is not told one by one is told as missed. */
  #forget() {
    this.#waiting.clear()
    this.#waiting.add(missed)
  }

  /** What is to be told gathers for a moment, and while a message is on its way. */
  async #sendAll() {
    try {
      while (this.#waiting.size > 0) {
        if (!this.#stopped) await sleep(gatherMs)
        const news = [...this.#waiting]
        this.#waiting.clear()
        for (const message of messages(this.#node, news)) await this.#db.notify(channel, message)
      }
    } catch (error) {
      this.#forget()
      if (!this.#stopped) this.#retryLater(error as Error)
    } finally {
      this.#sending = undefined
    }
  }

  #retryLater({ message }: Error) {
    this.#log.warn({ message }, 'could not tell other processes what changed; trying again')
    this.#cancelRetry()
    this.#cancelRetry = this.#clock.after(retryMs, () => {
      this.#sending ??= this.#sendAll()
    })
  }
}
