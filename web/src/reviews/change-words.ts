import type { IssueChangeRecord, IssueStatus, IssueType, Priority } from '@baton/protocol'
import { priorityLabel, statusLabel, typeLabel } from '../issues/fields/values.tsx'

const labels: Record<string, (value: never) => string> = {
  status: (value: IssueStatus) => statusLabel(value),
  priority: (value: Priority) => priorityLabel(value),
  type: (value: IssueType) => typeLabel(value),
}

/** "Priority: High" for values with a label, and the name of the field for others. */
export const changeWords = ({ changes }: IssueChangeRecord): string[] =>
  Object.entries(changes).map(([field, { to }]) => {
    const name = field.replace(/_ids?$/, '').replaceAll('_', ' ')
    const title = name.charAt(0).toUpperCase() + name.slice(1)
    const label = labels[field]
    return label ? `${title}: ${label(to as never)}` : `${title} changed`
  })
