import type { InsightPeriodLength } from '@baton/protocol'

const options = { timeZone: 'UTC', month: 'short', day: 'numeric' } as const
const short = new Intl.DateTimeFormat('en', options)
const long = new Intl.DateTimeFormat('en', { ...options, year: 'numeric' })
const month = new Intl.DateTimeFormat('en', { timeZone: 'UTC', month: 'short' })

export const periodHeads: Record<InsightPeriodLength, string> = { day: 'Day', week: 'Week', month: 'Month' }

/** A period in the chart and in words: "Mar 2" and "Mar 2 – 8, 2026". Days are in UTC, as they are counted. */
export function periodText({ from, to }: { from: string; to: string }, by: InsightPeriodLength) {
  const [first, last] = [new Date(from), new Date(to)]
  return {
    label: by === 'month' ? month.format(first) : short.format(first),
    name: from === to ? long.format(first) : long.formatRange(first, last),
  }
}
