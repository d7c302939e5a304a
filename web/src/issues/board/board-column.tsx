import type { AgentSession } from '@baton/protocol'
import { Plus } from 'lucide-react'
import { memo, type ReactNode, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { isolated } from '../../ui/isolated.ts'
import type { Directory } from '../fields/directory.ts'
import type { FieldId } from '../fields/fields.tsx'
import type { Row } from '../fields/group-issues.ts'
import { BoardCard } from './board-card.tsx'
import { type Over, useColumnDrop } from './board-drag.ts'

interface Props {
  value: string
  name: string
  icon: ReactNode
  field: FieldId
  cards: readonly Row[]
  currentKey: string | undefined
  selected: ReadonlySet<string>
  editing: string | null
  directory: Directory
  sessions: ReadonlyMap<string, AgentSession>
  over: Over | null
  onEdited: () => void
  onCreateIn: (value: string) => void
}

/** Cards rendered at first, and added by "Show more". */
const atFirst = 40
const more = 100

/** The cards to render: from the top, or around the current card if it is further down. Moves in steps of 20. */
function windowAt(at: number, wanted: number) {
  if (at < wanted - 1) return { first: 0, end: wanted }
  const first = Math.max(0, Math.floor(at / 20) * 20 - 20)
  return { first, end: first + atFirst + 20 }
}

export const BoardColumn = memo(function BoardColumn(props: Props) {
  const { value, name, icon, field, cards, currentKey, selected, editing, directory, sessions, over } = props
  const [wanted, setWanted] = useState(atFirst)
  const list = useRef<HTMLDivElement>(null)
  useColumnDrop(list, value)
  const at = currentKey === undefined ? -1 : cards.findIndex(({ key }) => key === currentKey)
  const { first, end } = windowAt(at, wanted)
  const shown = cards.slice(first, end)
  const left = cards.length - first - shown.length
  return (
    <section
      aria-label={name}
      className="flex w-74 shrink-0 flex-col rounded-lg bg-sunken max-sm:w-[86%] max-sm:snap-center"
    >
      <h2 className="flex h-9 shrink-0 items-center gap-2 pr-1.5 pl-3 font-medium">
        {icon}
        <span className="truncate">
          <bdi>{name}</bdi>
        </span>
        <span className="flex-1 font-normal text-ink-3 tabular">{cards.length.toLocaleString('en')}</span>
        <button
          type="button"
          tabIndex={-1}
          aria-label={`New issue in ${isolated(name)}`}
          title={`New issue in ${isolated(name)}`}
          onClick={() => props.onCreateIn(value)}
          className="flex size-6 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Plus size={14} aria-hidden />
        </button>
      </h2>
      {/* Focusable, so that the keyboard can scroll it. */}
      <div
        ref={list}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        tabIndex={0}
        className={cx('min-h-0 flex-1 overflow-y-auto rounded-b-lg px-1.5 pb-1.5', over && 'bg-accent-wash/60')}
      >
        {first > 0 && (
          <Button look="quiet" size="sm" className="w-full" onClick={() => setWanted(end)}>
            Show the {first.toLocaleString('en')} above
          </Button>
        )}
        <ul aria-label={name}>
          {shown.map((row, index) => (
            <BoardCard
              key={row.key}
              row={row}
              next={cards[first + index + 1]?.key ?? null}
              field={field}
              directory={directory}
              session={sessions.get(row.issue.id)}
              current={row.key === currentKey}
              selected={selected.has(row.issue.id)}
              editing={editing === row.key}
              dropBefore={over?.before === row.key}
              onEdited={props.onEdited}
            />
          ))}
        </ul>
        {over && over.before === null && <div className="mx-1 h-0.5 rounded-full bg-accent" />}
        {left > 0 && (
          <Button look="quiet" size="sm" className="mt-1 w-full" onClick={() => setWanted(end + more)}>
            Show {Math.min(more, left)} more of {left.toLocaleString('en')}
          </Button>
        )}
      </div>
    </section>
  )
})
