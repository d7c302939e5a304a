// What goes wrong, in which order, and how it is done.
import { setTimeout as sleep } from 'node:timers/promises'

export const points = ['after claim', 'after send', 'mid-batch', 'before completion', 'after completion']
/** Of a worker that has nothing to do: more is done until it comes to the point. */
const patienceMs = 2000

/** A fifth of the kills hit the API; of the workers' half come from outside at any time, half at chosen points. */
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

export class Attack {
  /** How often each thing has been done. */
  done = new Map()
  kills = 0
  #scene
  #random

  constructor(scene, random) {
    this.#scene = scene
    this.#random = random
  }

  /** Lets `issues` be created for each fault and strikes while they, and their deliveries, are under way. */
  async run(plan, issues) {
    for (const fault of plan) {
      this.#scene.tracker.want(issues)
      await sleep(this.#random.between(0, 700))
      await this.#strike(fault, issues)
      await sleep(this.#random.between(300, 1200))
    }
  }

  async #strike({ kind, point }, issues) {
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

  /** In the middle of a request. */
  async #killApi(api, issues) {
    const { tracker } = this.#scene
    await api.untilReady()
    tracker.want(issues)
    for (let waited = 0; tracker.underWayAt(api) === 0 && waited < patienceMs; waited++) await sleep(1)
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
        if (!over) tracker.want(issues)
      }
      killed = await ending
    }
  }
}
