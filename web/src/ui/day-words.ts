// Dates in words: "tomorrow", "next Friday", "in 2 weeks", "24 Dec", "2026-12-24".

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const numbers = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
]

/** The position of a name, or of its beginning with at least three letters. */
const indexIn = (names: readonly string[], text = '') =>
  text.length < 3 ? -1 : names.findIndex((name) => name.startsWith(text))

/** A day that exists as 2026-05-04, or null. */
function iso(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month, day))
  if (year < 1970 || year > 9999 || date.getUTCMonth() !== month || date.getUTCDate() !== day) return null
  return date.toISOString().slice(0, 10)
}

/** The local day so many days after `now`. */
export const dayAfter = (now: Date, days: number) =>
  new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate() + days)).toISOString().slice(0, 10)

/** The same day some months later, or the last day of a shorter month. */
function monthsAfter(now: Date, count: number) {
  const last = new Date(Date.UTC(now.getFullYear(), now.getMonth() + count + 1, 0))
  return iso(last.getUTCFullYear(), last.getUTCMonth(), Math.min(now.getDate(), last.getUTCDate()))
}

/** Monday is the first day of the week. */
const sinceMonday = (weekday: number) => (weekday + 6) % 7

function weekday(now: Date, wanted: number, next: boolean) {
  const days = sinceMonday(wanted) - sinceMonday(now.getDay())
  // "Friday" is the coming one, "next Friday" the one of next week.
  return dayAfter(now, next ? days + 7 : days > 0 ? days : days + 7)
}

const countIn = (text: string) =>
  /^\d{1,3}$/.test(text) ? Number(text) : /^an?$/.test(text) ? 1 : numbers.indexOf(text)

function relative(text: string, now: Date): string | null {
  const [, amount = '', unit] = /^(?:in )?([a-z]+|\d{1,3}) (day|week|month|year)s?(?: from now)?$/.exec(text) ?? []
  const count = unit ? countIn(amount) : -1
  if (count < 0) return null
  if (unit === 'day') return dayAfter(now, count)
  if (unit === 'week') return dayAfter(now, 7 * count)
  return monthsAfter(now, unit === 'year' ? 12 * count : count)
}

/** A day and a month, with or without a year. Without it: the coming one. */
function inYear(now: Date, day: string | undefined, month: number, year: string | undefined) {
  if (!day || month < 0) return null
  if (year) return iso(Number(year), month, Number(day))
  const found = iso(now.getFullYear(), month, Number(day))
  return found && found < dayAfter(now, 0) ? iso(now.getFullYear() + 1, month, Number(day)) : found
}

/** The day that a text names, as 2026-05-04; null if it names none. */
export function dayIn(typed: string, now: Date): string | null {
  const text = typed.trim().toLowerCase().replace(/,/g, ' ').replace(/\s+/g, ' ')
  const fixed: Record<string, () => string | null> = {
    today: () => dayAfter(now, 0),
    tomorrow: () => dayAfter(now, 1),
    'day after tomorrow': () => dayAfter(now, 2),
    yesterday: () => dayAfter(now, -1),
    'next week': () => weekday(now, 1, true),
    'end of week': () => dayAfter(now, (5 - now.getDay() + 7) % 7),
    'end of this week': () => dayAfter(now, (5 - now.getDay() + 7) % 7),
    'end of next week': () => weekday(now, 5, true),
    'next month': () => dayAfter(new Date(now.getFullYear(), now.getMonth() + 1, 1), 0),
    'end of month': () => dayAfter(new Date(now.getFullYear(), now.getMonth() + 1, 0), 0),
    'end of year': () => iso(now.getFullYear(), 11, 31),
  }
  if (Object.hasOwn(fixed, text)) return fixed[text]?.() ?? null
  const [, which, name] = /^(?:(next|this|on) )?([a-z]+)$/.exec(text) ?? []
  const wanted = indexIn(weekdays, name)
  if (wanted >= 0) return weekday(now, wanted, which === 'next')
  const digits = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text)
  if (digits) return iso(Number(digits[1]), Number(digits[2]) - 1, Number(digits[3]))
  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?([a-z]+)\.?(?: (\d{4}))?$/.exec(text)
  if (dayFirst && indexIn(months, dayFirst[2]) >= 0)
    return inYear(now, dayFirst[1], indexIn(months, dayFirst[2]), dayFirst[3])
  const monthFirst = /^([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?(?: (\d{4}))?$/.exec(text)
  if (monthFirst) return inYear(now, monthFirst[2], indexIn(months, monthFirst[1]), monthFirst[3])
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})?$/.exec(text)
  if (dotted) return inYear(now, dotted[1], Number(dotted[2]) - 1, dotted[3])
  return relative(text, now)
}
