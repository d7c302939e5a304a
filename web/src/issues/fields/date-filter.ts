import type { Issue } from '@baton/protocol'
import { dayOf, daysUntil, momentOf } from '../../ui/day.ts'
import { matching } from './field.tsx'
import type { Conditions } from './issue-field.ts'

// Filters by date. A value is overdue, today, 7d (within so many days), 2026-12-24, before-2026-12-24 or after-2026-12-24.

/** Due dates are ahead, the times of changes in the past. */
type Direction = 'ahead' | 'past'

const spans = { ahead: ['overdue', 'today', '7d', '30d'], past: ['today', '7d', '30d', '90d'] }

const label = (value: string, direction: Direction): string => {
  if (value === 'overdue') return 'Overdue'
  if (value === 'today') return 'Today'
  const [, count] = /^(\d{1,4})d$/.exec(value) ?? []
  if (count) return `In the ${direction === 'ahead' ? 'next' : 'last'} ${count} days`
  const [, side, day] = /^(before-|after-)?(\d{4}-\d\d-\d\d)$/.exec(value) ?? []
  if (!day || Number.isNaN(Date.parse(day))) return 'An unknown date'
  const name = dayOf(momentOf(day))
  return side === 'before-' ? `Before ${name}` : side === 'after-' ? `After ${name}` : name
}

const two = (number: number) => String(number).padStart(2, '0')
/** The local day as 2026-05-04. */
const localDay = (moment: string) => {
  const date = new Date(moment)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

function isWithin(moment: string, value: string, direction: Direction): boolean {
  const days = direction === 'ahead' ? daysUntil(moment) : -daysUntil(moment)
  if (value === 'overdue') return days < 0
  if (value === 'today') return days === 0
  const [, count] = /^(\d{1,4})d$/.exec(value) ?? []
  if (count) return days >= 0 && days <= Number(count)
  const [, side, day = ''] = /^(before-|after-)?(.*)$/.exec(value) ?? []
  const own = localDay(moment)
  return side === 'before-' ? own < day : side === 'after-' ? own > day : own === day
}

/** The conditions of a filter by the moment that `read` returns. */
export function dateFilter(direction: Direction, read: (issue: Issue) => string | null): Conditions {
  const options = spans[direction].map((value) => ({ value, label: label(value, direction) }))
  return {
    options,
    labelOf: (value) => label(value, direction),
    matches: (issue, value) => {
      const moment = read(issue)
      // Finished work is not overdue.
      if (moment === null || (value === 'overdue' && issue.status === 'done')) return false
      return isWithin(moment, value, direction)
    },
    search: async (query) => {
      const { dayIn } = await import('../../ui/day-words.ts')
      const day = dayIn(query, new Date())
      const typed = day ? [day, `before-${day}`, `after-${day}`] : []
      return [...matching(options, query), ...typed.map((value) => ({ value, label: label(value, direction) }))]
    },
  }
}
