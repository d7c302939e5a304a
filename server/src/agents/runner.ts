import { randomUUID } from 'node:crypto'
import { workBell } from '../agent-sessions/hand-over.ts'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import { Nap } from '../nap.ts'
import type { Wakeups } from '../relay/wakeups.ts'
import { mindOf } from './choose-mind.ts'
import { type Claimed, claim, finish, putBack, putBackAll, renew } from './claim.ts'
import { PlaceLost, SessionHands } from './hands.ts'
import type { Mind } from './mind.ts'
import { readWork, type WorkNow } from './work.ts'

/** At once, in one process. With a model they mostly wait for it. */
const slots = { rules: 4, model: 16 }
const renewEveryMs = 500
/** The safety net; whoever hands work over rings. */
const longestSleepMs = 5000
const mostAttempts = 3
const retryMs = 5000

type Ended = 'stopped' | 'lost' | 'shutdown'

interface Running {
  claimed: Claimed
  abort: AbortController
  done: Promise<void>
}

/** Does the work of agents inside the service. Any number of processes share it. */
export class AgentRunner {
  readonly #ctx: Context
  readonly #door: Door
  readonly #wakeups: Wakeups
  readonly #mind: Mind
  readonly #running = new Map<string, Running>()
  #stopping = false
  #loop: Promise<void> | undefined
  #renewing: NodeJS.Timeout | undefined
  #renewed: Promise<unknown> | undefined
  #off = () => {}
  readonly #nap = new Nap()

  constructor(ctx: Context, door: Door, wakeups: Wakeups, mind: Mind = mindOf(ctx)) {
    this.#ctx = ctx
    this.#door = door
    this.#wakeups = wakeups
    this.#mind = mind
  }

  start() {
    this.#off = this.#wakeups.on(workBell, () => this.#nap.wake())
    this.#renewing = setInterval(() => void this.#renewOnce(), renewEveryMs)
    this.#loop = this.#run()
  }

  /** Begins nothing new, and leaves what is under way to others, who go on where it stands. */
  async stop() {
    this.#stopping = true
    this.#off()
    this.#nap.wake()
    await this.#loop
    for (const { abort } of this.#running.values()) abort.abort('shutdown' satisfies Ended)
    await this.#idle()
    clearInterval(this.#renewing)
  }

  /** All that waits now. What the loop does by itself; a test asks for it. */
  async drain() {
    while ((await this.#begin()) > 0) await this.#idle()
  }

  /** Keeps what is under way, and ends what is to be ended. */
  async renew() {
    if (this.#running.size === 0) return
    const running = [...this.#running.values()]
    const held = await renew(
      this.#ctx.db,
      this.#ctx.clock.now(),
      running.map(({ claimed }) => claimed),
    )
    for (const { claimed, abort } of running) {
      const ours = held.find(({ id }) => id === claimed.id)
      if (!ours?.goesOn) abort.abort((ours ? 'stopped' : 'lost') satisfies Ended)
    }
  }

  /** Not while the last time still waits for the database. */
  async #renewOnce() {
    this.#renewed ??= this.#guarded(() => this.renew())
    await this.#renewed
    this.#renewed = undefined
  }

  async #run() {
    if (this.#ctx.db.kind === 'embedded') await this.#guarded(() => putBackAll(this.#ctx.db))
    while (!this.#stopping) {
      this.#nap.look()
      const begun = await this.#guarded(() => this.#begin())
      if (!begun) await this.#nap.sleep(longestSleepMs)
    }
  }

  async #begin(): Promise<number> {
    const free = slots[this.#ctx.config.model ? 'model' : 'rules'] - this.#running.size
    if (free <= 0) return 0
    const claimed = await claim(this.#ctx.db, this.#ctx.clock.now(), randomUUID(), free)
    for (const one of claimed) this.#take(one)
    return claimed.length
  }

  #take(claimed: Claimed) {
    const abort = new AbortController()
    const done = this.#guarded(() => this.#do(claimed, abort.signal)).then(() => {
      this.#running.delete(claimed.claimId + claimed.id)
      this.#nap.wake()
    })
    this.#running.set(claimed.claimId + claimed.id, { claimed, abort, done })
  }

  async #do(claimed: Claimed, signal: AbortSignal): Promise<void> {
    const { db, clock } = this.#ctx
    try {
      const work = await readWork(this.#ctx, claimed)
      if (work) await this.#attempt(work, claimed, signal)
      await finish(db, claimed)
    } catch (error) {
      const ended: Ended | undefined = signal.aborted ? signal.reason : undefined
      if (ended === 'lost') return
      if (ended === 'shutdown') return void (await putBack(db, claimed, clock.now()))
      if (ended === 'stopped') return this.#do(claimed, new AbortController().signal)
      if (isOver(error)) return void (await finish(db, claimed))
      this.#ctx.log.error({ work_id: claimed.id, message: (error as Error).message }, 'an agent could not go on')
      await putBack(db, claimed, plus(clock.now(), retryMs * claimed.attempt))
    }
  }

  async #attempt(work: WorkNow, claimed: Claimed, signal: AbortSignal) {
    const hands = new SessionHands(this.#ctx, this.#door, { work, claimed }, signal)
    if (work.stopping) return hands.respond(work.stopping)
    if (work.attempt > mostAttempts) {
      return hands.fail(
        'Something went wrong on our side, more than once, so I stopped. Write to me to try again.',
        'internal_error',
      )
    }
    await this.#mind.work(work, hands)
  }

  async #idle() {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  /** Undefined when it could not be done, which is logged; leases run out and it is tried again. */
  async #guarded<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!this.#stopping) this.#ctx.log.warn({ message: (error as Error).message }, 'agents are held up')
      return undefined
    }
  }
}

/** The session has ended, or its agent or place is gone: nothing is left to be said. */
const isOver = (error: unknown) =>
  error instanceof PlaceLost ||
  (error instanceof ApiError && (error.code === 'SESSION_ENDED' || error.code === 'RESOURCE_NOT_FOUND'))
