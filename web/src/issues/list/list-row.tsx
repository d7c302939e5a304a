import type { AgentSession, Issue } from '@baton/protocol'
import { Box, CheckSquare, Square } from 'lucide-react'
import { memo } from 'react'
import { LabelDot } from '../../planning/label-dot.tsx'
import { cx } from '../../ui/class-names.ts'
import { PrivateMark } from '../../ui/private-mark.tsx'
import { timeAgo } from '../../ui/time.tsx'
import { TitleInput } from '../edit/title-input.tsx'
import type { Directory } from '../fields/directory.ts'
import type { Row } from '../fields/group-issues.ts'
import { PriorityIcon } from '../fields/values.tsx'
import { AgentChip } from './agent-chip.tsx'
import { Cell } from './cell.tsx'
import { Due } from './due.tsx'
import { AssigneeButton, FieldButton } from './field-button.tsx'
import { rowId } from './row-click.ts'

/** How much a row shows, by the width of the list: all fields, the main fields, or two lines. */
export type ListWidth = 'wide' | 'medium' | 'narrow'

interface Props {
  row: Row
  width: ListWidth
  directory: Directory
  session: AgentSession | undefined
  current: boolean
  selected: boolean
  editing: boolean
  onEdited: () => void
  index: number
  top: number
  height: number
}

const cell = 'flex shrink-0 items-center'
const button = 'flex size-6 items-center justify-center rounded hover:bg-line/60'

/** Parts of a row are identified by `data-do` for the one click listener of the list. */
export const ListRow = memo(function ListRow(props: Props) {
  const { row, width, current, selected, index, top, height } = props
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: see Cell
    <div
      id={rowId(row.key)}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={selected}
      aria-current={current || undefined}
      data-row={row.key}
      style={{ transform: `translateY(${top}px)`, height }}
      className={cx(
        'group absolute inset-x-0 top-0 flex gap-1 border-b border-line/60 pr-4 pl-2 select-none',
        width === 'narrow' ? 'items-start pt-1.5' : 'items-center',
        selected ? 'bg-accent-wash' : current ? 'bg-hover' : 'hover:bg-hover/60',
        current && 'shadow-[inset_2px_0_0_var(--accent)]',
      )}
    >
      {width === 'narrow' ? <TwoLines {...props} /> : <OneLine {...props} />}
    </div>
  )
})

function OneLine({ row: { issue }, width, directory, session, selected, editing, onEdited }: Props) {
  const project = directory.projects.get(issue.project_id ?? '')
  return (
    <>
      <SelectCell issue={issue} selected={selected} />
      <Cell className={cell}>
        <FieldButton id="priority" issue={issue} directory={directory} className={button} />
      </Cell>
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
      <Cell className={cell}>
        <FieldButton id="status" issue={issue} directory={directory} className={button} />
      </Cell>
      <TitleCell issue={issue} editing={editing} onEdited={onEdited} />
      <Cell className="flex min-w-0 shrink items-center justify-end gap-1.5">
        <Labels issue={issue} directory={directory} most={width === 'wide' ? 3 : 1} />
        {width === 'wide' && project && (
          <span className="inline-flex h-5 max-w-40 min-w-0 items-center gap-1 rounded-full border px-2 text-xs text-ink-2">
            <Box size={11} aria-hidden className="shrink-0" />
            <span className="truncate">{project.title}</span>
          </span>
        )}
        <AgentChip issue={issue} session={session} people={directory.people} />
        {issue.due_date && <Due at={issue.due_date} done={issue.status === 'done'} />}
      </Cell>
      <Cell className={cell}>
        <AssigneeButton issue={issue} directory={directory} className={cx(button, 'text-ink-3')} />
      </Cell>
      {width === 'wide' && (
        <Cell className={cx(cell, 'w-24 justify-end text-xs text-ink-3 tabular')}>
          <time dateTime={issue.updated_at}>{timeAgo(issue.updated_at)}</time>
        </Cell>
      )}
    </>
  )
}

function TwoLines({ row: { issue }, directory, session, selected, editing, onEdited }: Props) {
  return (
    <>
      <Cell className={cell}>
        <FieldButton id="status" issue={issue} directory={directory} className={button} />
      </Cell>
      <div role="presentation" className="min-w-0 flex-1">
        <div role="presentation" className="flex h-6 items-center">
          <TitleCell issue={issue} editing={editing} onEdited={onEdited} />
        </div>
        <Cell className="flex h-5 min-w-0 items-center gap-2 text-xs text-ink-3">
          <PriorityIcon priority={issue.priority} size={12} />
          <span className="shrink-0 tabular">{issue.code}</span>
          <AgentChip issue={issue} session={session} people={directory.people} />
          {issue.due_date && <Due at={issue.due_date} done={issue.status === 'done'} />}
          <Labels issue={issue} directory={directory} most={1} />
        </Cell>
      </div>
      <Cell className={cell}>
        <AssigneeButton issue={issue} directory={directory} className={cx(button, 'text-ink-3')} />
      </Cell>
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
        button,
        selected ? 'text-accent-ink' : cx('text-ink-3', !always && 'opacity-0 group-hover:opacity-100'),
      )}
    >
      {selected ? <CheckSquare size={14} aria-hidden /> : <Square size={14} aria-hidden />}
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
    {issue.personal && <PrivateMark />}
  </Cell>
)

/** The first labels, and the number of the others. */
export function Labels({ issue, directory, most }: { issue: Issue; directory: Directory; most: number }) {
  const labels = issue.label_ids.map((id) => directory.labels.get(id)).filter((label) => label !== undefined)
  if (labels.length === 0) return null
  return (
    <>
      {labels.slice(0, most).map(({ id, name, color }) => (
        <span
          key={id}
          className="inline-flex h-5 max-w-32 shrink-0 items-center gap-1.5 rounded-full border px-2 text-xs text-ink-2"
        >
          <LabelDot color={color} />
          <span className="truncate">
            <bdi>{name}</bdi>
          </span>
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
