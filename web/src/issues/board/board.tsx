import type { AgentSession } from '@baton/protocol'
import { useLayoutEffect, useMemo, useRef } from 'react'
import { cx } from '../../ui/class-names.ts'
import type { Group, Grouping } from '../fields/arrange.ts'
import type { Known } from '../fields/known.tsx'
import { type PressEvent, pressed, ring, rowId } from '../list/press.ts'
import type { Row } from '../list/rows.ts'
import { BoardColumn } from './board-column.tsx'
import { type Drop, useBoardDrag } from './board-drag.ts'

interface Props {
  groups: readonly Group[]
  grouping: Grouping
  rows: readonly Row[]
  current: number
  selected: ReadonlySet<string>
  editing: string | null
  known: Known
  sessions: ReadonlyMap<string, AgentSession>
  onEdited: () => void
  onPress: (row: Row, what: string | undefined, event: PressEvent) => void
  onCreateIn: (value: string) => void
  onDrop: (drop: Drop) => void
  gridRef: (element: HTMLElement | null) => void
}

/** The same issues in columns; a card that is dropped elsewhere changes what the columns stand for. */
export function Board(props: Props) {
  const { groups, grouping, rows, current, selected, editing, known, sessions, gridRef } = props
  const board = useRef<HTMLDivElement>(null)
  const field = grouping === 'none' ? 'status' : grouping
  const columns = useMemo(() => {
    const byGroup = new Map<string, Row[]>(groups.map(({ value }) => [value, []]))
    for (const row of rows) byGroup.get(row.group)?.push(row)
    return byGroup
  }, [groups, rows])
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
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of the board work from here
      tabIndex={0}
      onClick={(event) => pressed(event, props)}
      onDoubleClick={(event) => pressed(event, props, true)}
      className={cx(
        'flex h-full gap-2 overflow-x-auto p-2 outline-none max-sm:snap-x max-sm:snap-mandatory',
        current < 0 && ring,
      )}
    >
      {[...columns].map(([value, cards]) => (
        <BoardColumn
          key={value}
          value={value}
          name={known.nameOf(field, value)}
          icon={known.iconOf(field, value)}
          field={field}
          cards={cards}
          currentKey={cards.some(({ key }) => key === currentKey) ? currentKey : undefined}
          selected={selected}
          editing={editing}
          known={known}
          sessions={sessions}
          over={over?.column === value ? over : null}
          onEdited={props.onEdited}
          onCreateIn={props.onCreateIn}
        />
      ))}
    </div>
  )
}
