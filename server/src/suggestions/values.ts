import { type Issue, IssueData, type Suggestion } from '@baton/protocol'
import type { Actor } from '../http/caller.ts'
import { originalProblem } from '../issues/duplicates.ts'
import { References } from '../planning/references.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

export type Suggested = Pick<Suggestion, 'field' | 'value'>

const { priority, type } = IssueData.properties
const oneOf = (values: readonly unknown[], value: string) =>
  values.includes(value) ? undefined : `must be one of ${values.join(', ')}`

/** What is wrong with each value for this issue, as `PUT /issues` would say it; undefined for one that fits. */
export async function findProblems(
  unit: UnitOfWork<Actor>,
  issue: Issue,
  suggested: readonly Suggested[],
): Promise<(string | undefined)[]> {
  const ids = (field: Suggested['field']) => suggested.flatMap((one) => (one.field === field ? [one.value] : []))
  const references = await References.find(unit.tx, unit.caller, {
    label: ids('label'),
    person: ids('assignee'),
    project: ids('project'),
  })
  const problems: (string | undefined)[] = []
  for (const one of suggested) problems.push(await problemOf(unit, issue, one, references))
  return problems
}

async function problemOf(
  unit: UnitOfWork<Actor>,
  issue: Issue,
  { field, value }: Suggested,
  references: References,
): Promise<string | undefined> {
  switch (field) {
    case 'priority':
      return oneOf(priority.enum, value)
    case 'type':
      return oneOf(type.enum, value)
    case 'label':
      return references.get('label', value) ? undefined : 'is not a label of this workspace'
    case 'assignee':
      if (!references.get('person', value)) return 'is not a person of this workspace'
      return issue.personal && value !== issue.reporter_id ? 'must be the reporter of a personal issue' : undefined
    case 'project': {
      const project = references.get('project', value)
      const isVisible =
        project && (project.personalOf === null || (issue.personal && project.personalOf === issue.reporter_id))
      return isVisible ? undefined : 'is not a project of this workspace'
    }
    case 'duplicate_of':
      return originalProblem(unit, issue, value)
  }
}
