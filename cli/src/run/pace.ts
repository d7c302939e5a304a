import type { Clock } from '@baton/sdk'

/**
 * Limits calls to `most` in a second. A place is free again a second after its call has ended, so that the service
 * never receives more than `most` in a second, however long each takes to arrive.
 */
export class Pace {
  readonly #clock: Clock
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(clock: Clock, most: number) {
    this.#clock = clock
    this.#free = most
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      this.#clock.after(1000, () => {
        const next = this.#waiting.shift()
        if (next) next()
        else this.#free++
      })
    }
  }
}

/** Lets a number of turns run at once; the others wait in order. */
export class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(most: number) {
    this.#free = most
  }

  get isFull() {
    return this.#free === 0
  }

  /** Resolves to a function that ends the turn; null if aborted before it began. */
  async begin(signal: AbortSignal): Promise<(() => void) | null> {
    if (signal.aborted) return null
    if (this.#free > 0) this.#free--
    else {
      const got = await new Promise<boolean>((resolve) => {
        const go = () => {
          signal.removeEventListener('abort', leave)
          resolve(true)
        }
        const leave = () => {
          this.#waiting.splice(this.#waiting.indexOf(go), 1)
          resolve(false)
        }
        this.#waiting.push(go)
        signal.addEventListener('abort', leave, { once: true })
      })
      if (!got) return null
    }
    let ended = false
    return () => {
      if (ended) return
      ended = true
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
