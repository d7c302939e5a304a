import type { AgentSession } from '@baton/protocol'
import { Box, CheckSquare } from 'lucide-react'
import { memo, useRef } from 'react'
import { cx } from '../../ui/class-names.ts'
import { PrivateMark } from '../../ui/private-mark.tsx'
import { TitleInput } from '../edit/title-input.tsx'
import type { Directory } from '../fields/directory.ts'
import type { FieldId } from '../fields/fields.tsx'
import type { Row } from '../fields/group-issues.ts'
import { AgentChip } from '../list/agent-chip.tsx'
import { Due } from '../list/due.tsx'
import { AssigneeButton, FieldButton } from '../list/field-button.tsx'
import { Labels } from '../list/list-row.tsx'
import { rowId } from '../list/row-click.ts'
import { useCardDrag } from './board-drag.ts'

interface Props {
  row: Row
  next: string | null
  /** The field of the columns, which is not shown on the cards. */
  field: FieldId
  directory: Directory
  session: AgentSession | undefined
  current: boolean
  selected: boolean
  editing: boolean
  dropBefore: boolean
  onEdited: () => void
}

const button = 'flex size-5 shrink-0 items-center justify-center rounded hover:bg-hover'

export const BoardCard = memo(function BoardCard(props: Props) {
  const { row, next, field, directory, session, current, selected, editing, dropBefore, onEdited } = props
  const { issue } = row
  const ref = useRef<HTMLLIElement>(null)
  const dragged = useCardDrag(ref, row.key, row.group, next)
  const project = field === 'project' ? undefined : directory.projects.get(issue.project_id ?? '')
  return (
    <li
      ref={ref}
      id={rowId(row.key)}
      data-row={row.key}
      aria-current={current || undefined}
      className={cx(
        'relative my-1.5 first:mt-0.5 cursor-grab space-y-1.5 rounded border px-2.5 py-2 shadow-card select-none active:cursor-grabbing',
        selected ? 'border-accent/50 bg-accent-wash' : 'bg-surface hover:border-line-strong',
        current && 'border-accent outline-1 outline-accent',
        dragged && 'opacity-40',
      )}
    >
      {dropBefore && <div aria-hidden className="absolute inset-x-0 -top-1.5 h-0.5 rounded-full bg-accent" />}
      <div className="flex items-center gap-1.5 text-xs text-ink-3">
        {selected && (
          <>
            <CheckSquare size={13} aria-hidden className="text-accent-ink" />
            <span className="sr-only">Selected</span>
          </>
        )}
        {field !== 'status' && <FieldButton id="status" issue={issue} directory={directory} className={button} />}
        <a
          href={`/issue/${issue.code}`}
          tabIndex={-1}
          draggable={false}
          data-do="open"
          className="truncate tabular hover:text-ink hover:underline"
        >
          {issue.code}
        </a>
        {issue.personal && <PrivateMark />}
        <span className="flex-1" />
        <AssigneeButton issue={issue} directory={directory} className={button} />
      </div>
      {editing ? (
        <TitleInput issue={issue} onDone={onEdited} />
      ) : (
        <a
          href={`/issue/${issue.code}`}
          tabIndex={-1}
          draggable={false}
          data-do="title"
          className={cx('line-clamp-2 wrap-anywhere', issue.status === 'done' && 'text-ink-2')}
        >
          {issue.title}
        </a>
      )}
      <div className="flex flex-wrap items-center gap-1.5">
        <FieldButton id="priority" issue={issue} directory={directory} className={button} />
        <AgentChip issue={issue} session={session} people={directory.people} />
        {issue.due_date && <Due at={issue.due_date} done={issue.status === 'done'} />}
        <Labels issue={issue} directory={directory} most={2} />
        {project && (
          <span className="inline-flex max-w-40 min-w-0 items-center gap-1 text-xs text-ink-3">
            <Box size={11} aria-hidden className="shrink-0" />
            <span className="truncate">{project.title}</span>
          </span>
        )}
      </div>
    </li>
  )
})
