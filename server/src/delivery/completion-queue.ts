import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { isDatabaseAway } from '../db/database.ts'
import { complete } from './complete.ts'
import type { Attempted } from './stages.ts'
import type { Watcher } from './worker.ts'

/** Long enough to gather company, short against the time of a request. */
const gatherMs = 3
const mostAtOnce = 128

/**
 * Writes down attempts in batches, one batch at a time, in the order they ended. What cannot be written because the
 * database is away is kept and tried again until its lease is over; then another worker will have it.
 */
export class CompletionQueue {
  readonly #ctx: Context
  readonly #watcher: Watcher
  readonly #done: (completed: Attempted[], retried: string[]) => void
  #waiting: Attempted[] = []
  #underway = 0
  #writing: Promise<void> | undefined

  constructor(ctx: Context, watcher: Watcher, done: (completed: Attempted[], retried: string[]) => void) {
    this.#ctx = ctx
    this.#watcher = watcher
    this.#done = done
  }

  add(attempted: Attempted) {
    this.#waiting.push(attempted)
    this.#writing ??= this.#writeAll()
  }

  /** Attempts that are not written down yet. */
  get waiting() {
    return this.#waiting.length + this.#underway
  }

  /** Resolves when nothing waits to be written. */
  async idle() {
    await this.#writing
  }

  async #writeAll() {
    await sleep(gatherMs)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostAtOnce)
      this.#watcher.completing?.(batch)
      this.#underway = batch.length
      const retried = await this.#write(batch)
      this.#underway = 0
      this.#watcher.completed?.(batch)
      this.#done(batch, retried)
    }
    this.#writing = undefined
  }

  /** Returns the endpoints for which a retry waits. */
  async #write(batch: Attempted[]): Promise<string[]> {
    const { db, config, clock, log } = this.#ctx
    for (let left = batch; left.length > 0; ) {
      try {
        return await complete(db, left, config.retryDelaysMs, clock.now())
      } catch (error) {
        const { message } = error as Error
        if (!isDatabaseAway(error)) {
          log.error({ message, deliveries: left.map(({ claimed }) => claimed.id) }, 'attempts could not be recorded')
          break
        }
        log.warn({ message }, 'the database is away; attempts wait to be recorded')
        await sleep(250)
        left = left.filter(({ claimed }) => claimed.leaseUntil > clock.now())
      }
    }
    return []
  }
}
