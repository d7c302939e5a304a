import type { Clock } from '../src/clock.ts'

const unitMs = { milliseconds: 1, seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 }

/** Stands still until it is told to go on. */
export class TestClock implements Clock {
  #now = Date.parse('2026-03-02T09:00:00.000Z')

  now() {
    return new Date(this.#now)
  }

  advance(by: Partial<Record<keyof typeof unitMs, number>>) {
    for (const [unit, count] of Object.entries(by)) this.#now += count * unitMs[unit as keyof typeof unitMs]
  }
}
