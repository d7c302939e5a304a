import { setTimeout as sleep } from 'node:timers/promises'

/** A well-behaved user, whose response times are measured during an attack. */
export class Neighbour {
  readonly #call: () => Promise<boolean>
  #tookMs: number[] = []
  #failed = 0
  #stopped = false
  readonly #done: Promise<void>

  constructor(call: () => Promise<boolean>) {
    this.#call = call
    this.#done = this.#work()
  }

  /** Prints and returns the figures since the last call. */
  take(what: string) {
    const sorted = this.#tookMs.sort((a, b) => a - b)
    const at = (part: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
    const figures = { calls: sorted.length, failed: this.#failed, p50: at(0.5), p99: at(0.99) }
    this.#tookMs = []
    this.#failed = 0
    console.log(
      `${what.padEnd(24)} ${figures.calls} calls, ${figures.failed} failed, p50 ${figures.p50} ms, p99 ${figures.p99} ms`,
    )
    return figures
  }

  async stop() {
    this.#stopped = true
    await this.#done
  }

  async #work() {
    while (!this.#stopped) {
      const started = performance.now()
      const isAnswered = await this.#call().catch(() => false)
      this.#tookMs.push(performance.now() - started)
      if (!isAnswered) this.#failed++
      await sleep(20)
    }
  }
}
