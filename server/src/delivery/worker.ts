import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { isDatabaseUnavailable, type Listening } from '../db/database.ts'
import { SingleFlight } from '../single-flight.ts'
import { WakeableSleep } from '../wakeable-sleep.ts'
import { batchSize, claim, nextDueAt, returnExpired, wakeOverlooked } from './claim.ts'
import { CompletionQueue } from './completion-queue.ts'
import { channel, type EndpointWaker } from './endpoint-waker.ts'
import { prepare } from './message.ts'
import { send } from './send.ts'
import type { Attempted, Claimed, WorkerObserver } from './stages.ts'

/** Maximum number of requests in flight from one worker. */
const slots = 256
/** Maximum number of outcomes not written yet. At this point the database is too slow, and the worker claims no more. */
const maxUnwritten = 512
const maxSecretsKept = 1000
const recoverEveryMs = 5_000
/** A safety net: workers are woken for new deliveries, and know when the next retry is due. */
const maxSleepMs = 5_000
/** Time to send and to write the outcome. With less left of the lease, another worker might send the delivery too. */
const leaseNeededMs = 10_000

/** Claims due deliveries, sends them and writes the outcomes. Any number of workers may share a database. */
export class DeliveryWorker {
  readonly #ctx: Context
  readonly #waker: EndpointWaker
  readonly #observer: WorkerObserver
  readonly #completions: CompletionQueue
  #sending = 0
  /** Endpoints that had no free slot at the last claim. */
  readonly #parked = new Set<string>()
  /** Keyed by the sealed form, which changes with every rotation. Opening one takes as long as signing with it. */
  readonly #secrets = new Map<string, string>()
  /** Number of slots released so far. */
  #released = 0
  #stopping = false
  readonly #sleep = new WakeableSleep()
  #loop: Promise<void> | undefined
  #recovering: NodeJS.Timeout | undefined
  readonly #recovery = new SingleFlight<boolean>()
  #listening: Listening | undefined

  constructor(ctx: Context, waker: EndpointWaker, observer: WorkerObserver = {}) {
    this.#ctx = ctx
    this.#waker = waker
    this.#observer = observer
    this.#completions = new CompletionQueue(ctx, observer, (completed, pending) => this.#release(completed, pending))
  }

  start() {
    this.#waker.setLocalWorker(() => this.wake())
    this.#listening = this.#ctx.db.listen(channel, () => this.wake())
    this.#recovering = setInterval(() => void this.#recoverOnce(), recoverEveryMs)
    this.#loop = this.#begin().then(() => this.#run())
  }

