import { type Clock, days, minutes } from '../clock.ts'

const sixWeeksMs = days(42)

/** A clock that starts six weeks ago. Work is planned for times and run in their order; each `now()` moves it on. */
export class PastClock implements Clock {
  readonly spanMs = sixWeeksMs
  readonly #clock: Clock
  readonly #end: number
  #at: number
  #stepMs = minutes(7)
  readonly #planned: { at: number; work: () => Promise<unknown> }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
    this.#end = clock.now().getTime()
    this.#at = this.#end - sixWeeksMs
  }

  now() {
    this.#at = Math.min(this.#end, this.#at + this.#stepMs)
    return new Date(this.#at)
  }

  after(ms: number, then: () => void) {
    return this.#clock.after(ms, then)
  }

  /** Plans work for a part of the span: 0 is its start, 1 is now. */
  plan(part: number, work: () => Promise<unknown>) {
    this.#planned.push({ at: this.#end - sixWeeksMs + part * sixWeeksMs, work })
  }

  /** Plans work for `agoMs` before now. */
  planAgo(agoMs: number, work: () => Promise<unknown>) {
    this.#planned.push({ at: this.#end - agoMs, work })
  }

  /** What `work` does is this far apart. */
  async inStepsOf<T>(stepMs: number, work: () => Promise<T>): Promise<T> {
    const before = this.#stepMs
    this.#stepMs = stepMs
    try {
      return await work()
    } finally {
      this.#stepMs = before
    }
  }

  async run() {
    for (const { at, work } of this.#planned.sort((a, b) => a.at - b.at)) {
      this.#at = Math.max(this.#at, at)
      await work()
    }
  }
}
