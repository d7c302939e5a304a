import { randomUUID } from 'node:crypto'
import { repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import type { MessageSender } from '../delivery/stages.ts'
import type { Door } from '../http/invoke.ts'
import { SingleFlight } from '../single-flight.ts'
import { refreshOldCards } from './apps.ts'
import { AgentCalls } from './calls.ts'
import { claimTasks, giveUpTasks, readAgent, renewTasks } from './conversation.ts'
import { A2aSender } from './sender.ts'
import { TaskTracker } from './tracker.ts'

const renewEveryMs = 2_000
/** Every so many renewals, tasks of workers that died are looked for. */
const renewalsPerClaim = 2
const cardsEveryMs = 60 * 60_000
const maxTasks = 1_000

/** Sends to A2A agents and follows their tasks. Any number of workers can share a database. */
export class A2aRunner {
  readonly #ctx: Context
  readonly #owner = randomUUID()
  readonly #tracker: TaskTracker
  readonly #renewals = new SingleFlight<void>()
  #renewing: NodeJS.Timeout | undefined
  #count = 0
  #stopCards = async () => {}
  readonly sender: MessageSender

  constructor(ctx: Context, door: Door) {
    const calls = new AgentCalls(ctx)
    const deps = { ctx, door, calls, owner: this.#owner }
    this.#ctx = ctx
    this.#tracker = new TaskTracker(deps)
    this.sender = new A2aSender({ ...deps, tracker: this.#tracker })
  }

  start() {
    const { clock, log, db } = this.#ctx
    const begin = db.kind === 'embedded' ? giveUpTasks(db, null) : Promise.resolve()
    this.#renewing = setInterval(() => void this.#renewOnce(), renewEveryMs)
    void Promise.resolve(begin).then(
      () => this.#renewOnce(),
      ({ message }) => log.warn({ message }, 'could not take over A2A tasks'),
    )
    this.#stopCards = repeat(
      clock,
      cardsEveryMs,
      () => refreshOldCards(this.#ctx),
      ({ message }) => log.warn({ message }, 'could not read A2A cards again'),
    )
  }

  /** Other workers follow its tasks from now on. */
  async stop() {
    clearInterval(this.#renewing)
    await this.#stopCards()
    await this.#tracker.stop()
    await giveUpTasks(this.#ctx.db, this.#owner).catch(() => {})
  }

  /** Stops as a killed process would: nothing is written. */
  async kill() {
    clearInterval(this.#renewing)
    await this.#tracker.stop()
  }

  /** Renews the leases, asks agents to cancel the tasks of sessions that are over, and takes tasks that none follows. */
  async renew({ claim = true } = {}) {
    const { db, clock } = this.#ctx
    if (this.#tracker.size > 0) {
      const held = await renewTasks(db, clock.now(), this.#owner)
      this.#tracker.keepOnly(new Set(held.map(({ id }) => id)))
      for (const task of held) if (task.isOver) await this.#tracker.abandon(task, await readAgent(db, task.appId))
    }
    const room = maxTasks - this.#tracker.size
    if (!claim || room <= 0) return
    for (const task of await claimTasks(db, clock.now(), this.#owner, room)) {
      const agent = await readAgent(db, task.appId)
      if (!this.#tracker.isFollowing(task.id)) this.#tracker.follow(task, agent)
    }
  }

  /** Skips if the previous renewal is still in progress. */
  #renewOnce() {
    const claim = this.#count++ % renewalsPerClaim === 0
    return this.#renewals.run('', () =>
      this.renew({ claim }).catch(({ message }) => this.#ctx.log.warn({ message }, 'could not renew A2A tasks')),
    )
  }
}
