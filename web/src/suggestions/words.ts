import type { IssueType, Priority, Suggestion } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useIssues } from '../data/issues.ts'
import { labelsQuery } from '../data/planning.ts'
import { projectsQuery } from '../data/projects.ts'
import { usePeople } from '../data/workspaces.ts'
import { priorityLabel, typeLabel } from '../issues/fields/values.tsx'

const fields: Record<Suggestion['field'], string> = {
  priority: 'Priority',
  type: 'Type',
  label: 'Label',
  assignee: 'Assignee',
  project: 'Project',
  duplicate_of: 'Duplicate of',
}

/** Field and value of a suggestion in words; ids become names. */
export function useSuggestionWords() {
  const labels = useQuery(labelsQuery).data ?? []
  const projects = useQuery(projectsQuery).data ?? []
  const people = usePeople()
  const { issues } = useIssues()
  return ({ field, value }: Pick<Suggestion, 'field' | 'value'>) => ({
    field: fields[field],
    value: name(field, value),
  })

  function name(field: Suggestion['field'], value: string): string {
    switch (field) {
      case 'priority':
        return priorityLabel(value as Priority)
      case 'type':
        return typeLabel(value as IssueType)
      case 'label':
        return labels.find(({ id }) => id === value)?.name ?? 'Deleted label'
      case 'assignee':
        return people.get(value)?.display_name ?? 'Former member'
      case 'project':
        return projects.find(({ id }) => id === value)?.title ?? 'Deleted project'
      case 'duplicate_of': {
        const issue = issues.find(({ id }) => id === value)
        return issue ? `${issue.code} ${issue.title}` : 'Deleted issue'
      }
    }
  }
}
