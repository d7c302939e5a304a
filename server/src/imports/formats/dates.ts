import type { ReadOptions } from '../record.ts'

export type DateOrder = NonNullable<ReadOptions['dateOrder']>

interface Parts {
  year: number
  month: number
  day: number
  /** Milliseconds since midnight in UTC; null for a day without a time. */
  time: number | null
}

const clockTime = String.raw`(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s*([ap])?\.?\s?m?\.?\s*(Z|UTC|GMT)?([+-]\d{2}:?\d{2})?)?`
const iso = new RegExp(`^(\\d{4})[-/.](\\d{1,2})[-/.](\\d{1,2})${clockTime}$`, 'i')
/** 12/Mar/24 9:41 AM, as Jira writes it; also 12. März 2024. */
const dayName = new RegExp(`^(\\d{1,2})[-/. ]+(\\p{L}{3,12})\\.?[-/. ,]+(\\d{4}|\\d{2})${clockTime}$`, 'iu')
/** Mar 12, 2024 9:41 AM; Wed May 13 2026 11:21:41 GMT+0000 (GMT+00:00), as Linear writes it. */
const nameDay = new RegExp(
  `^(?:\\p{L}{3},? )?(\\p{L}{3,12})\\.? (\\d{1,2}),? (\\d{4})${clockTime}(?: \\([^()]*\\))?$`,
  'iu',
)
const numeric = new RegExp(`^(\\d{1,2})([-/.])(\\d{1,2})\\2(\\d{4}|\\d{2})${clockTime}$`, 'i')
const maxLength = 80

/** An ISO time; a time without a zone is read as UTC, because exports do not name theirs. Null: not a date. */
export function readTime(text: string, order: DateOrder | null): string | null {
  const parts = read(text, order)
  return parts && new Date(midnight(parts) + (parts.time ?? 0)).toISOString()
}

/**
 * A day. Sources write a due date as midnight in a zone of their own, so a time is rounded to the nearest midnight in
 * UTC.
 */
export function readDay(text: string, order: DateOrder | null): string | null {
  const parts = read(text, order)
  if (!parts) return null
  const noon = parts.time === null ? 0 : 12 * 3_600_000
  return new Date(midnight(parts) + (parts.time ?? 0) + noon).toISOString().slice(0, 10)
}

/** Finds the order of day and month that fits all dates. Other texts are ignored. */
export class DateOrders {
  #dayFirst = false
  #monthFirst = false
  #open = false

  see(text: string) {
    const found = numericParts(text)
    if (!found) return
    const [first, second] = found
    if (first > 12 && second > 12) return
    if (first > 12) this.#dayFirst = true
    else if (second > 12) this.#monthFirst = true
    else if (first !== second) this.#open = true
  }

  get order(): DateOrder | null {
    if (this.#dayFirst === this.#monthFirst) return null
    return this.#dayFirst ? 'day-month' : 'month-day'
  }

  /** Also if some dates need one order and some the other. */
  get needed(): boolean {
    return this.order === null && (this.#open || this.#dayFirst)
  }
}

/** Whether the order decides what the text means. */
export function isAmbiguous(text: string): boolean {
  const found = numericParts(text)
  return found !== null && found[0] !== found[1]
}

/** With dots the day is first everywhere. */
function numericParts(text: string): [number, number] | null {
  if (text.length > maxLength || !/^\s*\d/.test(text)) return null
  const [, first, separator, second] = numeric.exec(text.trim()) ?? []
  return first && second && separator !== '.' ? [Number(first), Number(second)] : null
}

function read(raw: string, order: DateOrder | null): Parts | null {
  if (raw.length > maxLength) return null
  const text = raw.trim()
  return (
    partsOf(iso.exec(text), ([year, month, day]) => ({ year, month, day })) ??
    partsOf(dayName.exec(text), ([day, month, year]) => ({ day, month, year })) ??
    partsOf(nameDay.exec(text), ([month, day, year]) => ({ day, month, year })) ??
    numericDate(text, order)
  )
}

function numericDate(text: string, order: DateOrder | null): Parts | null {
  const match = numeric.exec(text)
  if (!match) return null
  const [whole = '', first = '', separator, second = '', ...rest] = match
  if (order === null && separator !== '.' && first !== second) return null
  const dayFirst = separator === '.' || order !== 'month-day'
  return partsOf([whole, first, second, ...rest], ([a, b, year]) =>
    dayFirst ? { day: a, month: b, year } : { month: a, day: b, year },
  )
}

type Texts = Record<'year' | 'month' | 'day', string>

function partsOf(match: (string | undefined)[] | null, name: (date: [string, string, string]) => Texts): Parts | null {
  if (!match) return null
  const [, a = '', b = '', c = '', hour, minute = '0', second = '0', fraction = '0', half, , zone] = match
  const { year, month, day } = name([a, b, c])
  const time = hour === undefined ? null : timeOf(Number(hour), half?.toLowerCase(), [minute, second, fraction], zone)
  if (Number.isNaN(time)) return null
  const parts = { year: fullYear(year), month: monthOf(month), day: Number(day), time }
  return exists(parts) ? parts : null
}

function timeOf(hour: number, half: string | undefined, rest: string[], zone: string | undefined): number {
  const [minute = 0, second = 0] = rest.map(Number)
  if (hour > 23 || minute > 59 || second > 59 || (half && (hour < 1 || hour > 12))) return Number.NaN
  const hours = half ? (hour % 12) + (half === 'p' ? 12 : 0) : hour
  const milliseconds = Math.floor(Number(`0.${rest[2]}`) * 1000)
  const [, sign, zoneHours = '0', zoneMinutes = '0'] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone ?? '') ?? []
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1)
  return ((hours * 60 + minute - offset) * 60 + second) * 1000 + milliseconds
}

const fullYear = (text: string) => (text.length === 4 ? Number(text) : Number(text) + (Number(text) < 70 ? 2000 : 1900))

const midnight = ({ year, month, day }: Parts) => Date.UTC(year, month - 1, day)

function exists(parts: Parts): boolean {
  const { year, month, day } = parts
  if (year < 1900 || year > 2999) return false
  const date = new Date(midnight(parts))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** Jira writes months in the language of the user who exported. Where names differ in meaning, English wins. */
const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da', 'nb', 'fi', 'cs']
let months: Map<string, number> | undefined

function monthOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  months ??= monthNames()
  const name = withoutAccents(text)
  const found = months.get(name)
  if (found) return found
  // Languages shorten names in more than one way: Mär and März.
  const meant = new Set([...months].filter(([one]) => one.startsWith(name)).map(([, month]) => month))
  return meant.size === 1 ? ([...meant][0] as number) : 0
}

function monthNames() {
  const names = new Map<string, number>()
  for (const language of languages) {
    for (const style of ['short', 'long'] as const) {
      const format = new Intl.DateTimeFormat(language, { month: style, day: 'numeric', timeZone: 'UTC' })
      for (let month = 1; month <= 12; month++) {
        const parts = format.formatToParts(new Date(Date.UTC(2026, month - 1, 10)))
        const name = parts.find(({ type }) => type === 'month')?.value.replace(/\.$/, '') ?? ''
        const plain = withoutAccents(name)
        if (!names.has(plain)) names.set(plain, month)
      }
    }
  }
  // Java, and so Jira, shortens März in another way than browsers.
  return names.set('mrz', 3)
}

const withoutAccents = (text: string) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
