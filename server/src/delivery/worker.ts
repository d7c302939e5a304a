import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { isDatabaseAway, type Listening } from '../db/database.ts'
import { WakeableSleep } from '../wakeable-sleep.ts'
import { batchSize, claim, findForgotten, nextDueAt, returnExpired } from './claim.ts'
import { CompletionQueue } from './completion-queue.ts'
import { channel, type Doorbell } from './doorbell.ts'
import { prepare } from './message.ts'
import { send } from './send.ts'
import type { Attempted, Claimed } from './stages.ts'

/** Requests under way from one worker. */
const slots = 256
/** Attempts whose outcome waits to be written down. With more of them the database is the bottleneck: claim no more. */
const mostUnwritten = 512
const secretsKept = 1000
const tendEveryMs = 5_000
/** The safety net; everything that becomes due is rung for, or known beforehand. */
const longestSleepMs = 5_000
/** Time to send and to write it down. With less left of its lease, another worker might send it too. */
const leaseNeededMs = 10_000

/** Who watches a worker: the metrics, and tests that end it at the worst moment. */
export interface Watcher {
  claimed?(deliveries: Claimed[]): void
  attempted?(attempted: Attempted): void
  completing?(attempted: Attempted[]): void
  completed?(attempted: Attempted[]): void
}

/** Claims due deliveries, sends them and writes down what came of it. Any number of workers share a database. */
export class DeliveryWorker {
  readonly #ctx: Context
  readonly #doorbell: Doorbell
  readonly #watcher: Watcher
  readonly #completions: CompletionQueue
  #sending = 0
  /** Endpoints that had no slot free when we last looked. */
  readonly #parked = new Set<string>()
  /** By their sealed form, which is new with every rotation. Opening one takes as long as signing with it. */
  readonly #secrets = new Map<string, string>()
  #released = 0
  #stopping = false
  readonly #sleep = new WakeableSleep()
  #loop: Promise<void> | undefined
  #tending: NodeJS.Timeout | undefined
  #tended: Promise<boolean> | undefined
  #listening: Listening | undefined

  constructor(ctx: Context, doorbell: Doorbell, watcher: Watcher = {}) {
    this.#ctx = ctx
    this.#doorbell = doorbell
    this.#watcher = watcher
    this.#completions = new CompletionQueue(ctx, watcher, (completed, waiting) => this.#release(completed, waiting))
  }

  start() {
    this.#doorbell.answeredBy(() => this.wake())
    this.#listening = this.#ctx.db.listen(channel, () => this.wake())
    this.#tending = setInterval(() => void this.#tendOnce(), tendEveryMs)
    this.#loop = this.#begin().then(() => this.#run())
  }

