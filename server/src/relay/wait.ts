import type { Clock } from '../clock.ts'

/** Waits to be woken, repeatedly, until a deadline. */
export class Wait {
  readonly #cancel: () => void
  #timedOut = false
  #woken = false
  #wake = () => {}

  constructor(clock: Clock, ms: number) {
    this.#cancel = clock.after(ms, () => {
      this.#timedOut = true
      this.wake()
    })
  }

  wake() {
    this.#woken = true
    this.#wake()
  }

  /** Resolves when woken since the last call. Returns whether the deadline has passed. */
  async next(): Promise<boolean> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#woken = false
    return this.#timedOut
  }

  cancel() {
    this.#cancel()
  }
}