  /** Only one process uses the embedded database, so every claim is left over from one that died. */
  async #begin() {
    const { db, clock } = this.#ctx
    if (db.kind === 'embedded') await this.#succeeds(() => returnExpired(db, clock.now(), { all: true }))
    await this.#recoverOnce()
  }

  /** Claims nothing more, and waits for the deliveries in flight. */
  async stop() {
    this.#stopping = true
    clearInterval(this.#recovering)
    this.#waker.setLocalWorker(undefined)
    this.wake()
    await this.#loop
    await this.#listening?.stop()
    // Bounded by the deadline of requests and the lease of completions.
    while (this.#sending + this.#completions.waiting > 0) await sleep(10)
    await this.#completions.idle()
  }

  wake() {
    this.#sleep.wake()
  }

  /** Recovers the deliveries of processes that died. */
  async recover() {
    const { db, clock } = this.#ctx
    await returnExpired(db, clock.now())
    await wakeOverlooked(db, clock.now())
  }

  /** Skips if the previous run is still in progress. */
  #recoverOnce() {
    return this.#recovery.run('', () => this.#succeeds(() => this.recover()))
  }

  /** Sends everything that is due now. Called by the tests; a running worker uses the loop. */
  async drain() {
    for (;;) {
      this.#sleep.clear()
      await this.#waker.idle()
      if ((await this.#claimAndSend()) > 0) continue
      // A completion during the claim may have made something due.
      if (!this.#sleep.woken && this.#sending + this.#completions.waiting === 0) return
      await this.#sleep.sleep(maxSleepMs)
    }
  }

  async #run() {
    while (!this.#stopping) {
      this.#sleep.clear()
      const worked = await this.#succeeds(async () => {
        if ((await this.#claimAndSend()) === 0) await this.#sleep.sleep(await this.#pauseMs())
      })
      if (!worked) await sleep(1000)
    }
  }

  /** Time until the next retry is due. */
  async #pauseMs() {
    if (this.#free() <= 0) return maxSleepMs
    const dueAt = await nextDueAt(this.#ctx.db)
    const untilDue = dueAt ? dueAt.getTime() - this.#ctx.clock.now().getTime() : maxSleepMs
    // If it is due already, another worker has the endpoint locked now.
    return Math.max(5, Math.min(untilDue, maxSleepMs))
  }

  #free() {
    return this.#completions.waiting < maxUnwritten ? slots - this.#sending : 0
  }

  async #claimAndSend(): Promise<number> {
    const free = this.#free()
    if (free <= 0) return 0
    const releasedBefore = this.#released
    const { claimed, parked } = await claim(this.#ctx.db, this.#ctx.clock.now(), Math.min(batchSize, free))
    for (const id of parked) this.#parked.add(id)
    // A slot released during the claim may belong to one of them.
    if (this.#released > releasedBefore) this.#wakeParked(parked)
    if (claimed.length === 0) return 0
    this.#observer.claimed?.(claimed)
    this.#sending += claimed.length
    for (const one of claimed) void this.#send(one)
    return claimed.length
  }

  #release(completed: Attempted[], pendingEndpoints: Set<string>) {
    this.#released += completed.length
    this.#waker.wake(pendingEndpoints)
    this.#wakeParked(completed.map(({ claimed }) => claimed.endpointId))
    this.wake()
  }

  #wakeParked(endpointIds: string[]) {
    this.#waker.wake(endpointIds.filter((id) => this.#parked.delete(id)))
  }

  async #send(claimed: Claimed) {
    const attempted = await this.#attempt(claimed)
    this.#sending -= 1
    if (attempted) {
      this.#observer.attempted?.(attempted)
      this.#completions.add(attempted)
    }
    // Not for every free slot: large batches are cheaper.
    if (this.#sending === slots - batchSize) this.wake()
  }

  /** Returns undefined if nothing was sent. That is not counted: the delivery is claimed again when the lease ends. */
  async #attempt(claimed: Claimed): Promise<Attempted | undefined> {
    const { clock, log } = this.#ctx
    try {
      const startedAt = clock.now()
      if (claimed.leaseUntil.getTime() - startedAt.getTime() < leaseNeededMs)
        throw new Error('the lease is about to expire')
      const prepared = prepare(claimed, this.#secretOf(claimed), startedAt)
      const sent = await send(this.#ctx, claimed, prepared)
      return { claimed, prepared, ...sent, endedAt: clock.now() }
    } catch (error) {
      log.error({ delivery_id: claimed.id, message: (error as Error).message }, 'could not send a delivery')
      return undefined
    }
  }

  #secretOf({ secret: sealed, endpointId }: Claimed): string {
    const known = this.#secrets.get(sealed)
    if (known) return known
    if (this.#secrets.size >= maxSecretsKept) this.#secrets.clear()
    const secret = this.#ctx.keys.open(sealed, endpointId)
    this.#secrets.set(sealed, secret)
    return secret
  }

  /** Logs an error and returns false; the caller tries again later. */
  async #succeeds(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (!this.#stopping) {
        const { message } = error as Error
        this.#ctx.log.warn(
          { message },
          isDatabaseUnavailable(error) ? 'the database is unavailable' : 'could not process deliveries',
        )
      }
      return false
    }
  }
}
