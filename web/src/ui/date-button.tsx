import { Calendar } from 'lucide-react'
import { cx } from './class-names.ts'
import { dayOf, momentOf, noDay } from './day.ts'
import { box, useFieldProps } from './field.tsx'
import { none, orNull, usePicker } from './picker.tsx'

interface Props {
  /** The label of its field. */
  label: string
  /** 2026-05-04, or empty. */
  day: string
  onChange: (day: string) => void
}

/** A date of a form. Opens the menu with dates in words and a calendar. */
export function DateButton({ label, day, onChange }: Props) {
  const ask = usePicker()
  const shown = day && dayOf(momentOf(day))
  const open = (anchor: Element) =>
    ask(anchor, {
      title: label,
      options: async (query) => (await import('./day-options.ts')).daysFor(query, new Date(), 'No date'),
      selected: [day ? momentOf(day) : none],
      calendar: true,
      empty: noDay,
      onPick: (value) => onChange(orNull(value)?.slice(0, 10) ?? ''),
    })
  return (
    <button
      type="button"
      {...useFieldProps()}
      aria-label={`${label}: ${shown || 'none'}`}
      onClick={({ currentTarget }) => open(currentTarget)}
      className={cx(box, 'flex h-8 w-full items-center gap-1.5', !shown && 'text-ink-3')}
    >
      <Calendar size={14} aria-hidden className="shrink-0 text-ink-3" />
      {shown || 'No date'}
    </button>
  )
}
