import type { AgentSession, Issue } from '@baton/protocol'
import { Box, CheckSquare, CircleUser, Square } from 'lucide-react'
import { type CSSProperties, memo } from 'react'
import { LabelDot } from '../../planning/label-dot.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { cx } from '../../ui/class-names.ts'
import { ago } from '../../ui/time.tsx'
import { TitleInput } from '../edit/title-input.tsx'
import type { Known } from '../fields/known.tsx'
import { PriorityIcon, priorityLabel, StatusIcon, statusLabel } from '../fields/words.tsx'
import { AgentChip } from './agent-chip.tsx'
import { Cell } from './cell.tsx'
import { Due } from './due.tsx'
import type { Row } from './rows.ts'

/** How much there is room for: everything, the important, or two lines. */
export type Room = 'wide' | 'medium' | 'narrow'

interface Props {
  id: string
  row: Row
  room: Room
  known: Known
  session: AgentSession | undefined
  current: boolean
  selected: boolean
  editing: boolean
  onEdited: () => void
  index: number
  style: CSSProperties
  ref?: (element: HTMLElement | null) => void
}

const cell = 'flex shrink-0 items-center'
const press = 'flex size-6 items-center justify-center rounded hover:bg-line/60'

/** What is pressed in a row is told apart by `data-do`; one listener on the list hears it. Keys do the same from anywhere. */
export const ListRow = memo(function ListRow(props: Props) {
  const { id, row, room, current, selected, index, style } = props
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: see Cell
    <div
      id={id}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={selected}
      aria-current={current || undefined}
      data-row={row.key}
      style={style}
      className={cx(
        'group absolute inset-x-0 top-0 flex gap-1 border-b border-line/60 pr-4 pl-2 select-none',
        room === 'narrow' ? 'items-start pt-1.5' : 'items-center',
        selected ? 'bg-accent-wash' : current ? 'bg-hover' : 'hover:bg-hover/60',
        current && 'shadow-[inset_2px_0_0_var(--accent)]',
      )}
    >
      {room === 'narrow' ? <TwoLines {...props} /> : <OneLine {...props} />}
    </div>
  )
})

function OneLine({ row: { issue }, room, known, session, selected, editing, onEdited }: Props) {
  const project = known.projects.get(issue.project_id ?? '')
  return (
    <>
      <SelectCell issue={issue} selected={selected} />
      <PriorityCell issue={issue} />
      <Cell className={cx(cell, 'w-19 text-xs text-ink-3 tabular')}>
        <a
          href={`/issue/${issue.code}`}
          tabIndex={-1}
          data-do="open"
          className="truncate hover:text-ink hover:underline"
        >
          {issue.code}
        </a>
      </Cell>
      <StatusCell issue={issue} />
      <TitleCell issue={issue} editing={editing} onEdited={onEdited} />
      <Cell className="flex min-w-0 shrink items-center justify-end gap-1.5">
        <Labels issue={issue} known={known} most={room === 'wide' ? 3 : 1} />
        {room === 'wide' && project && (
          <span className="inline-flex h-5 max-w-40 min-w-0 items-center gap-1 rounded-full border px-2 text-xs text-ink-2">
            <Box size={11} aria-hidden className="shrink-0" />
            <span className="truncate">{project.title}</span>
          </span>
        )}
        <AgentChip issue={issue} session={session} people={known.people} />
        {issue.due_date && <Due at={issue.due_date} done={issue.status === 'done'} />}
      </Cell>
      <AssigneeCell issue={issue} known={known} />
      {room === 'wide' && (
        <Cell className={cx(cell, 'w-14 justify-end text-xs text-ink-3 tabular')}>
          <time dateTime={issue.updated_at}>{ago(issue.updated_at)}</time>
        </Cell>
      )}
    </>
  )
}

