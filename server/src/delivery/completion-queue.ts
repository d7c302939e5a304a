import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { isDatabaseAway, isTimedOut, isUnwritable } from '../db/database.ts'
import { complete } from './complete.ts'
import type { Attempted } from './stages.ts'
import type { Watcher } from './worker.ts'

/** Long enough to gather company, short against the time of a request. */
const gatherMs = 3
const mostAtOnce = 128
/** Of a whole batch, when the database is there. */
const mostFailures = 3
const pauseMs = 250

/**
 * Writes down attempts in batches, one batch at a time, in the order they ended. What cannot be written because the
 * database is away is kept and tried again until its lease is over; then another worker will have it.
 */
export class CompletionQueue {
  readonly #ctx: Context
  readonly #watcher: Watcher
  readonly #done: (completed: Attempted[], waiting: Set<string>) => void
  #waiting: Attempted[] = []
  #underway = 0
  #writing: Promise<void> | undefined

  constructor(ctx: Context, watcher: Watcher, done: (completed: Attempted[], waiting: Set<string>) => void) {
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
    while (this.#writing) await this.#writing
  }

  async #writeAll() {
    await sleep(gatherMs)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostAtOnce)
      this.#watcher.completing?.(batch)
      this.#underway = batch.length
      const waiting = await this.#write(batch)
      this.#underway = 0
      this.#watcher.completed?.(batch)
      this.#done(batch, waiting)
    }
    this.#writing = undefined
  }

  /**
   * Returns the endpoints for which more waits. What fails is tried again as long as the claims hold, then each by
   * itself, so that one that cannot be written takes no other with it; nor does an endpoint that somebody else holds.
   */
  async #write(batch: Attempted[]): Promise<Set<string>> {
    const { db, config, clock, log } = this.#ctx
    let left = batch
    for (let failures = 0; left.length > 0; failures++) {
      try {
        return await complete(db, left, config.retryDelaysMs, clock.now())
      } catch (error) {
        const { message } = error as Error
        log.warn({ message, attempts: left.length }, 'attempts could not be written down yet')
        if (isTimedOut(error)) return this.#writeApart(byEndpoint(left))
        const passes = isDatabaseAway(error) || isUnwritable(error)
        if (!passes && failures >= mostFailures) return this.#writeApart(left.map((one) => [one]))
        await sleep(pauseMs)
        left = left.filter(({ claimed }) => claimed.leaseUntil > clock.now())
      }
    }
    return new Set()
  }

  async #writeApart(batches: Attempted[][]): Promise<Set<string>> {
    const waiting = new Set<string>()
    for (const batch of batches) {
      try {
        const ids = await complete(this.#ctx.db, batch, this.#ctx.config.retryDelaysMs, this.#ctx.clock.now())
        for (const id of ids) waiting.add(id)
      } catch (error) {
        const { message } = error as Error
        const ids = batch.map(({ claimed }) => claimed.id)
        this.#ctx.log.error({ message, delivery_ids: ids }, 'attempts could not be written down')
      }
    }
    return waiting
  }
}

const byEndpoint = (batch: Attempted[]) =>
  [...new Set(batch.map(({ claimed }) => claimed.endpointId))].map((id) =>
    batch.filter(({ claimed }) => claimed.endpointId === id),
  )
