import { setTimeout as sleep } from 'node:timers/promises'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { isDatabaseUnavailable, isTimedOut, isUnwritable } from '../db/database.ts'
import { complete } from './complete.ts'
import type { Attempted, WorkerObserver } from './stages.ts'

/** Waits for more attempts to write in one batch. Short compared with a request. */
const gatherMs = 3
const batchSize = 128
/** How often a whole batch may fail while the database is available, before its attempts are written one by one. */
const maxFailures = 3
const pauseMs = 250
/** The number of the attempt decides if another worker has sent the delivery meanwhile, so a late write does no harm. */
const keptAfterLeaseMs = 15_000

/**
 * Writes outcomes of attempts in batches, one batch at a time, in the order they ended. While the database is
 * unavailable they are kept and retried until shortly after their leases end; then the deliveries are sent again.
 */
export class CompletionQueue {
  readonly #ctx: Context
  readonly #observer: WorkerObserver
  readonly #done: (completed: Attempted[], pendingEndpoints: Set<string>) => void
  #waiting: Attempted[] = []
  #underway = 0
  #writing: Promise<void> | undefined

  constructor(
    ctx: Context,
    observer: WorkerObserver,
    done: (completed: Attempted[], pendingEndpoints: Set<string>) => void,
  ) {
    this.#ctx = ctx
    this.#observer = observer
    this.#done = done
  }

  add(attempted: Attempted) {
    this.#waiting.push(attempted)
    this.#writing ??= this.#writeAll()
  }

  /** Number of attempts not written yet. */
  get waiting() {
    return this.#waiting.length + this.#underway
  }

  /** Resolves when all attempts are written. */
  async idle() {
    while (this.#writing) await this.#writing
  }

  async #writeAll() {
    await sleep(gatherMs)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSize)
      this.#observer.completing?.(batch)
      this.#underway = batch.length
      const pendingEndpoints = await this.#write(batch)
      this.#underway = 0
      this.#observer.completed?.(batch)
      this.#done(batch, pendingEndpoints)
    }
    this.#writing = undefined
  }

  /**
   * Returns the endpoints that have more to send. A failed batch is retried for a limited time. If the error
   * persists, its attempts are written one by one; if a lock timed out, endpoint by endpoint. So one bad row or one
   * locked endpoint does not hold up the others.
   */
  async #write(batch: Attempted[]): Promise<Set<string>> {
    const { db, config, clock, log } = this.#ctx
    let left = batch
    for (let failures = 0; left.length > 0; failures++) {
      try {
        return await complete(db, left, config.retryDelaysMs, clock.now())
      } catch (error) {
        const { message } = error as Error
        log.warn({ message, attempts: left.length }, 'could not write attempts; retrying')
        if (isTimedOut(error)) return this.#writeSeparately(byEndpoint(left))
        const isTemporary = isDatabaseUnavailable(error) || isUnwritable(error)
        if (!isTemporary && failures >= maxFailures) return this.#writeSeparately(left.map((one) => [one]))
        await sleep(pauseMs)
        left = left.filter(({ claimed }) => plus(claimed.leaseUntil, keptAfterLeaseMs) > clock.now())
      }
    }
    return new Set()
  }

  async #writeSeparately(batches: Attempted[][]): Promise<Set<string>> {
    const pendingEndpoints = new Set<string>()
    for (const batch of batches) {
      try {
        const ids = await complete(this.#ctx.db, batch, this.#ctx.config.retryDelaysMs, this.#ctx.clock.now())
        for (const id of ids) pendingEndpoints.add(id)
      } catch (error) {
        const { message } = error as Error
        const ids = batch.map(({ claimed }) => claimed.id)
        this.#ctx.log.error({ message, delivery_ids: ids }, 'could not write attempts')
      }
    }
    return pendingEndpoints
  }
}

const byEndpoint = (batch: Attempted[]) =>
  [...new Set(batch.map(({ claimed }) => claimed.endpointId))].map((id) =>
    batch.filter(({ claimed }) => claimed.endpointId === id),
  )
