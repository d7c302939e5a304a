import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Db, Listening } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { CoalescedTask } from '../single-flight.ts'
import type { Hint } from './hint.ts'
import { limitHints, lostHints, packMessages, type Resync } from './messages.ts'

const channel = 'baton_live'
/** Maximum number of hints waiting to be sent. Beyond it they are dropped, and the other processes resync. */
const maxWaiting = 5000
const retryMs = 1000
/** Hints are collected for this long before they are sent together: an active agent causes many. */
const gatherMs = 10

/** Watches one workspace. Neither function may throw. */
export interface Watcher {
  hint(hint: Hint): void
  /** Hints may have been missed. */
  resync(): void
}

/**
 * Passes the hints of committed transactions to watchers: directly in this process, by NOTIFY in others. It notifies
 * after the commit, never within: NOTIFY serialises all commits of a database. Hints lost with a process that dies in
 * between are not sent again; browsers see the change with the next hint or read.
 */
export class Live {
  readonly #db: Db
  readonly #clock: Clock
  readonly #log: Logger
  /** Identifies messages of this process, which it ignores. */
  readonly #node = randomUUID()
  readonly #watchers = new Map<string, Set<{ userId: string; watcher: Watcher }>>()
  readonly #listening: Listening
  readonly #waiting = new Set<string>()
  readonly #sending = new CoalescedTask(() => this.#sendAll())
  #stopped = false
  #cancelRetry = () => {}

  constructor(db: Db, clock: Clock, log: Logger) {
    this.#db = db
    this.#clock = clock
    this.#log = log
    db.onCommitted('live', (hints) => this.#publish(limitHints([...hints].map((hint) => JSON.parse(hint)))))
    this.#listening = db.listen(channel, (message) => this.#received(message))
  }

  /** Number of watchers. */
  get watching() {
    return [...this.#watchers.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /** Number of watchers of one workspace in this process. */
  watchingIn(workspaceId: string) {
    return this.#watchers.get(workspaceId)?.size ?? 0
  }

  /** Returns a function that stops watching. */
  watch(workspaceId: string, userId: string, watcher: Watcher): () => void {
    const entry = { userId, watcher }
    const watchers = this.#watchers.get(workspaceId) ?? new Set()
    this.#watchers.set(workspaceId, watchers.add(entry))
    return () => {
      watchers.delete(entry)
      if (watchers.size === 0 && this.#watchers.get(workspaceId) === watchers) this.#watchers.delete(workspaceId)
    }
  }

  /** Stops listening, and resolves when the waiting hints are sent. */
  async stop() {
    this.#stopped = true
    this.#cancelRetry()
    await this.#listening.stop()
    await this.#sending.idle()
  }

  #publish(hints: (Hint | Resync)[]) {
    for (const hint of hints) this.#dispatch(hint)
    if (this.#db.kind !== 'postgres') return
    for (const hint of hints) {
      const text = JSON.stringify(hint)
      // Moves a repeated hint to the end, so that the order of the last hints is kept.
      this.#waiting.delete(text)
      this.#waiting.add(text)
    }
    if (this.#waiting.size > maxWaiting) this.#dropWaiting()
    void this.#sending.request()
  }

  #received(message: string) {
    if (message === lostHints) {
      for (const watchers of this.#watchers.values()) for (const { watcher } of watchers) watcher.resync()
      return
    }
    const { node, news } = JSON.parse(message) as { node: string; news: (Hint | Resync)[] }
    if (node !== this.#node) for (const hint of news) this.#dispatch(hint)
  }

  #dispatch(hint: Hint | Resync) {
    for (const { userId, watcher } of this.#watchers.get(hint.workspace_id) ?? []) {
      if ((hint.only ?? userId) !== userId || hint.except === userId) continue
      if ('resync' in hint) watcher.resync()
      else watcher.hint(hint)
    }
  }

  /** Other processes resync instead. */
  #dropWaiting() {
    this.#waiting.clear()
    this.#waiting.add(lostHints)
  }

  /** Collects hints for `gatherMs`, and while a message is being sent. */
  async #sendAll() {
    try {
      while (this.#waiting.size > 0) {
        if (!this.#stopped) await sleep(gatherMs)
        const hints = [...this.#waiting]
        this.#waiting.clear()
        for (const message of packMessages(this.#node, hints)) await this.#db.notify(channel, message)
      }
    } catch (error) {
      this.#dropWaiting()
      if (!this.#stopped) this.#retryLater(error as Error)
    }
  }

  #retryLater({ message }: Error) {
    this.#log.warn({ message }, 'could not send hints to other processes; retrying')
    this.#cancelRetry()
    this.#cancelRetry = this.#clock.after(retryMs, () => void this.#sending.request())
  }
}
