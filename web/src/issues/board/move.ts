import type { Issue, IssueChange } from '@baton/protocol'
import { editIssues } from '../edit/edit.ts'
import { nameOfAll } from '../edit/field-menu.ts'
import type { Directory } from '../fields/directory.ts'
import { doneText, nameOf } from '../fields/field.tsx'
import { fields } from '../fields/fields.tsx'
import { between, type Grouping } from '../fields/filter-and-group.ts'
import type { Row } from '../fields/group-issues.ts'
import type { Drop } from './board-drag.ts'

interface Moving {
  rows: readonly Row[]
  grouping: Grouping
  /** The board is sorted manually, so the position in the column is saved. */
  manual: boolean
  directory: Directory
}

/** Applies a drop: the column sets the field of the cards, the neighbours their sort order. */
export function dropCards(
  issues: readonly Issue[],
  { column, before, row }: Drop,
  { rows, grouping, manual, directory }: Moving,
) {
  const toColumn = column !== row.group && grouping !== 'none' ? fields[grouping] : undefined
  if (!toColumn && !manual) return
  const orders = manual ? ordersAt(issues, column, before, rows) : []
  const done = toColumn && doneText(toColumn, nameOfAll(issues), column, nameOf(toColumn, column, directory))
  void editIssues(
    issues.map(({ id }) => id),
    (issue): IssueChange => {
      const sort_order = orders[issues.findIndex(({ id }) => id === issue.id)]
      return { ...toColumn?.change(issue, column, row.group), ...(sort_order !== undefined && { sort_order }) }
    },
    done,
  )
}

/** Sort orders between the new neighbours, the highest first. */
function ordersAt(issues: readonly Issue[], column: string, before: string | null, rows: readonly Row[]): number[] {
  const moved = new Set(issues.map(({ id }) => id))
  const cards = rows.filter(({ group }) => group === column)
  const at = before === null ? cards.length : cards.findIndex(({ key }) => key === before)
  const stays = ({ issue }: Row) => !moved.has(issue.id)
  const above = cards.slice(0, at).findLast(stays)?.issue
  const below = cards.slice(at).find(stays)?.issue
  const middle = between(above, below)
  const step = above && below ? (above.sort_order - below.sort_order) / (issues.length + 1) : 1
  const first = middle + (step * (issues.length - 1)) / 2
  return issues.map((_, index) => first - step * index)
}
