import { hours, momentOf } from './day.ts'
import type { Option } from './picker.tsx'

const withWeekday = new Intl.DateTimeFormat('en', { weekday: 'short', month: 'short', day: 'numeric', timeZone: 'UTC' })

const utc = (year: number, month: number, day: number) => new Date(Date.UTC(year, month, day))

const optionOf = (date: Date, label: string, hint?: string): Option => ({
  value: momentOf(date.toISOString().slice(0, 10)),
  label,
  hint,
})

/** Options for a date: common ones, or the date typed as YYYY-MM-DD. */
export function daysFor(query: string, now: Date, none = 'No due date'): Option[] {
  const wanted = query.trim().toLowerCase()
  const typed = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(wanted)
  if (typed) {
    const [year = 0, month = 1, day = 0] = typed.slice(1).map(Number)
    const date = utc(year, month - 1, day)
    return date.getUTCDate() === day ? [optionOf(date, withWeekday.format(date), String(year))] : []
  }
  const after = (days: number) => utc(now.getFullYear(), now.getMonth(), now.getDate() + days)
  const common: [string, number][] = [
    ['Today', 0],
    ['Tomorrow', 1],
    ['End of this week', (5 - now.getDay() + 7) % 7],
    ['In one week', 7],
    ['In two weeks', 14],
    ['In a month', 30],
  ]
  const options = common.map(([label, days]) => optionOf(after(days), label, withWeekday.format(after(days))))
  // End of this week may be today.
  const days = options.filter(({ value }, index) => options.findIndex((one) => one.value === value) === index)
  return [{ value: 'none', label: none }, ...days].filter(({ label }) => label.toLowerCase().includes(wanted))
}

/** Options for an estimate: common numbers of hours, or the number typed. */
export function hoursFor(query: string): Option[] {
  const typed = Number(query.trim().replace(/\s*h(ours?)?$/, ''))
  if (query.trim() && Number.isFinite(typed) && typed >= 0 && typed <= 100_000) {
    return [{ value: String(typed), label: hours(typed) }]
  }
  if (query.trim()) return []
  return [
    { value: 'none', label: 'No estimate' },
    ...[1, 2, 4, 8, 16, 24, 40].map((count) => ({ value: String(count), label: hours(count) })),
  ]
}
