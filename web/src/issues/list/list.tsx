import type { AgentSession } from '@baton/protocol'
import { ChevronDown, Plus } from 'lucide-react'
import { type CSSProperties, memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { cx } from '../../ui/class-names.ts'
import type { Group, Grouping } from '../fields/arrange.ts'
import type { Known } from '../fields/known.tsx'
import { Cell } from './cell.tsx'
import { ListRow, type Room } from './list-row.tsx'
import { type PressEvent, pressed, ring, rowId } from './press.ts'
import type { Row } from './rows.ts'
import { useVisible } from './visible.ts'

type Item = { group: Group; row?: never } | { row: Row; group?: never }

interface Props {
  groups: readonly Group[]
  grouping: Grouping
  folded: ReadonlySet<string>
  rows: readonly Row[]
  current: number
  selected: ReadonlySet<string>
  editing: string | null
  known: Known
  sessions: ReadonlyMap<string, AgentSession>
  onEdited: () => void
  onFold: (value: string) => void
  onPress: (row: Row, what: string | undefined, event: PressEvent) => void
  onCreateIn: (value: string) => void
  gridRef: (element: HTMLElement | null) => void
}

const headHeight = 34
const heights: Record<Room, number> = { wide: 36, medium: 36, narrow: 58 }

/** Every issue under its heading; only what can be seen is drawn, however many there are. */
export function List(props: Props) {
  const { groups, grouping, folded, rows, current, selected, editing, known, sessions, gridRef } = props
  const scroller = useRef<HTMLDivElement>(null)
  const room = useRoom(scroller)
  const { items, heads, itemOfRow } = useMemo(
    () => itemsOf(groups, grouping, folded, rows),
    [groups, grouping, folded, rows],
  )
  const currentItem = current >= 0 ? itemOfRow[current] : undefined
  const sizes = useMemo(() => items.map(({ group }) => (group ? headHeight : heights[room])), [items, room])
  const { first, from, to, tops, total, scrollTo } = useVisible(scroller, sizes)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only where the keyboard went is scrolled to, not what moved meanwhile
  useLayoutEffect(() => {
    if (currentItem !== undefined) scrollTo(currentItem, heads.length > 0 ? headHeight : 0)
  }, [current, rows[current]?.key])

  const stuck = heads.findLast((head) => head <= first)
  const drawn = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
  // The heading of the first row stays on top; the row the keyboard is at stays in the page for those who hear it.
  if (currentItem !== undefined && currentItem >= to) drawn.push(currentItem)
  if (currentItem !== undefined && currentItem < from) drawn.unshift(currentItem)
  if (stuck !== undefined && stuck < from) drawn.unshift(stuck)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: every key has its command
    <div
      ref={(element) => {
        scroller.current = element
        gridRef(element)
      }}
      role="grid"
      aria-label="Issues"
      aria-rowcount={items.length}
      aria-multiselectable
      aria-activedescendant={rows[current] ? rowId(rows[current].key) : undefined}
      tabIndex={0}
      onClick={(event) => pressed(event, props)}
      onDoubleClick={(event) => pressed(event, props, true)}
      className={cx('h-full overflow-y-auto outline-none', current < 0 && ring)}
    >
      <div role="rowgroup" className="relative" style={{ height: total }}>
        {drawn.map((index) => {
          const item = items[index]
          const start = tops[index] ?? 0
          if (!item) return null
          if (item.group) {
            return (
              <GroupHead
                key={`head ${item.group.value}`}
                group={item.group}
                name={known.nameOf(grouping === 'none' ? 'status' : grouping, item.group.value)}
                icon={known.iconOf(grouping === 'none' ? 'status' : grouping, item.group.value)}
                folded={folded.has(item.group.value)}
                index={index}
                onFold={props.onFold}
                onCreateIn={props.onCreateIn}
                stuck={index === stuck}
                start={start}
              />
            )
          }
          return (
            <RowAt
              key={item.row.key}
              start={start}
              height={heights[room]}
              index={index}
              row={item.row}
              room={room}
              known={known}
              session={sessions.get(item.row.issue.id)}
              current={index === currentItem}
              selected={selected.has(item.row.issue.id)}
              editing={editing === item.row.key}
              onEdited={props.onEdited}
            />
          )
        })}
      </div>
    </div>
  )
}

/** Its place as one value, so that a row that stays where it is is not drawn again. */
const RowAt = ({
  start,
  height,
  ...row
}: Omit<Parameters<typeof ListRow>[0], 'id' | 'style'> & { start: number; height: number }) => {
  const style = useMemo<CSSProperties>(() => ({ transform: `translateY(${start}px)`, height }), [start, height])
  return <ListRow {...row} id={rowId(row.row.key)} style={style} />
}

function itemsOf(groups: readonly Group[], grouping: Grouping, folded: ReadonlySet<string>, rows: readonly Row[]) {
  const items: Item[] = []
  const heads: number[] = []
  const itemOfRow: number[] = []
  let next = 0
  for (const group of groups) {
    if (grouping !== 'none') {
      heads.push(items.length)
      items.push({ group })
    }
    if (folded.has(group.value)) continue
    for (let count = 0; count < group.issues.length; count++) {
      const row = rows[next++]
      if (!row) break
      itemOfRow.push(items.length)
      items.push({ row })
    }
  }
  return { items, heads, itemOfRow }
}

interface HeadProps {
  group: Group
  name: string
  icon: ReactNode
  folded: boolean
  index: number
  stuck: boolean
  start: number
  onFold: (value: string) => void
  onCreateIn: (value: string) => void
}

const GroupHead = memo(function GroupHead({
  group,
  name,
  icon,
  folded,
  index,
  stuck,
  start,
  onFold,
  onCreateIn,
}: HeadProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: see Cell
    <div
      role="row"
      aria-rowindex={index + 1}
      className={cx(
        'z-10 flex w-full items-center gap-1 border-b bg-sunken pr-4 pl-2',
        stuck ? 'sticky top-0' : 'absolute top-0',
      )}
      style={stuck ? { height: headHeight } : { height: headHeight, transform: `translateY(${start}px)` }}
    >
      <Cell className="min-w-0 flex-1">
        <button
          type="button"
          tabIndex={-1}
          aria-expanded={!folded}
          onClick={() => onFold(group.value)}
          className="flex h-7 max-w-full items-center gap-2 rounded px-1 font-medium hover:bg-hover"
        >
          <ChevronDown size={14} aria-hidden className={cx('shrink-0 text-ink-3', folded && '-rotate-90')} />
          {icon}
          <span className="truncate">{name}</span>
          <span className="font-normal text-ink-3 tabular">{group.issues.length.toLocaleString('en')}</span>
        </button>
      </Cell>
      <Cell>
        <button
          type="button"
          tabIndex={-1}
          aria-label={`New issue in ${name}`}
          title={`New issue in ${name}`}
          onClick={() => onCreateIn(group.value)}
          className="flex size-6 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Plus size={14} aria-hidden />
        </button>
      </Cell>
    </div>
  )
})

/** By the width of the list itself: it shrinks when something stands beside it. */
function useRoom(ref: { current: HTMLElement | null }): Room {
  const [room, setRoom] = useState<Room>(() => (innerWidth < 640 ? 'narrow' : 'wide'))
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const look = () => {
      const { clientWidth } = element
      setRoom(clientWidth < 560 ? 'narrow' : clientWidth < 880 ? 'medium' : 'wide')
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return room
}
