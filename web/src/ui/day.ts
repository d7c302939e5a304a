const short = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' })
const withYear = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', year: 'numeric' })

/** Noon UTC of a day such as 2026-05-04, which is the same day in nearly every time zone. */
export const momentOf = (day: string) => `${day}T12:00:00Z`

/** "May 4" in the current year, "May 4, 2025" in another. */
export const dayOf = (moment: string, now = new Date()) => {
  const date = new Date(moment)
  return (date.getFullYear() === now.getFullYear() ? short : withYear).format(date)
}

/** Counts calendar days in local time: an item is due until the end of its day, whatever the hour. */
export function daysUntil(moment: string, now = new Date()): number {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
  return Math.round((midnight(new Date(moment)) - midnight(now)) / 86_400_000)
}

export const isPast = (moment: string, now = new Date()) => daysUntil(moment, now) < 0

export const hours = (count: number) => (count === 1 ? '1 hour' : `${count} hours`)

/** Shown when the typed words are no date. */
export const noDay = 'No date found. Try “tomorrow”, “next Friday”, “in 2 weeks” or “24 Dec”.'
