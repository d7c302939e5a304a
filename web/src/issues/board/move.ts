import type { Issue, IssueChange } from '@baton/protocol'
import { changeTo, nameOfAll } from '../edit/choose.ts'
import { editIssues } from '../edit/edit.ts'
import { between, type Grouping } from '../fields/arrange.ts'
import type { Known } from '../fields/known.tsx'
import type { Row } from '../list/rows.ts'
import type { Drop } from './board-drag.ts'

interface Moving {
  rows: readonly Row[]
  grouping: Grouping
  /** Columns are ordered by hand, so where in its column a card is dropped counts. */
  manual: boolean
  known: Known
}

/** Puts cards where they were dropped: the column changes their field, the neighbours their place. */
export function dropCards(
  issues: readonly Issue[],
  { column, before, row }: Drop,
  { rows, grouping, manual, known }: Moving,
) {
  const elsewhere = column !== row.group
  const change = elsewhere ? changeTo(grouping, column, known, row.group) : () => ({})
  if (!change || (!elsewhere && !manual)) return
  const orders = manual ? ordersAt(issues, column, before, rows) : []
  const name = known.nameOf(grouping === 'none' ? 'status' : grouping, column)
  void editIssues(
    issues.map(({ id }) => id),
    (issue): IssueChange => {
      const sort_order = orders[issues.findIndex(({ id }) => id === issue.id)]
      return { ...change(issue), ...(sort_order !== undefined && { sort_order }) }
    },
    elsewhere ? `${nameOfAll(issues)} moved to ${name}` : undefined,
  )
}

/** A place for each between those that will be its neighbours, the highest first. */
function ordersAt(issues: readonly Issue[], column: string, before: string | null, rows: readonly Row[]): number[] {
  const moved = new Set(issues.map(({ id }) => id))
  const cards = rows.filter(({ group }) => group === column)
  const at = before === null ? cards.length : cards.findIndex(({ key }) => key === before)
  const stays = ({ issue }: Row) => !moved.has(issue.id)
  const above = cards.slice(0, at).findLast(stays)?.issue
  const below = cards.slice(at).find(stays)?.issue
  const middle = between(above, below)
  const room = above && below ? (above.sort_order - below.sort_order) / (issues.length + 1) : 1
  const first = middle + (room * (issues.length - 1)) / 2
  return issues.map((_, index) => first - room * index)
}
