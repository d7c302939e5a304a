import { randomUUID } from 'node:crypto'
import type { Listening } from '../src/db/database.ts'
import { claim } from '../src/delivery/claim.ts'
import { complete } from '../src/delivery/complete.ts'
import { prepare } from '../src/delivery/message.ts'
import { ownerName } from '../src/delivery/ownership.ts'
import type { Attempted, Claimed } from '../src/delivery/stages.ts'
import type { TestApp } from './harness.ts'

/** A worker of another process that claims and completes without sending, and may die at any time. */
export class OtherWorker {
  /** Its name as an owner. */
  owner: string = randomUUID()
  readonly #app: TestApp
  #listening: Listening | undefined
  #inFlight: Claimed[] = []

  constructor(app: TestApp) {
    this.#app = app
  }

  /** Holds an advisory lock from now on, as a worker that was started. Needs PostgreSQL. */
  async connect() {
    const lock = await new Promise<number | null>((resolve) => {
      this.#listening = this.#app.ctx.db.listen('baton_test', () => {}, resolve)
    })
    this.owner = ownerName(this.owner, lock)
  }

  async disconnect() {
    await this.#listening?.stop()
  }

  async claim({ limit = 64, woken = [] as string[] } = {}) {
    const { ctx, clock } = this.#app
    const batch = await claim(ctx.db, clock.now(), limit, { owner: this.owner, woken, inFlight: this.#inFlight })
    this.#inFlight.push(...batch.claimed)
    return batch
  }

  async complete(claimed: Claimed[], outcome: Attempted['outcome'] = succeeded, retryDelaysMs: number[] = []) {
    const { ctx, clock } = this.#app
    const attempted = claimed.map((one) => ({
      claimed: one,
      prepared: prepare(one, ctx.keys.open(one.secret, one.endpointId), clock.now()),
      outcome,
      relayed: false,
      endedAt: clock.now(),
    }))
    this.#inFlight = this.#inFlight.filter(({ id }) => !claimed.some((one) => one.id === id))
    return complete(ctx.db, attempted, retryDelaysMs, clock.now())
  }
}

const succeeded: Attempted['outcome'] = { ok: true, status: 200, durationMs: 1, body: Buffer.from(''), whole: true }
export const timedOut: Attempted['outcome'] = {
  ok: false,
  reason: 'timeout',
  status: null,
  durationMs: 5000,
  body: Buffer.from(''),
  whole: false,
}
