import type { AgentSession } from '@baton/protocol'
import { useLayoutEffect, useRef } from 'react'
import { cx } from '../../ui/class-names.ts'
import type { Directory } from '../fields/directory.ts'
import { nameOf, optionOf } from '../fields/field.tsx'
import { fields } from '../fields/fields.tsx'
import type { Grouping } from '../fields/filter-and-group.ts'
import type { Group, Row } from '../fields/group-issues.ts'
import { handleRowClick, type RowClick, ring, rowId } from '../list/row-click.ts'
import { BoardColumn } from './board-column.tsx'
import { type Drop, useBoardDrag } from './board-drag.ts'

interface Props {
  groups: readonly Group[]
  grouping: Grouping
  rows: readonly Row[]
  current: number
  selected: ReadonlySet<string>
  editing: string | null
  directory: Directory
  sessions: ReadonlyMap<string, AgentSession>
  onEdited: () => void
  onRowClick: (row: Row, target: string | undefined, event: RowClick) => void
  onCreateIn: (value: string) => void
  onDrop: (drop: Drop) => void
  gridRef: (element: HTMLElement | null) => void
}

/** Issues in columns. Dropping a card in another column changes the field that the columns show. */
export function Board(props: Props) {
  const { groups, grouping, rows, current, selected, editing, directory, sessions, gridRef } = props
  const board = useRef<HTMLDivElement>(null)
  const field = grouping === 'none' ? 'status' : grouping
  const currentKey = rows[current]?.key
  const over = useBoardDrag(board, rows, props.onDrop)
  useLayoutEffect(() => {
    if (currentKey) document.getElementById(rowId(currentKey))?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [currentKey])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: every key has its command
    <div
      ref={(element) => {
        board.current = element
        gridRef(element)
      }}
      role="group"
      aria-label="Board"
      aria-activedescendant={currentKey ? rowId(currentKey) : undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the board's shortcuts need its focus
      tabIndex={0}
      onClick={(event) => handleRowClick(event, props)}
      onDoubleClick={(event) => handleRowClick(event, props, true)}
      className={cx(
        'flex h-full gap-2 overflow-x-auto p-2 outline-none max-sm:snap-x max-sm:snap-mandatory',
        current < 0 && ring,
      )}
    >
      {groups.map(({ value, rows: cards }) => (
        <BoardColumn
          key={value}
          value={value}
          name={nameOf(fields[field], value, directory)}
          icon={optionOf(fields[field], value, directory)?.icon}
          field={field}
          cards={cards}
          currentKey={rows[current]?.group === value ? currentKey : undefined}
          selected={selected}
          editing={editing}
          directory={directory}
          sessions={sessions}
          over={over?.column === value ? over : null}
          onEdited={props.onEdited}
          onCreateIn={props.onCreateIn}
        />
      ))}
    </div>
  )
}
