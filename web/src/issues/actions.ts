import type { Issue } from '@baton/protocol'
import { useState } from 'react'
import { useDelegate } from '../delegation/delegate.tsx'
import { handOver } from '../delegation/hand-over.ts'
import { none } from '../ui/picker.tsx'
import type { Drop } from './board/board-drag.ts'
import { dropCards } from './board/move.ts'
import { useChoose } from './edit/choose.ts'
import type { Grouping } from './fields/arrange.ts'
import type { Known } from './fields/known.tsx'
import { rowId } from './list/press.ts'
import type { CurrentRow, Row, useSelection } from './list/rows.ts'
import type { Deed } from './selection-bar.tsx'

interface Props {
  rows: readonly Row[]
  current: CurrentRow
  selection: ReturnType<typeof useSelection>
  known: Known
  grouping: Grouping
  /** Ordered by hand, so that where a card is dropped counts. */
  manual: boolean
}

/** What can be done to issues of the list or board: to those selected, else to the one the keyboard is at. */
export function useDeeds({ rows, current, selection, known, grouping, manual }: Props) {
  const [deleting, setDeleting] = useState<readonly Issue[]>([])
  const choose = useChoose()
  const delegate = useDelegate()
  const meant = () => (selection.issues.length > 0 ? selection.issues : current.row ? [current.row.issue] : [])

  const doIt = (deed: Deed, anchor?: Element, issues: readonly Issue[] = meant()) => {
    if (issues.length === 0) return
    const beside = anchor ?? placeOf(current.row, deed)
    if (deed === 'delete') setDeleting(issues)
    else if (deed === 'delegate') delegate(beside, [...issues])
    else if (deed === 'move') choose.move(beside, issues, { grouping, from: current.row?.group })
    else choose[deed](beside, issues)
  }
  const drop = (card: Drop) => {
    const chosen = selection.ids.has(card.row.issue.id) ? selection.issues : [card.row.issue]
    if (grouping === 'delegate' && card.column !== card.row.group) {
      const agent = card.column === none ? null : { id: card.column, name: known.nameOf('delegate', card.column) }
      const askAssignee = () => delegate(placeOf(card.row), [...chosen])
      void handOver({ issues: [...chosen], agent, me: known.me, askAssignee })
    } else dropCards(chosen, card, { rows, grouping, manual, known })
  }
  return { doIt, drop, deleting, notDeleting: () => setDeleting([]) }
}

/** Where a menu opens: at what it changes in the row, else at the row. */
function placeOf(row: Row | undefined, deed?: Deed): Element | null {
  const place = row ? document.getElementById(rowId(row.key)) : null
  return place?.querySelector(`[data-do="${deed}"]`) ?? place?.querySelector('[data-do="title"]') ?? place
}
