import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { IconButton } from './button.tsx'
import { cx } from './class-names.ts'
import { dayAfter } from './day-words.ts'

const title = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const fullName = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' })
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

const dateOf = (day: string) => new Date(`${day}T00:00:00Z`)
const iso = (date: Date) => date.toISOString().slice(0, 10)
const addDays = (day: string, count: number) => iso(new Date(dateOf(day).getTime() + count * 86_400_000))
/** The same day of another month, or its last day. */
function addMonths(day: string, count: number) {
  const date = dateOf(day)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + count + 1, 0))
  last.setUTCDate(Math.min(date.getUTCDate(), last.getUTCDate()))
  return iso(last)
}

/** Six weeks from the Monday before the first of the month, so that the height stays the same. */
function weeksOf(day: string): string[][] {
  const first = `${day.slice(0, 8)}01`
  const monday = addDays(first, -((dateOf(first).getUTCDay() + 6) % 7))
  return Array.from({ length: 6 }, (_, week) => Array.from({ length: 7 }, (_, at) => addDays(monday, 7 * week + at)))
}

const moves: Record<string, (day: string) => string> = {
  ArrowLeft: (day) => addDays(day, -1),
  ArrowRight: (day) => addDays(day, 1),
  ArrowUp: (day) => addDays(day, -7),
  ArrowDown: (day) => addDays(day, 7),
  PageUp: (day) => addMonths(day, -1),
  PageDown: (day) => addMonths(day, 1),
}

/** A month of days. Tab reaches one day, the arrow keys and Page up and down move from there. Days are 2026-05-04. */
export default function Calendar({ selected, onPick }: { selected: string | null; onPick: (day: string) => void }) {
  const today = dayAfter(new Date(), 0)
  const [at, setAt] = useState(selected ?? today)
  const grid = useRef<HTMLTableElement>(null)
  const pressed = (event: KeyboardEvent) => {
    const next = moves[event.key]?.(at)
    if (!next) return
    event.preventDefault()
    // The day may be in another month. It has the focus before the next key is handled.
    flushSync(() => setAt(next))
    grid.current?.querySelector<HTMLElement>(`[data-day="${next}"]`)?.focus()
  }
  return (
    <div className="shrink-0 border-t px-2 pt-1 pb-2">
      <div className="flex items-center gap-1">
        <span aria-live="polite" className="flex-1 px-1 text-xs font-medium">
          {title.format(dateOf(at))}
        </span>
        <IconButton label="Previous month" icon={ChevronLeft} onClick={() => setAt(addMonths(at, -1))} />
        <IconButton label="Next month" icon={ChevronRight} onClick={() => setAt(addMonths(at, 1))} />
      </div>
      <table ref={grid} onKeyDown={pressed} aria-label="Days" className="w-full table-fixed text-center text-xs">
        <thead>
          <tr>
            {weekdays.map((weekday) => (
              <th key={weekday} scope="col" className="h-6 font-normal text-ink-3">
                {weekday.slice(0, 2)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(at).map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day}>
                  <button
                    type="button"
                    data-day={day}
                    tabIndex={day === at ? 0 : -1}
                    aria-label={fullName.format(dateOf(day))}
                    aria-current={day === today ? 'date' : undefined}
                    aria-pressed={day === selected}
                    onClick={() => onPick(day)}
                    className={cx(
                      'tabular h-7 w-full rounded',
                      day === selected ? 'bg-ink text-on-ink' : 'hover:bg-hover',
                      day !== selected && day.slice(0, 7) !== at.slice(0, 7) && 'text-ink-3',
                      day === today && day !== selected && 'font-semibold text-accent-ink',
                    )}
                  >
                    {Number(day.slice(8))}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
