import { randomUUID } from 'node:crypto'
import { type Claimed, claim, finish, release, releaseAll, renew, workWakeup } from '../agent-sessions/work-queue.ts'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import type { Wakeups } from '../relay/wakeups.ts'
import { SingleFlight } from '../single-flight.ts'
import { WakeableSleep } from '../wakeable-sleep.ts'
import { AccessLost, AgentSessionApi } from './agent-session-api.ts'
import type { AgentStrategy } from './agent-strategy.ts'
import { chooseStrategy } from './choose-strategy.ts'
import { type CurrentWork, readWork } from './work.ts'

/** Concurrent pieces of work in one process; more with a model, because most of them wait for its answers. */
const slots = { rules: 4, model: 16 }
const renewEveryMs = 500
/** A safety net: new work wakes the runner. */
const longestSleepMs = 5000
const mostAttempts = 3
const retryMs = 5000

type Ended = 'stopped' | 'lost' | 'shutdown'

interface Running {
  claimed: Claimed
  abort: AbortController
  done: Promise<void>
}

/** Does the work of agents inside the service. Any number of processes can share it. */
export class AgentRunner {
  readonly #ctx: Context
  readonly #door: Door
  readonly #wakeups: Wakeups
  readonly #strategy: AgentStrategy
  readonly #running = new Map<string, Running>()
  #stopping = false
  #loop: Promise<void> | undefined
  #renewing: NodeJS.Timeout | undefined
  readonly #renewal = new SingleFlight<unknown>()
  #off = () => {}
  readonly #sleep = new WakeableSleep()

  constructor(ctx: Context, door: Door, wakeups: Wakeups, strategy: AgentStrategy = chooseStrategy(ctx)) {
    this.#ctx = ctx
    this.#door = door
    this.#wakeups = wakeups
    this.#strategy = strategy
  }

  start() {
    this.#off = this.#wakeups.on(workWakeup, () => this.#sleep.wake())
    this.#renewing = setInterval(() => void this.#renewOnce(), renewEveryMs)
    this.#loop = this.#run()
  }

  /** Starts no new work and releases the work in progress, which another process continues. */
  async stop() {
    this.#stopping = true
    this.#off()
    this.#sleep.wake()
    await this.#loop
    for (const { abort } of this.#running.values()) abort.abort('shutdown' satisfies Ended)
    await this.#idle()
    clearInterval(this.#renewing)
  }

  /** Does all waiting work. Called by the tests; a running service uses the loop. */
  async drain() {
    while ((await this.#begin()) > 0) await this.#idle()
  }

  /** Renews the leases, and aborts work whose session is stopping or whose claim was lost. */
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
      if (!ours?.shouldContinue) abort.abort((ours ? 'stopped' : 'lost') satisfies Ended)
    }
  }

  /** Skips if the previous renewal is still in progress. */
  #renewOnce() {
    return this.#renewal.run('', () => this.#guarded(() => this.renew()))
  }

  async #run() {
    if (this.#ctx.db.kind === 'embedded') await this.#guarded(() => releaseAll(this.#ctx.db))
    while (!this.#stopping) {
      this.#sleep.clear()
      const begun = await this.#guarded(() => this.#begin())
      if (!begun) await this.#sleep.sleep(longestSleepMs)
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
      this.#sleep.wake()
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
      if (ended === 'shutdown') return void (await release(db, claimed, clock.now()))
      if (ended === 'stopped') return this.#do(claimed, new AbortController().signal)
      if (isOver(error)) return void (await finish(db, claimed))
      this.#ctx.log.error(
        { work_id: claimed.id, message: (error as Error).message },
        'an agent failed; its work will be retried',
      )
      await release(db, claimed, plus(clock.now(), retryMs * claimed.attempt))
    }
  }

  async #attempt(work: CurrentWork, claimed: Claimed, signal: AbortSignal) {
    const session = new AgentSessionApi(this.#ctx, this.#door, { work, claimed }, signal)
    if (work.stopping) return session.respond(work.stopping)
    if (work.attempt > mostAttempts) {
      return session.fail('I stopped after repeated internal errors. Write to me to try again.', 'internal_error')
    }
    await this.#strategy.work(work, session)
  }

  async #idle() {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  /** Logs a failure and returns undefined; the work is retried when its lease expires. */
  async #guarded<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!this.#stopping) this.#ctx.log.warn({ message: (error as Error).message }, 'agent work is delayed')
      return undefined
    }
  }
}

/** The session has ended, the agent lost access, or the workspace is about to be deleted: nothing can be posted any more. */
const isOver = (error: unknown) =>
  error instanceof AccessLost ||
  (error instanceof ApiError &&
    ['SESSION_ENDED', 'RESOURCE_NOT_FOUND', 'WORKSPACE_PENDING_DELETION'].includes(error.code))
