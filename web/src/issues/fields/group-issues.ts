import type { Issue } from '@baton/protocol'
import { none } from '../../ui/picker.tsx'
import type { Directory } from './directory.ts'
import { nameOf, optionsOf } from './field.tsx'
import { type FieldId, fields } from './fields.tsx'
import { type Grouping, orders, type Sorting, text } from './filter-and-group.ts'

/** An issue in a group. Grouped by label, an issue has a row in each of its labels. */
export interface Row {
  key: string
  issue: Issue
  group: string
}

export interface Group {
  /** The value of the field that its issues share. */
  value: string
  rows: readonly Row[]
}

interface Layout {
  passes: (issue: Issue) => boolean
  grouping: Grouping
  sorting: Sorting
  board: boolean
  directory: Directory
}

/**
 * Returns a function that filters, groups and sorts issues. It applies only what changed since its last call, because
 * sorting tens of thousands of issues for each change made elsewhere would delay key presses. Rows of unchanged issues
 * and groups without a change keep their identity, so that they are not rendered again.
 */
export function issueGrouper({ passes, grouping, sorting, board, directory }: Layout) {
  const field = grouping === 'none' ? undefined : fields[grouping]
  const order = (a: Row, b: Row) => orders[sorting](a.issue, b.issue)
  // A board shows the columns of a fixed order even without issues.
  const columns = board && field?.groupOrder ? optionsOf(field, directory).map(({ value }) => value) : []
  const groups = new Map<string, Group>(columns.map((value) => [value, { value, rows: [] }]))
  let known: readonly Issue[] = []
  let count = 0

  const rowsFor = (issue: Issue): Row[] => {
    const values = field?.read(issue) ?? []
    return (values.length > 0 ? values : [none]).map((group) => ({ key: `${group}/${issue.id}`, issue, group }))
  }
  return (issues: readonly Issue[]): { groups: Group[]; count: number } => {
    const edits = new Map<string, Edit>()
    const editOf = (value: string): Edit => {
      const edit = edits.get(value) ?? { rows: groups.get(value)?.rows ?? [], gone: [], added: [] }
      edits.set(value, edit)
      return edit
    }
    const { removed, added } = difference(known, issues)
    known = issues
    for (const issue of removed) {
      let wasShown = false
      for (const row of rowsFor(issue)) {
        const { rows, gone } = editOf(row.group)
        const at = positionOf(row, rows, order)
        if (rows[at]?.issue !== issue) continue
        gone.push(at)
        wasShown = true
      }
      if (wasShown) count--
    }
    for (const issue of added) {
      if (!passes(issue)) continue
      for (const row of rowsFor(issue)) editOf(row.group).added.push(row)
      count++
    }
    for (const [value, edit] of edits) {
      if (edit.gone.length + edit.added.length === 0) continue
      const rows = applied(edit, order)
      if (rows.length > 0 || columns.includes(value)) groups.set(value, { value, rows })
      else groups.delete(value)
    }
    const sorted = [...groups.values()]
    return { groups: grouping === 'none' ? sorted : sorted.sort(byHeading(grouping, board, directory)), count }
  }
}

/** A changed issue is both removed and added. Fast if both lists have the same order. */
function difference(before: readonly Issue[], after: readonly Issue[]) {
  const removed: Issue[] = []
  const added: Issue[] = []
  let next = 0
  for (const issue of before) {
    const now = after[next]
    if (now !== issue) removed.push(issue)
    if (now && now !== issue && now.id === issue.id) added.push(now)
    // Most are the same object, whose id need not be read.
    if (now === issue || now?.id === issue.id) next++
  }
  return { removed, added: added.concat(after.slice(next)) }
}

type Order = (a: Row, b: Row) => number

interface Edit {
  rows: readonly Row[]
  /** Positions of rows to remove. */
  gone: number[]
  added: Row[]
}

/** The first position whose row does not come before this one. */
function positionOf(row: Row, rows: readonly Row[], order: Order): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    const other = rows[middle]
    if (other && order(other, row) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function applied({ rows, gone, added }: Edit, order: Order): Row[] {
  const result: Row[] = []
  gone.sort((a, b) => a - b)
  let next = 0
  let skipped = 0
  const copyUntil = (end: number) => {
    for (; next < end; next++) {
      const row = rows[next]
      if (next === gone[skipped]) skipped++
      else if (row) result.push(row)
    }
  }
  for (const row of added.sort(order)) {
    copyUntil(positionOf(row, rows, order))
    result.push(row)
  }
  copyUntil(rows.length)
  return result
}

/** Headings in the field's own order if it has one, otherwise by name with the empty value last. */
function byHeading(field: FieldId, board: boolean, directory: Directory) {
  const fixed = fields[field].groupOrder?.(board)
  const position = fixed && new Map(fixed.map((value, index) => [value, index]))
  return (a: Group, b: Group) => {
    if (position) return (position.get(a.value) ?? 99) - (position.get(b.value) ?? 99)
    if (a.value === none || b.value === none) return a.value === none ? 1 : -1
    const [first, second] = [a, b].map(({ value }) => nameOf(fields[field], value, directory).toLowerCase())
    return text(first ?? '', second ?? '') || text(a.value, b.value)
  }
}
