import { CalendarClock } from 'lucide-react'
import { cx } from '../../ui/class-names.ts'
import { dayOf, daysUntil } from '../../ui/day.ts'
import { exactTime } from '../../ui/time.tsx'

/** The due date of an issue, highlighted when it is near or past and the issue is not done. */
export function Due({ at, done }: { at: string; done: boolean }) {
  const left = daysUntil(at)
  return (
    <span
      title={`Due ${exactTime(at)}`}
      className={cx(
        'inline-flex shrink-0 items-center gap-1 text-xs tabular whitespace-nowrap',
        done ? 'text-ink-3' : left < 0 ? 'text-bad-ink' : left < 2 ? 'text-warn-ink' : 'text-ink-2',
      )}
    >
      <CalendarClock size={12} aria-hidden />
      <span className="sr-only">Due </span>
      {dayOf(at)}
    </span>
  )
}
