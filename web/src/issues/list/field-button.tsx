import type { Issue } from '@baton/protocol'
import { CircleUser } from 'lucide-react'
import type { ReactNode } from 'react'
import { Avatar } from '../../ui/avatar.tsx'
import { isolated } from '../../ui/isolated.ts'
import { none } from '../../ui/picker.tsx'
import type { Directory } from '../fields/directory.ts'
import { nameOf, optionOf } from '../fields/field.tsx'
import { type FieldId, fields } from '../fields/fields.tsx'

interface Props {
  id: FieldId
  issue: Issue
  directory: Directory
  className: string
  /** By default the icon of the value. */
  children?: ReactNode
}

/** Shows the value of a field in a row or card. The list's click listener opens its menu, by `data-do`. */
export function FieldButton({ id, issue, directory, className, children }: Props) {
  const field = fields[id]
  const [value = none] = field.read(issue)
  const name = nameOf(field, value, directory)
  return (
    <button
      type="button"
      tabIndex={-1}
      data-do={id}
      aria-label={`${field.label}: ${isolated(name)}`}
      title={name}
      className={className}
    >
      {children ?? optionOf(field, value, directory)?.icon}
    </button>
  )
}

export const AssigneeButton = (props: Omit<Props, 'id' | 'children'>) => {
  const { assignee_id } = props.issue
  return (
    <FieldButton id="assignee" {...props}>
      {assignee_id ? (
        <Avatar name={nameOf(fields.assignee, assignee_id, props.directory)} size={20} />
      ) : (
        <CircleUser size={16} strokeWidth={1.5} aria-hidden />
      )}
    </FieldButton>
  )
}
