import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { isDatabaseUnavailable, type Listening } from '../db/database.ts'
import { SingleFlight } from '../single-flight.ts'
import { WakeableSleep } from '../wakeable-sleep.ts'
import {
  askForShare,
  batchSize,
  claim,
  nextDueAt,
  returnExpired,
  wakeOverlooked,
  wantedAfterMs,
  wokenPerClaim,
} from './claim.ts'
import { CompletionQueue } from './completion-queue.ts'
import { channel, type EndpointWaker } from './endpoint-waker.ts'
import { secretsAt } from './endpoints.ts'
import { InFlight } from './in-flight.ts'
import { prepare, traceOf } from './message.ts'
import { DeadOwners, giveUpEndpoints, ownerName, renameOwner } from './ownership.ts'
import { reportAttempt } from './report-attempt.ts'
import { send } from './send.ts'
import type { Attempted, Claimed, MessageSender, WorkerObserver } from './stages.ts'

/** Maximum number of requests in flight from one worker. */
const slots = 256
/** Maximum number of outcomes not written yet. At this point the database is too slow, and the worker claims no more. */
const maxUnwritten = 512
/** Messages to A2A agents take up to minutes, so they have slots of their own. */
const messageSlots = 128
const maxSecretsKept = 1000
const recoverEveryMs = 5_000
const lookForDeadEveryMs = 1_000
/** After an error. Short if the lock was lost: others take the endpoints of an owner whose lock is free. */
const [retryMs, renameRetryMs] = [1_000, 250]
/** A safety net: workers are woken for new deliveries, and know when the next retry is due. */
const maxSleepMs = 5_000
/** Time to send and to write the outcome. With less left of the lease, the endpoint's next owner might send it too. */
const leaseNeededMs = 8_000

/** Claims due deliveries, sends them and writes the outcomes. Any number of workers may share a database. */
export class DeliveryWorker {
  readonly #id = randomUUID()
  /** The name under which it owns endpoints in the database. */
  #owner: string = this.#id
  /** The advisory lock of its listening connection, if it is connected. */
  #lock: number | null = null
  readonly #ctx: Context
  readonly #waker: EndpointWaker
  readonly #observer: WorkerObserver
  readonly #completions: CompletionQueue
  #sending = 0
  /** Messages in flight, by endpoint. */
  readonly #messages = new Map<string, number>()
  readonly #messageSender: MessageSender | undefined
  readonly #inFlight = new InFlight()
  /** Endpoints to look at in the next claim, in this order. */
  readonly #woken = new Set<string>()
  /** Endpoints that had no free slot at the last claim. */
  readonly #full = new Set<string>()
  /** Keyed by the sealed form, which changes with every rotation. Opening one takes as long as signing with it. */
  readonly #secrets = new Map<string, string>()
  #stopping = false
  readonly #sleep = new WakeableSleep()
  #loop: Promise<void> | undefined
  #recovering: NodeJS.Timeout | undefined
  readonly #recovery = new SingleFlight<boolean>()
  #lookingForDead: NodeJS.Timeout | undefined
  readonly #deadOwners: DeadOwners
  #listening: Listening | undefined

  constructor(ctx: Context, waker: EndpointWaker, observer: WorkerObserver = {}, messageSender?: MessageSender) {
    this.#messageSender = messageSender
    this.#ctx = ctx
    this.#waker = waker
    this.#observer = observer
    this.#deadOwners = new DeadOwners(ctx.db)
    this.#completions = new CompletionQueue(ctx, observer, (completed, pending) => this.#release(completed, pending))
  }

