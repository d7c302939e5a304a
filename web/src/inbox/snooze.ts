import type { Option } from '../ui/picker.tsx'

const hourMs = 3_600_000
const morning = 9

/** Nine in the morning, local time, so many days after `now`. */
const morningIn = (now: Date, days: number) =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, morning)

const time = new Intl.DateTimeFormat('en', { weekday: 'short', hour: 'numeric', minute: '2-digit' })
const date = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' })

/** When a snooze can end. The values are moments. */
export function snoozeOptions(now = new Date()): Option[] {
  const untilMonday = (8 - now.getDay()) % 7 || 7
  const option = (label: string, until: Date, hint: string): Option => ({ value: until.toISOString(), label, hint })
  const later = new Date(now.getTime() + 3 * hourMs)
  const days = (label: string, count: number, format = time) => {
    const until = morningIn(now, count)
    return option(label, until, format.format(until))
  }
  return [
    option('In 3 hours', later, time.format(later)),
    days('Tomorrow', 1),
    ...(untilMonday > 1 ? [days('Monday', untilMonday)] : []),
    days('In 2 weeks', 14, date),
    days('In a month', 30, date),
  ]
}

/** A day of the calendar is a moment at noon UTC: the snooze ends in the morning of that day, local time. */
export function snoozeUntil(moment: string): string {
  const day = /^(\d{4})-(\d\d)-(\d\d)T12:00:00Z$/.exec(moment)?.slice(1).map(Number)
  if (!day) return moment
  const [year = 0, month = 1, ofMonth = 1] = day
  return new Date(year, month - 1, ofMonth, morning).toISOString()
}
