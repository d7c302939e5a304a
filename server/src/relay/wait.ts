import type { Clock } from '../clock.ts'

/** Waits to be woken, again and again, until time is up. */
export class Wait {
  readonly #cancel: () => void
  #late = false
  #woken = false
  #wake = () => {}

  constructor(clock: Clock, ms: number) {
    this.#cancel = clock.after(ms, () => {
      this.#late = true
      this.wake()
    })
  }

  wake() {
    this.#woken = true
    this.#wake()
  }

  /** Resolves when it was woken since the last time, and says whether time is up. */
  async next(): Promise<boolean> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#woken = false
    return this.#late
  }

  over() {
    this.#cancel()
  }
}
