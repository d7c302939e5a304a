const short = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' })
const withYear = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', year: 'numeric' })

/** A day, such as 2026-05-04, as a moment that is on that day nearly everywhere. */
export const momentOf = (day: string) => `${day}T12:00:00Z`

/** "May 4" of this year, "May 4, 2025" of another. */
export const dayOf = (moment: string, now = new Date()) => {
  const date = new Date(moment)
  return (date.getFullYear() === now.getFullYear() ? short : withYear).format(date)
}

/** What is due on a day is due until that day ends, at whatever hour its moment stands. */
export function daysUntil(moment: string, now = new Date()): number {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
  return Math.round((midnight(new Date(moment)) - midnight(now)) / 86_400_000)
}

export const isPast = (moment: string, now = new Date()) => daysUntil(moment, now) < 0

export const hours = (count: number) => (count === 1 ? '1 hour' : `${count} hours`)