  /** The embedded database has one process at a time, so what is claimed was claimed by one that died. */
  async #begin() {
    const { db, clock } = this.#ctx
    if (db.kind === 'embedded') await this.#worked(() => returnExpired(db, clock.now(), { all: true }))
    await this.#tendOnce()
  }

  /** Sends nothing new, and waits for what is under way. */
  async stop() {
    this.#stopping = true
    clearInterval(this.#tending)
    this.#doorbell.answeredBy(undefined)
    this.wake()
    await this.#loop
    await this.#listening?.stop()
    // Requests have their deadline, completions their lease.
    while (this.#sending + this.#completions.waiting > 0) await sleep(10)
    await this.#completions.idle()
  }

  wake() {
    this.#sleep.wake()
  }

  /** Puts right what a process that died left behind. */
  async tend() {
    const { db, clock } = this.#ctx
    await returnExpired(db, clock.now())
    await findForgotten(db, clock.now())
  }

  /** Not while the last time still waits for the database. */
  async #tendOnce() {
    this.#tended ??= this.#worked(() => this.tend())
    await this.#tended
    this.#tended = undefined
  }

  /** Sends all that is due now. What the loop does by itself; a test asks for it. */
  async drain() {
    for (;;) {
      this.#sleep.clear()
      await this.#doorbell.quiet()
      if ((await this.#claimAndSend()) > 0) continue
      // What was completed while we looked may have left something due.
      if (!this.#sleep.woken && this.#sending + this.#completions.waiting === 0) return
      await this.#sleep.sleep(longestSleepMs)
    }
  }

  async #run() {
    while (!this.#stopping) {
      this.#sleep.clear()
      const worked = await this.#worked(async () => {
        if ((await this.#claimAndSend()) === 0) await this.#sleep.sleep(await this.#pauseMs())
      })
      if (!worked) await sleep(1000)
    }
  }

  /** How long until something becomes due that nobody will ring for. */
  async #pauseMs() {
    if (this.#free() <= 0) return longestSleepMs
    const dueAt = await nextDueAt(this.#ctx.db)
    const untilDue = dueAt ? dueAt.getTime() - this.#ctx.clock.now().getTime() : longestSleepMs
    // Due already: another worker has the endpoint locked at this very moment.
    return Math.max(5, Math.min(untilDue, longestSleepMs))
  }

  #free() {
    return this.#completions.waiting < mostUnwritten ? slots - this.#sending : 0
  }

  async #claimAndSend(): Promise<number> {
    const free = this.#free()
    if (free <= 0) return 0
    const releasedBefore = this.#released
    const { claimed, parked } = await claim(this.#ctx.db, this.#ctx.clock.now(), Math.min(batchSize, free))
    for (const id of parked) this.#parked.add(id)
    // A slot that was given back while we looked may be one of theirs.
    if (this.#released > releasedBefore) this.#ringForParked(parked)
    if (claimed.length === 0) return 0
    this.#watcher.claimed?.(claimed)
    this.#sending += claimed.length
    for (const one of claimed) void this.#send(one)
    return claimed.length
  }

  #release(completed: Attempted[], waiting: Set<string>) {
    this.#released += completed.length
    this.#doorbell.ring(waiting)
    this.#ringForParked(completed.map(({ claimed }) => claimed.endpointId))
    this.wake()
  }

  #ringForParked(endpointIds: string[]) {
    this.#doorbell.ring(endpointIds.filter((id) => this.#parked.delete(id)))
  }

  async #send(claimed: Claimed) {
    const attempted = await this.#attempt(claimed)
    this.#sending -= 1
    if (attempted) {
      this.#watcher.attempted?.(attempted)
      this.#completions.add(attempted)
    }
    // Not sooner: batches are cheaper than single ones.
    if (this.#sending === slots - batchSize) this.wake()
  }

  /** Undefined when nothing was sent, so nothing is counted: the lease ends and it is claimed again. */
  async #attempt(claimed: Claimed): Promise<Attempted | undefined> {
    const { clock, log } = this.#ctx
    try {
      const startedAt = clock.now()
      if (claimed.leaseUntil.getTime() - startedAt.getTime() < leaseNeededMs)
        throw new Error('the lease is nearly over')
      const prepared = prepare(claimed, this.#secretOf(claimed), startedAt)
      const sent = await send(this.#ctx, claimed, prepared)
      return { claimed, prepared, ...sent, endedAt: clock.now() }
    } catch (error) {
      log.error({ delivery_id: claimed.id, message: (error as Error).message }, 'a delivery could not be sent')
      return undefined
    }
  }

  #secretOf({ secret: sealed, endpointId }: Claimed): string {
    const known = this.#secrets.get(sealed)
    if (known) return known
    if (this.#secrets.size >= secretsKept) this.#secrets.clear()
    const secret = this.#ctx.keys.open(sealed, endpointId)
    this.#secrets.set(sealed, secret)
    return secret
  }

  /** False when it could not be done, which is logged and will be tried again. */
  async #worked(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (!this.#stopping) {
        const { message } = error as Error
        this.#ctx.log.warn({ message }, isDatabaseAway(error) ? 'the database is away' : 'deliveries are held up')
      }
      return false
    }
  }
}
