import type { Issue } from '@baton/protocol'
import { none } from '../../ui/picker.tsx'
import { filterFields, type IssueSearch, valuesOf } from '../../views/search.ts'
import { byPriority, priorities, statuses } from './words.tsx'

/** Which issues are shown, in which order and under which headings: everything about that which needs no screen. */

export const groupings = ['status', 'assignee', 'delegate', 'project', 'priority', 'label', 'cycle', 'none'] as const
export type Grouping = (typeof groupings)[number]
export const sortings = ['priority', 'newest', 'updated', 'due', 'manual'] as const
export type Sorting = (typeof sortings)[number]

export const groupingOf = ({ group, layout }: IssueSearch): Grouping => {
  const grouping = groupings.find((one) => one === group) ?? 'status'
  return layout === 'board' && grouping === 'none' ? 'status' : grouping
}
/** A board is ordered by hand, a list by what matters most. */
export const sortingOf = ({ sort, layout }: IssueSearch): Sorting =>
  sortings.find((one) => one === sort) ?? (layout === 'board' ? 'manual' : 'priority')

/** The values an issue has of a field by which it can be filtered or grouped. */
export function valuesIn(issue: Issue, field: Exclude<Grouping, 'none'> | 'team' | 'type'): string[] {
  switch (field) {
    case 'status':
      return [issue.status]
    case 'priority':
      return [issue.priority]
    case 'type':
      return [issue.type]
    case 'team':
      return [issue.team_id ?? none]
    case 'assignee':
      return [issue.assignee_id ?? none]
    case 'delegate':
      return [issue.delegate_id ?? none]
    case 'project':
      return [issue.project_id ?? none]
    case 'cycle':
      return [issue.cycle_id ?? none]
    case 'label':
      return issue.label_ids.length > 0 ? issue.label_ids : [none]
  }
}

/** Who `me` is, and the ids of teams by the keys that stand in addresses. */
export interface Asking {
  me: string
  teamIds: ReadonlyMap<string, string>
}

export function filterOf(search: IssueSearch, { me, teamIds }: Asking): (issue: Issue) => boolean {
  const idOf = (value: string) => (value === 'me' ? me : value)
  const wanted = filterFields
    .filter((field) => search[field])
    .map((field) => {
      const values = valuesOf(search, field).map((value) =>
        field === 'team' ? (teamIds.get(value) ?? value) : idOf(value),
      )
      return { field, values: new Set(values) }
    })
  const words = search.q?.toLowerCase().split(/\s+/).filter(Boolean) ?? []
  return (issue) => {
    for (const { field, values } of wanted) {
      if (!valuesIn(issue, field).some((value) => values.has(value))) return false
    }
    if (words.length === 0) return true
    const text = `${issue.code} ${issue.title}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const newest = (a: Issue, b: Issue) => text(b.created_at, a.created_at) || text(b.id, a.id)

/** Whatever the order, what is equal in it stands newest first. */
const orders: Record<Sorting, (a: Issue, b: Issue) => number> = {
  priority: (a, b) => byPriority(a.priority, b.priority) || newest(a, b),
  newest,
  updated: (a, b) => text(b.updated_at, a.updated_at) || newest(a, b),
  due: (a, b) => text(a.due_date ?? '9', b.due_date ?? '9') || newest(a, b),
  manual: (a, b) => b.sort_order - a.sort_order || newest(a, b),
}

export interface Group {
  /** The value that its issues share. */
  value: string
  issues: Issue[]
}

const statusOrder = new Map(
  ['in_progress', 'qa', 'release', 'todo', 'backlog', 'done'].map((status, index) => [status, index]),
)
const boardOrder = new Map(statuses.map(({ value }, index) => [value as string, index]))
const priorityOrder = new Map(
  priorities.toSorted((a, b) => byPriority(a.value, b.value)).map(({ value }, index) => [value as string, index]),
)

/** In which order headings stand: by their own order where they have one, else by name, what has none last. */
function groupOrder(grouping: Grouping, board: boolean, nameOf: (value: string) => string) {
  const fixed =
    grouping === 'status' ? (board ? boardOrder : statusOrder) : grouping === 'priority' ? priorityOrder : null
  return (a: Group, b: Group) => {
    if (fixed) return (fixed.get(a.value) ?? 99) - (fixed.get(b.value) ?? 99)
    if (a.value === none || b.value === none) return a.value === none ? 1 : -1
    return text(nameOf(a.value).toLowerCase(), nameOf(b.value).toLowerCase())
  }
}

interface Layout {
  grouping: Grouping
  sorting: Sorting
  board: boolean
  nameOf: (value: string) => string
  /** Headings that stand there even without issues. */
  always: readonly string[]
}

export function arrange(issues: readonly Issue[], { grouping, sorting, board, nameOf, always }: Layout): Group[] {
  const sorted = issues.toSorted(orders[sorting])
  if (grouping === 'none') return sorted.length > 0 ? [{ value: none, issues: sorted }] : []
  const groups = new Map<string, Group>(always.map((value) => [value, { value, issues: [] }]))
  for (const issue of sorted) {
    for (const value of valuesIn(issue, grouping)) {
      const group = groups.get(value)
      if (group) group.issues.push(issue)
      else groups.set(value, { value, issues: [issue] })
    }
  }
  return [...groups.values()].sort(groupOrder(grouping, board, nameOf))
}

/** Where something has to stand to come between two others in the order made by hand; the highest is first. */
export function between(above: Issue | undefined, below: Issue | undefined): number {
  const step = 1000
  if (above && below) return (above.sort_order + below.sort_order) / 2
  if (above) return above.sort_order - step
  if (below) return below.sort_order + step
  return Date.now()
}
