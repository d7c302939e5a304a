import type { Issue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { agentName } from '../../agent-sessions/state.tsx'
import { issueSessionsQuery } from '../../data/agent-sessions.ts'
import { usePendingDelegation } from '../../delegation/delegate-issues.ts'
import type { Option } from '../../ui/picker.tsx'
import type { Property } from '../../ui/property-list.tsx'
import { useFieldMenu } from '../edit/field-menu.ts'
import { type Directory, forIssue, useDirectory } from '../fields/directory.ts'
import { fieldsIn } from '../fields/fields.tsx'
import { propertyOf } from '../fields/property.tsx'

const panelFields = fieldsIn('panel')

/** The fields of an issue in the order of the panel. */
export function useProperties(issue: Issue): Property[] {
  const directory = useDirectory(forIssue)
  const openMenu = useFieldMenu(directory)
  const delegate = useDelegateValue(issue, directory)
  return panelFields
    .filter(({ visible }) => visible?.(issue, directory) ?? true)
    .map((field) => ({
      ...propertyOf(
        field,
        issue,
        directory,
        (anchor) => openMenu(field.id, anchor, [issue], field.menuTitle ?? field.label),
        withIcons,
      ),
      ...(field.delegates && delegate),
    }))
}

const withIcons = (options: Option[]) => (
  <span className="flex flex-wrap gap-x-3 py-0.5">
    {options.map(({ value, label, icon }) => (
      <span key={value} className="inline-flex items-center gap-1.5">
        {icon}
        {label}
      </span>
    ))}
  </span>
)

/** The delegate may be a personal agent of another member, whose name only its session has. */
function useDelegateValue(issue: Issue, { people, complete }: Directory): Partial<Property> {
  const pending = usePendingDelegation(issue.id)
  const session = useQuery(issueSessionsQuery(issue.id)).data?.find(
    ({ app_user_id }) => app_user_id === issue.delegate_id,
  )
  const unlisted = issue.delegate_id && complete && !people.has(issue.delegate_id) && session
  return {
    hint: 'The assignee stays accountable.',
    ...(unlisted && { value: agentName(people, unlisted) }),
    ...(pending && { value: pending }),
  }
}
