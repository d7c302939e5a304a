import type { Clock } from '../src/clock.ts'

const unitMs = { milliseconds: 1, seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 }

/** Moves only by `advance`, which runs the callbacks that are then due. */
export class TestClock implements Clock {
  #now = Date.parse('2026-03-02T09:00:00.000Z')
  readonly #waiting = new Set<{ at: number; then: () => void }>()

  now() {
    return new Date(this.#now)
  }

  after(ms: number, then: () => void) {
    const alarm = { at: this.#now + ms, then }
    this.#waiting.add(alarm)
    return () => void this.#waiting.delete(alarm)
  }

  /** Time until the next callback; Infinity without one. */
  get nextInMs() {
    return Math.min(...[...this.#waiting].map(({ at }) => at - this.#now))
  }

  /** Number of pending callbacks. */
  get waiting() {
    return this.#waiting.size
  }

  advance(by: Partial<Record<keyof typeof unitMs, number>>) {
    for (const [unit, count] of Object.entries(by)) this.#now += count * unitMs[unit as keyof typeof unitMs]
    const due = [...this.#waiting].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at)
    for (const alarm of due) {
      this.#waiting.delete(alarm)
      alarm.then()
    }
  }
}
