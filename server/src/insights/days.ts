import { type InsightPeriodLength, limits } from '@baton/protocol'
import { days as daysMs } from '../clock.ts'
import { invalid } from '../http/errors.ts'

/** A day in UTC, such as 2026-03-02. Days compare as texts. */
export type Day = string

export const dayOf = (time: Date | string | number): Day => new Date(time).toISOString().slice(0, 10)
export const startOf = (day: Day) => new Date(`${day}T00:00:00.000Z`)
export const plusDays = (day: Day, count: number): Day => dayOf(startOf(day).getTime() + daysMs(count))
/** From `first` to `last`; 0 for the same day. */
export const daysBetween = (first: Day, last: Day) =>
  Math.round((startOf(last).getTime() - startOf(first).getTime()) / daysMs(1))

export const earlier = (one: Day, other: Day) => (one < other ? one : other)
export const later = (one: Day, other: Day) => (one > other ? one : other)

/** Every day from `first` to `last`. */
export const everyDay = (first: Day, last: Day): Day[] =>
  Array.from({ length: Math.max(0, daysBetween(first, last) + 1) }, (_, index) => plusDays(first, index))

export interface Period {
  from: Day
  to: Day
}

export interface RangeQuery {
  from?: Day
  to?: Day
  by?: InsightPeriodLength
}

const defaultDays = 90

/** insight.range: the range that a caller asks for, with its defaults. */
export function rangeOf({ from, to, by = 'week' }: RangeQuery, now: Date): Period & { by: InsightPeriodLength } {
  const last = to ?? dayOf(now)
  const first = from ?? plusDays(last, 1 - defaultDays)
  if (first > last) throw invalid({ from: 'must not be after to' })
  const count = daysBetween(first, last) + 1
  if (count > limits.insightDays)
    throw invalid({ from: `must be at most ${limits.insightDays} days before the end of to` })
  if (by === 'day' && count > limits.insightDaysByDay)
    throw invalid({ by: `must be week or month for more than ${limits.insightDaysByDay} days` })
  return { from: first, to: last, by }
}

/** The days, weeks from Monday, or months of a range; the first and the last may be shorter. */
export function periodsOf({ from, to, by }: Period & { by: InsightPeriodLength }): Period[] {
  const periods: Period[] = []
  for (let first = from; first <= to; ) {
    const last = earlier(lastDayOf(by, first), to)
    periods.push({ from: first, to: last })
    first = plusDays(last, 1)
  }
  return periods
}

function lastDayOf(by: InsightPeriodLength, day: Day): Day {
  if (by === 'day') return day
  const date = startOf(day)
  if (by === 'week') return plusDays(day, (7 - date.getUTCDay()) % 7)
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0))
}
