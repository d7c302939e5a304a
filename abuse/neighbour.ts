import { setTimeout as sleep } from 'node:timers/promises'

/** Somebody who uses the service as it is meant to be used, while others do not. */
export class Neighbour {
  readonly #ask: () => Promise<boolean>
  #tookMs: number[] = []
  #failed = 0
  #stopped = false
  readonly #done: Promise<void>

  constructor(ask: () => Promise<boolean>) {
    this.#ask = ask
    this.#done = this.#work()
  }

  /** How it went since this was asked last. */
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
      const isAnswered = await this.#ask().catch(() => false)
      this.#tookMs.push(performance.now() - started)
      if (!isAnswered) this.#failed++
      await sleep(20)
    }
  }
}
