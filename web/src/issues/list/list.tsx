import type { AgentSession } from '@baton/protocol'
import { ChevronDown, Plus } from 'lucide-react'
import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { cx } from '../../ui/class-names.ts'
import { isolated } from '../../ui/isolated.ts'
import type { Directory } from '../fields/directory.ts'
import { nameOf, optionOf } from '../fields/field.tsx'
import { fields } from '../fields/fields.tsx'
import type { Grouping } from '../fields/filter-and-group.ts'
import type { Group, Row } from '../fields/group-issues.ts'
import { Cell } from './cell.tsx'
import { layoutOf } from './layout.ts'
import { ListRow, type ListWidth } from './list-row.tsx'
import { handleRowClick, type RowClick, ring, rowId } from './row-click.ts'
import { useVisible } from './visible.ts'

interface Props {
  groups: readonly Group[]
  grouping: Grouping
  collapsed: ReadonlySet<string>
  rows: readonly Row[]
  current: number
  selected: ReadonlySet<string>
  editing: string | null
  directory: Directory
  sessions: ReadonlyMap<string, AgentSession>
  onEdited: () => void
  onCollapse: (value: string) => void
  onRowClick: (row: Row, target: string | undefined, event: RowClick) => void
  onCreateIn: (value: string) => void
  gridRef: (element: HTMLElement | null) => void
}

const headHeight = 34
const heights: Record<ListWidth, number> = { wide: 36, medium: 36, narrow: 58 }

/** Issues under their headings. Only visible rows are rendered. */
export function List(props: Props) {
  const { groups, grouping, collapsed, rows, current, selected, editing, directory, sessions, gridRef } = props
  const field = fields[grouping === 'none' ? 'status' : grouping]
  const scroller = useRef<HTMLDivElement>(null)
  const width = useListWidth(scroller)
  const hasHeads = grouping !== 'none'
  const layout = useMemo(
    () => layoutOf(groups, { collapsed, rowHeight: heights[width], headHeight: hasHeads ? headHeight : 0 }),
    [groups, collapsed, width, hasHeads],
  )
  const currentItem = current >= 0 ? layout.itemOfRow(current) : undefined
  const { first, from, to, scrollTo } = useVisible(scroller, layout)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the current row changes, not when it moves
  useLayoutEffect(() => {
    if (currentItem !== undefined) scrollTo(currentItem)
  }, [current, rows[current]?.key])

  const stuck = hasHeads ? layout.item(first)?.head : undefined
  const drawn = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
  // The heading of the first visible row sticks to the top. The current row stays rendered for screen readers.
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
      aria-rowcount={layout.length}
      aria-multiselectable
      aria-activedescendant={rows[current] ? rowId(rows[current].key) : undefined}
      tabIndex={0}
      onClick={(event) => handleRowClick(event, props)}
      onDoubleClick={(event) => handleRowClick(event, props, true)}
      className={cx('h-full overflow-y-auto outline-none', current < 0 && ring)}
    >
      <div role="rowgroup" className="relative" style={{ height: layout.height }}>
        {drawn.map((index) => {
          const { group, row, top } = layout.item(index) ?? {}
          if (row) {
            return (
              <ListRow
                key={row.key}
                top={top ?? 0}
                height={layout.rowHeight}
                index={index}
                row={row}
                width={width}
                directory={directory}
                session={sessions.get(row.issue.id)}
                current={index === currentItem}
                selected={selected.has(row.issue.id)}
                editing={editing === row.key}
                onEdited={props.onEdited}
              />
            )
          }
          return (
            group && (
              <GroupHead
                key={`head ${group.value}`}
                group={group}
                name={nameOf(field, group.value, directory)}
                icon={optionOf(field, group.value, directory)?.icon}
                collapsed={collapsed.has(group.value)}
                index={index}
                onCollapse={props.onCollapse}
                onCreateIn={props.onCreateIn}
                stuck={index === stuck}
                top={top ?? 0}
              />
            )
          )
        })}
      </div>
    </div>
  )
}

interface HeadProps {
  group: Group
  name: string
  icon: ReactNode
  collapsed: boolean
  index: number
  stuck: boolean
  top: number
  onCollapse: (value: string) => void
  onCreateIn: (value: string) => void
}

const GroupHead = memo(function GroupHead({
  group,
  name,
  icon,
  collapsed,
  index,
  stuck,
  top,
  onCollapse,
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
      style={stuck ? { height: headHeight } : { height: headHeight, transform: `translateY(${top}px)` }}
    >
      <Cell className="min-w-0 flex-1">
        <button
          type="button"
          tabIndex={-1}
          aria-expanded={!collapsed}
          onClick={() => onCollapse(group.value)}
          className="flex h-7 max-w-full items-center gap-2 rounded px-1 font-medium hover:bg-hover"
        >
          <ChevronDown size={14} aria-hidden className={cx('shrink-0 text-ink-3', collapsed && '-rotate-90')} />
          {icon}
          <span className="truncate">
            <bdi>{name}</bdi>
          </span>
          <span className="font-normal text-ink-3 tabular">{group.rows.length.toLocaleString('en')}</span>
        </button>
      </Cell>
      <Cell>
        <button
          type="button"
          tabIndex={-1}
          aria-label={`New issue in ${isolated(name)}`}
          title={`New issue in ${isolated(name)}`}
          onClick={() => onCreateIn(group.value)}
          className="flex size-6 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Plus size={14} aria-hidden />
        </button>
      </Cell>
    </div>
  )
})

/** By the width of the list, which is smaller beside a preview. */
function useListWidth(ref: { current: HTMLElement | null }): ListWidth {
  const [width, setWidth] = useState<ListWidth>(() => (innerWidth < 640 ? 'narrow' : 'wide'))
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const measure = () => {
      const { clientWidth } = element
      setWidth(clientWidth < 560 ? 'narrow' : clientWidth < 880 ? 'medium' : 'wide')
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return width
}
