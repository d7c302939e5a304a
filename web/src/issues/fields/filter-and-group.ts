import type { Issue } from '@baton/protocol'
import { none } from '../../ui/picker.tsx'
import type { Directory } from './directory.ts'
import { type FieldId, filterFields, groupFields, idFromUrl } from './fields.tsx'
import type { IssueFilter } from './issue-field.ts'
import { type IssueSearch, isNegated, valuesOf } from './search.ts'
import { byPriority } from './values.tsx'

// The filters, orders and groupings of issues. Pure: nothing here depends on the screen.

export type Grouping = FieldId | 'none'
export const groupings: Grouping[] = [...groupFields.map(({ id }) => id), 'none']
export const sortings = ['priority', 'newest', 'updated', 'due', 'manual'] as const
export type Sorting = (typeof sortings)[number]

export const groupingOf = ({ group, layout }: IssueSearch): Grouping => {
  const grouping = groupings.find((one) => one === group) ?? 'status'
  return layout === 'board' && grouping === 'none' ? 'status' : grouping
}
/** By default a board is sorted manually, a list by priority. */
export const sortingOf = ({ sort, layout }: IssueSearch): Sorting =>
  sortings.find((one) => one === sort) ?? (layout === 'board' ? 'manual' : 'priority')

/** Whether an issue has one of the values of a filter. */
function hasOneOf(field: IssueFilter, values: ReadonlySet<string>): (issue: Issue) => boolean {
  const { conditions, read, filterRead = read } = field
  const isEmpty = (issue: Issue) => filterRead(issue).length === 0
  if (conditions) {
    return (issue) => [...values].some((one) => (one === none ? isEmpty(issue) : conditions.matches(issue, one)))
  }
  return (issue) => (isEmpty(issue) ? values.has(none) : filterRead(issue).some((value) => values.has(value)))
}

export function filterOf(search: IssueSearch, directory: Directory): (issue: Issue) => boolean {
  const wanted = filterFields
    .filter(({ id }) => search[id])
    .map((field) => ({
      negated: isNegated(search, field.id),
      has: hasOneOf(field, new Set(valuesOf(search, field.id).map((value) => idFromUrl(field, value, directory)))),
    }))
  const words = search.q?.toLowerCase().split(/\s+/).filter(Boolean) ?? []
  return (issue) => {
    for (const { has, negated } of wanted) if (has(issue) === negated) return false
    if (words.length === 0) return true
    const text = `${issue.code} ${issue.title}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

export const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const newest = (a: Issue, b: Issue) => text(b.created_at, a.created_at) || text(b.id, a.id)

/** Equal issues are sorted newest first. */
export const orders: Record<Sorting, (a: Issue, b: Issue) => number> = {
  priority: (a, b) => byPriority(a.priority, b.priority) || newest(a, b),
  newest,
  updated: (a, b) => text(b.updated_at, a.updated_at) || newest(a, b),
  due: (a, b) => text(a.due_date ?? '9', b.due_date ?? '9') || newest(a, b),
  manual: (a, b) => b.sort_order - a.sort_order || newest(a, b),
}

/** The sort_order that places an issue between two others in manual order; the highest comes first. */
export function between(above: Issue | undefined, below: Issue | undefined): number {
  const step = 1000
  if (above && below) return (above.sort_order + below.sort_order) / 2
  if (above) return above.sort_order - step
  if (below) return below.sort_order + step
  return Date.now()
}