function TwoLines({ row: { issue }, known, session, selected, editing, onEdited }: Props) {
  return (
    <>
      <StatusCell issue={issue} />
      <div role="presentation" className="min-w-0 flex-1">
        <div role="presentation" className="flex h-6 items-center">
          <TitleCell issue={issue} editing={editing} onEdited={onEdited} />
        </div>
        <Cell className="flex h-5 min-w-0 items-center gap-2 text-xs text-ink-3">
          <PriorityIcon priority={issue.priority} size={12} />
          <span className="shrink-0 tabular">{issue.code}</span>
          <AgentChip issue={issue} session={session} people={known.people} />
          {issue.due_date && <Due at={issue.due_date} done={issue.status === 'done'} />}
          <Labels issue={issue} known={known} most={1} />
        </Cell>
      </div>
      <AssigneeCell issue={issue} known={known} />
      <SelectCell issue={issue} selected={selected} always />
    </>
  )
}

const SelectCell = ({ issue, selected, always }: { issue: Issue; selected: boolean; always?: boolean }) => (
  <Cell className={cell}>
    <button
      type="button"
      role="checkbox"
      aria-checked={selected}
      aria-label={`Select ${issue.code}`}
      tabIndex={-1}
      data-do="select"
      className={cx(
        press,
        selected ? 'text-accent-ink' : cx('text-ink-3', !always && 'opacity-0 group-hover:opacity-100'),
      )}
    >
      {selected ? <CheckSquare size={14} aria-hidden /> : <Square size={14} aria-hidden />}
    </button>
  </Cell>
)

const PriorityCell = ({ issue }: { issue: Issue }) => (
  <Cell className={cell}>
    <button
      type="button"
      tabIndex={-1}
      data-do="priority"
      aria-label={`Priority: ${priorityLabel(issue.priority)}`}
      title={priorityLabel(issue.priority)}
      className={press}
    >
      <PriorityIcon priority={issue.priority} />
    </button>
  </Cell>
)

const StatusCell = ({ issue }: { issue: Issue }) => (
  <Cell className={cell}>
    <button
      type="button"
      tabIndex={-1}
      data-do="status"
      aria-label={`Status: ${statusLabel(issue.status)}`}
      title={statusLabel(issue.status)}
      className={press}
    >
      <StatusIcon status={issue.status} />
    </button>
  </Cell>
)

const TitleCell = ({ issue, editing, onEdited }: { issue: Issue; editing: boolean; onEdited: () => void }) => (
  <Cell className="flex min-w-24 flex-1 items-center overflow-hidden">
    {editing ? (
      <TitleInput issue={issue} onDone={onEdited} />
    ) : (
      <a
        href={`/issue/${issue.code}`}
        tabIndex={-1}
        data-do="title"
        title={issue.title}
        className={cx('truncate px-1', issue.status === 'done' ? 'text-ink-2' : 'text-ink')}
      >
        {issue.title}
      </a>
    )}
  </Cell>
)

function AssigneeCell({ issue, known }: { issue: Issue; known: Known }) {
  const name = issue.assignee_id ? (known.people.get(issue.assignee_id)?.display_name ?? 'Somebody') : null
  return (
    <Cell className={cell}>
      <button
        type="button"
        tabIndex={-1}
        data-do="assignee"
        aria-label={`Assignee: ${name ?? 'nobody'}`}
        title={name ?? 'No assignee'}
        className={cx(press, 'text-ink-3')}
      >
        {name ? <Avatar name={name} size={20} /> : <CircleUser size={16} strokeWidth={1.5} aria-hidden />}
      </button>
    </Cell>
  )
}

/** The first few; how many more there are, as a number. */
export function Labels({ issue, known, most }: { issue: Issue; known: Known; most: number }) {
  const labels = issue.label_ids.map((id) => known.labels.get(id)).filter((label) => label !== undefined)
  if (labels.length === 0) return null
  return (
    <>
      {labels.slice(0, most).map(({ id, name, color }) => (
        <span
          key={id}
          className="inline-flex h-5 max-w-32 shrink-0 items-center gap-1.5 rounded-full border px-2 text-xs text-ink-2"
        >
          <LabelDot color={color} />
          <span className="truncate">{name}</span>
        </span>
      ))}
      {labels.length > most && (
        <span
          className="shrink-0 text-xs text-ink-3 tabular"
          title={labels
            .slice(most)
            .map(({ name }) => name)
            .join(', ')}
        >
          +{labels.length - most}
        </span>
      )}
    </>
  )
}
