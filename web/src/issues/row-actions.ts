import type { Issue } from '@baton/protocol'
import { useState } from 'react'
import { useDelegate } from '../delegation/delegate.tsx'
import { none } from '../ui/picker.tsx'
import type { Drop } from './board/board-drag.ts'
import { useFieldMenu, useMoveMenu } from './edit/field-menu.ts'
import type { Directory } from './fields/directory.ts'
import { nameOf } from './fields/field.tsx'
import { type FieldId, fields, fieldsIn } from './fields/fields.tsx'
import type { Grouping } from './fields/filter-and-group.ts'
import type { Row } from './fields/group-issues.ts'
import { rowId } from './list/row-click.ts'
import type { CurrentRow, useSelection } from './list/rows.ts'

/** Fields that can be changed for several issues at once. */
export const bulkFields = fieldsIn('bulk')

/** Opens the menu of a field, moves or deletes. */
export type Action = FieldId | 'move' | 'delete'

interface Props {
  rows: readonly Row[]
  current: CurrentRow
  selection: ReturnType<typeof useSelection>
  directory: Directory
  grouping: Grouping
  /** The board is sorted manually, so the position of a dropped card is saved. */
  manual: boolean
}

/** Actions on issues of the list or board: on the selected ones, or on the current one if none is selected. */
export function useRowActions({ rows, current, selection, directory, grouping, manual }: Props) {
  const [deleting, setDeleting] = useState<readonly Issue[]>([])
  const openMenu = useFieldMenu(directory)
  const openMove = useMoveMenu(directory)
  const delegate = useDelegate()
  const targets = () => (selection.issues.length > 0 ? selection.issues : current.row ? [current.row.issue] : [])

  const run = (action: Action, anchor?: Element, issues: readonly Issue[] = targets()) => {
    if (issues.length === 0) return
    const beside = anchor ?? anchorIn(current.row, action)
    if (action === 'delete') setDeleting(issues)
    else if (action === 'move') openMove(beside, issues, { grouping, group: current.row?.group })
    else openMenu(action, beside, issues, (fields[action].action ?? fields[action].label).replace('…', ''))
  }
  const drop = async (card: Drop) => {
    const issues = selection.ids.has(card.row.issue.id) ? selection.issues : [card.row.issue]
    const field = grouping === 'none' ? undefined : fields[grouping]
    if (field?.delegates && card.column !== card.row.group) {
      const { delegateIssues } = await import('../delegation/delegate-issues.ts')
      const agent = card.column === none ? null : { id: card.column, name: nameOf(field, card.column, directory) }
      const askAssignee = () => delegate(anchorIn(card.row), [...issues])
      await delegateIssues({ issues: [...issues], agent, me: directory.me, askAssignee })
    } else {
      const { dropCards } = await import('./board/move.ts')
      dropCards(issues, card, { rows, grouping, manual, directory })
    }
  }
  return { run, drop, deleting, cancelDelete: () => setDeleting([]) }
}

/** The element a menu opens beside: the part of the row that it changes, or the title. */
function anchorIn(row: Row | undefined, action?: Action): Element | null {
  const element = row ? document.getElementById(rowId(row.key)) : null
  return element?.querySelector(`[data-do="${action}"]`) ?? element?.querySelector('[data-do="title"]') ?? element
}
