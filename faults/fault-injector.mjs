// Plans the faults of the storm and injects them.
import { setTimeout as sleep } from 'node:timers/promises'

export const points = ['after claim', 'after send', 'mid-batch', 'before completion', 'after completion']
/** Then more issues are created, so that the worker reaches the point. */
const patienceMs = 2000

/** A fifth of the kills are of the API. Of the workers' kills half are at random times, half at chosen points. */
export function planOf(kills, random) {
  const api = Math.round(kills / 5)
  const atPoints = Math.floor((kills - api) / 2)
  const times = (count, fault) => Array.from({ length: count }, (_, index) => fault(index))
  return random.shuffled([
    ...times(api, () => ({ kind: 'api' })),
    ...times(kills - api - atPoints, () => ({ kind: 'worker' })),
    ...times(atPoints, (index) => ({ kind: 'point', point: points[index % points.length] })),
    ...times(Math.max(3, Math.round(kills / 25)), () => ({ kind: 'restart' })),
    ...times(Math.max(5, Math.round(kills / 12)), () => ({ kind: 'cut' })),
  ])
}

export class FaultInjector {
  /** Number of faults injected, by kind. */
  done = new Map()
  kills = 0
  #scene
  #random

  constructor(scene, random) {
    this.#scene = scene
    this.#random = random
  }

  /** For each fault creates `issues` issues, and injects it while they and their deliveries are in flight. */
  async run(plan, issues) {
    for (const fault of plan) {
      this.#scene.tracker.request(issues)
      await sleep(this.#random.between(0, 700))
      await this.#inject(fault, issues)
      await sleep(this.#random.between(300, 1200))
    }
  }

  async #inject({ kind, point }, issues) {
    const { database, apis, workers } = this.#scene
    if (kind === 'restart') await this.#counted('database restarted', () => database.restart())
    else if (kind === 'cut') await this.#counted('all connections cut', () => database.cutConnections())
    else if (kind === 'api') await this.#counted('api killed', () => this.#killApi(this.#random.oneOf(apis), issues))
    else if (kind === 'worker') await this.#counted('worker killed at random', () => this.#killWorker(workers))
    else await this.#counted(`worker killed ${point}`, () => this.#killAt(point, issues))
    if (kind !== 'restart' && kind !== 'cut') this.kills++
  }

  async #counted(what, work) {
    await work()
    this.done.set(what, (this.done.get(what) ?? 0) + 1)
  }

  /** During a request. */
  async #killApi(api, issues) {
    const { tracker } = this.#scene
    await api.untilReady()
    tracker.request(issues)
    for (let waited = 0; tracker.inFlightAt(api) === 0 && waited < patienceMs; waited++) await sleep(1)
    await sleep(this.#random.between(0, 8))
    await api.kill()
  }

  async #killWorker(workers) {
    const worker = this.#random.oneOf(workers)
    await worker.untilReady()
    await worker.kill()
  }

  async #killAt(point, issues) {
    const { stagedWorker, tracker } = this.#scene
    for (let killed = false; !killed; ) {
      await stagedWorker.untilReady()
      let over = false
      const ending = stagedWorker.endAt(point).finally(() => {
        over = true
      })
      while (!over) {
        await Promise.race([ending, sleep(patienceMs)])
        if (!over) tracker.request(issues)
      }
      killed = await ending
    }
  }
}
