import { hours, momentOf } from './day.ts'
import { dayIn } from './day-words.ts'
import type { Option } from './picker.tsx'

const withWeekday = new Intl.DateTimeFormat('en', { weekday: 'short', month: 'short', day: 'numeric', timeZone: 'UTC' })

const optionOf = (day: string, label?: string): Option => {
  const date = new Date(momentOf(day))
  const named = withWeekday.format(date)
  return { value: momentOf(day), label: label ?? named, hint: label ? named : String(date.getUTCFullYear()) }
}

const common = ['Today', 'Tomorrow', 'End of this week', 'Next week', 'In two weeks']
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const phrases = [...common, 'In a month', 'Next month', ...weekdays, ...weekdays.map((day) => `Next ${day}`)]
const mostShown = 7

/** Options for a date: common days, those whose words begin like the query, or the day that the query names. */
export function daysFor(query: string, now: Date, none = 'No due date'): Option[] {
  const wanted = query.trim().toLowerCase()
  const offered = wanted ? phrases.filter((phrase) => phrase.toLowerCase().startsWith(wanted)) : common
  const named = offered.slice(0, mostShown).flatMap((phrase) => {
    const day = dayIn(phrase, now)
    return day ? [optionOf(day, phrase)] : []
  })
  const typed = dayIn(wanted, now)
  const options = [
    ...(none.toLowerCase().includes(wanted) ? [{ value: 'none', label: none }] : []),
    ...named,
    ...(typed ? [optionOf(typed)] : []),
  ]
  // Two phrases can name the same day.
  return options.filter(({ value }, index) => options.findIndex((one) => one.value === value) === index)
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