  start() {
    this.#waker.setLocalWorker((endpointIds) => this.#wakeEndpoints(endpointIds))
    const onLock = (lock: number | null) => {
      this.#lock = lock
      this.wake()
    }
    this.#listening = this.#ctx.db.listen(channel, () => this.wake(), onLock)
    this.#recovering = setInterval(() => void this.#recoverOnce(), recoverEveryMs)
    this.#lookingForDead = setInterval(
      () => void this.#recovery.run('dead', () => this.#succeeds(() => this.takeFromDead())),
      lookForDeadEveryMs,
    )
    this.#loop = this.#begin().then(() => this.#run())
  }

  /** Only one process uses the embedded database, so every owner is a worker that died. */
  async #begin() {
    const { db, clock } = this.#ctx
    if (db.kind === 'embedded') {
      await this.#succeeds(() => giveUpEndpoints(db, clock.now()))
      await this.#succeeds(() => returnExpired(db, clock.now(), { all: true }))
    }
    await this.#recoverOnce()
  }

  /** Claims nothing more, and waits for the deliveries in flight. */
  async stop() {
    this.#stopping = true
    clearInterval(this.#recovering)
    clearInterval(this.#lookingForDead)
    this.#waker.setLocalWorker(undefined)
    this.wake()
    await this.#loop
    // Bounded by the deadline of requests and the lease of completions.
    while (this.#underway > 0) {
      await this.#succeeds(() => this.#updateOwner())
      await sleep(10)
    }
    await this.#completions.idle()
    const { db, clock } = this.#ctx
    await this.#succeeds(async () => {
      if ((await giveUpEndpoints(db, clock.now(), [this.#owner])) > 0) await db.notify(channel)
    })
    // Only now: with its lock free, others would take the endpoints while deliveries are in flight.
    await this.#listening?.stop()
    if (this.#woken.size > 0) this.#waker.wakeOthers(this.#woken)
  }

  wake() {
    this.#sleep.wake()
  }

  #wakeEndpoints(endpointIds: Iterable<string>) {
    const ids = [...endpointIds]
    if (ids.length === 0) return
    for (const id of ids) this.#woken.add(id)
    // Another worker may have free slots; the embedded database has no other.
    if (this.#free() <= 0 && this.#ctx.db.kind === 'postgres')
      this.#waker.wakeOthers(ids.filter((id) => !this.#inFlight.has(id)))
    this.wake()
  }

  /** Recovers the deliveries of processes that died. */
  async recover() {
    const { db, clock } = this.#ctx
    await returnExpired(db, clock.now())
    await wakeOverlooked(db, clock.now())
  }

  /** Takes endpoints from workers that died. Called every second. */
  async takeFromDead() {
    const { db, clock, log } = this.#ctx
    if (db.kind === 'embedded') return
    const dead = await this.#deadOwners.look(clock.now())
    const taken = dead.length > 0 ? await giveUpEndpoints(db, clock.now(), dead) : 0
    if (taken === 0) return
    log.warn({ owners: dead, endpoints: taken }, 'took endpoints from workers that died')
    this.wake()
    await db.notify(channel)
  }

  /** Skips if the previous run is still in progress. */
  #recoverOnce() {
    // Claims them, which renews the leases.
    this.#wakeEndpoints(this.#messages.keys())
    return this.#recovery.run('', () => this.#succeeds(() => this.recover()))
  }

  /** Sends everything that is due now. Called by the tests; a running worker uses the loop. */
  async drain() {
    for (;;) {
      this.#sleep.clear()
      await this.#waker.idle()
      if ((await this.#claimAndSend()) > 0) continue
      // A completion during the claim may have made something due.
      if (!this.#sleep.woken && this.#underway === 0) return
      await this.#sleep.sleep(maxSleepMs)
    }
  }

  async #run() {
    while (!this.#stopping) {
      this.#sleep.clear()
      const worked = await this.#succeeds(async () => {
        if ((await this.#claimAndSend()) === 0) await this.#sleep.sleep(await this.#pauseMs())
      })
      if (!worked) await sleep(this.#isOwnerCurrent() ? retryMs : renameRetryMs)
    }
  }

  /** Time until the next retry is due. Asks for work that waits for another worker. */
  async #pauseMs() {
    if (this.#free() <= 0) return maxSleepMs
    const { db, clock } = this.#ctx
    const asked = db.kind === 'postgres' && (await askForShare(db, this.#owner, clock.now())) > 0
    const dueAt = await nextDueAt(db, clock.now(), this.#owner)
    const untilDue = dueAt ? dueAt.getTime() - clock.now().getTime() : maxSleepMs
    // If it is due already, another worker has the endpoint locked now.
    return Math.max(5, Math.min(untilDue, asked ? wantedAfterMs : maxSleepMs))
  }

  get #underway() {
    return this.#sending + this.#messages.size + this.#completions.waiting
  }

  #free() {
    return this.#completions.waiting < maxUnwritten ? slots - this.#sending : 0
  }

  /** Called after the listening connection was lost, or is back: others rely on the lock in the owner's name. */
  async #updateOwner() {
    if (this.#isOwnerCurrent()) return
    const owner = ownerName(this.#id, this.#lock)
    await renameOwner(this.#ctx.db, this.#id, owner)
    this.#owner = owner
  }

  #isOwnerCurrent() {
    return this.#owner === ownerName(this.#id, this.#lock)
  }

  async #claimAndSend(): Promise<number> {
    await this.#updateOwner()
    const free = this.#free()
    if (free <= 0) return 0
    const now = this.#ctx.clock.now()
    for (const id of this.#inFlight.expire(now)) this.#woken.add(id)
    const woken = [...this.#woken].slice(0, Math.min(wokenPerClaim, free))
    for (const id of woken) this.#woken.delete(id)
    const { claimed, seen, full } = await claim(this.#ctx.db, now, Math.min(batchSize, free), {
      owner: this.#owner,
      woken,
      inFlight: this.#inFlight.all(),
    }).catch((error) => {
      for (const id of woken) this.#woken.add(id)
      throw error
    })
    this.#inFlight.add(claimed)
    for (const id of full) {
      this.#full.add(id)
      // The slots were released during the claim.
      if (!this.#inFlight.has(id)) this.#woken.add(id)
    }
    // Another worker owns them, or has them locked.
    this.#waker.wakeOthers(woken.filter((id) => !seen.includes(id)))
    if (claimed.length === 0) return this.#woken.size > 0 ? 1 : 0
    this.#observer.claimed?.(claimed)
    for (const one of claimed) void (one.protocol === 'a2a' ? this.#sendMessage(one) : this.#send(one))
    return claimed.length
  }

  /** An endpoint is claimed once more after its last outcome, to give it up. */
  #release(completed: Attempted[], pendingEndpoints: Set<string>) {
    for (const { claimed } of completed) this.#inFlight.delete(claimed.id)
    for (const { claimed } of completed) {
      const { endpointId } = claimed
      if (this.#full.delete(endpointId) || pendingEndpoints.has(endpointId) || !this.#inFlight.has(endpointId))
        this.#woken.add(endpointId)
    }
    this.wake()
  }

  async #send(claimed: Claimed) {
    this.#sending += 1
    const attempted = await this.#attempt(claimed)
    this.#sending -= 1
    if (attempted) this.#complete(attempted)
    else this.#inFlight.keepUntil(claimed.id, claimed.leaseUntil)
    // Not for every free slot: large batches are cheaper.
    if (this.#sending === slots - batchSize) this.wake()
  }

  /** The lease is renewed while the agent takes its time. */
  async #sendMessage(claimed: Claimed) {
    const { id, endpointId, leaseUntil } = claimed
    const count = (by: number) => {
      const left = (this.#messages.get(endpointId) ?? 0) + by
      if (left > 0) this.#messages.set(endpointId, left)
      else this.#messages.delete(endpointId)
    }
    const isFull = [...this.#messages.values()].reduce((sum, one) => sum + one, 0) >= messageSlots
    count(1)
    const attempted = isFull ? 'later' : await this.#attemptMessage(claimed)
    count(-1)
    if (attempted === 'later') this.#inFlight.keepUntil(id, leaseUntil)
    else if (attempted === 'held') {
      this.#inFlight.delete(id)
      this.#woken.add(endpointId)
    } else this.#complete(attempted)
    this.wake()
  }

  #complete(attempted: Attempted) {
    reportAttempt(this.#ctx.log, attempted)
    this.#observer.attempted?.(attempted)
    this.#completions.add(attempted)
  }

  async #attemptMessage(claimed: Claimed): Promise<Attempted | 'held' | 'later'> {
    const { clock, log } = this.#ctx
    try {
      const sent = (await this.#messageSender?.send(claimed, clock.now())) ?? 'later'
      if (sent === 'held' || sent === 'later') return sent
      const { startedAt, outcome, isFinal } = sent
      const trace = traceOf(claimed.cause, claimed.id, claimed.attempts + 1)
      const prepared = { startedAt, signature: '', standardSignature: null, trace }
      return { claimed, prepared, outcome, relayed: false, isFinal, endedAt: clock.now() }
    } catch (error) {
      log.error({ delivery_id: claimed.id, message: (error as Error).message }, 'could not send a message')
      return 'later'
    }
  }

  /** Returns undefined if nothing was sent. That is not counted: the delivery is taken again when the lease ends. */
  async #attempt(claimed: Claimed): Promise<Attempted | undefined> {
    const { clock, log } = this.#ctx
    try {
      const startedAt = clock.now()
      if (claimed.leaseUntil.getTime() - startedAt.getTime() < leaseNeededMs)
        throw new Error('the lease is about to expire')
      const { secret, nextSecret } = secretsAt(startedAt, claimed)
      const open = (sealed: string) => this.#open(sealed, claimed.endpointId)
      const prepared = prepare(claimed, open(secret), startedAt, nextSecret && open(nextSecret))
      const sent = await send(this.#ctx, claimed, prepared)
      return { claimed, prepared, ...sent, endedAt: clock.now() }
    } catch (error) {
      log.error({ delivery_id: claimed.id, message: (error as Error).message }, 'could not send a delivery')
      return undefined
    }
  }

  #open(sealed: string, endpointId: string): string {
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
