import type { Issue, IssueChange } from '@baton/protocol'
import { moment } from '../clock.ts'
import type { ReferenceIds, References } from '../planning/references.ts'

const sorted = (ids: readonly string[]) => [...new Set(ids)].sort()

/** The issue after a change, including fields that follow from a new team, project, status or visibility. */
export function applyChange(before: Issue, change: IssueChange, now: Date): Issue {
  const after: Issue = { ...before, ...change }
  if (change.due_date !== undefined) after.due_date = moment(change.due_date)
  for (const field of ['label_ids', 'blocks_ids', 'blocked_by_ids'] as const) after[field] = sorted(after[field])
  if (after.personal && !before.personal) Object.assign(after, fieldsClearedByPersonal(before, change))
  // A milestone belongs to a project and a cycle to a team: they are cleared with them, unless the change sets them.
  if (after.project_id !== before.project_id && change.milestone_id === undefined) after.milestone_id = null
  if (after.team_id !== before.team_id && change.cycle_id === undefined) after.cycle_id = null
  if (after.status !== before.status) after.completed_at = after.status === 'done' ? now.toISOString() : null
  return after
}

/**
 * An issue that becomes personal loses team, assignee, delegate and blocks, unless the change sets them
 * (issue.made-personal-loses-team).
 */
const fieldsClearedByPersonal = (before: Issue, change: IssueChange): Partial<Issue> => ({
  ...(change.team_id === undefined && { team_id: null }),
  ...(change.assignee_id === undefined && before.assignee_id !== before.reporter_id && { assignee_id: null }),
  ...(change.delegate_id === undefined && { delegate_id: null }),
  ...(change.blocks_ids === undefined && { blocks_ids: [] }),
  ...(change.blocked_by_ids === undefined && { blocked_by_ids: [] }),
})

/** The ids that are new in `after`. When `personal` changes, all ids are checked again. */
export function referencesToCheck(after: Issue, before: Issue | null): ReferenceIds {
  const known = before?.personal === after.personal ? before : null
  const isNew = (field: keyof Issue) => !known || known[field] !== after[field]
  const one = (field: 'team_id' | 'assignee_id' | 'project_id' | 'milestone_id' | 'cycle_id' | 'parent_id') =>
    isNew(field) && after[field] !== null ? [after[field]] : []
  const many = (field: 'label_ids' | 'blocks_ids' | 'blocked_by_ids') =>
    after[field].filter((id) => !known?.[field].includes(id))
  return {
    team: one('team_id'),
    person: one('assignee_id'),
    project: one('project_id'),
    milestone: isNew('project_id') && after.milestone_id ? [after.milestone_id] : one('milestone_id'),
    cycle: isNew('team_id') && after.cycle_id ? [after.cycle_id] : one('cycle_id'),
    label: many('label_ids'),
    issue: [...one('parent_id'), ...many('blocks_ids'), ...many('blocked_by_ids')],
  }
}

interface ReferenceCheck {
  issue: Issue
  /** Owner of the issue if it is personal. */
  owner: string
  /** The ids that were looked up. */
  checked: ReferenceIds
  references: References
}

type FieldErrors = Record<string, string>

/** One message per field with an invalid reference, among the ids in `checked`. */
export function badReferences(issue: Issue, owner: string, checked: ReferenceIds, references: References): FieldErrors {
  const check = { issue, owner, checked, references }
  return { ...badPlace(check), ...badPeople(check), ...badRelations(check) }
}

const isChecked = ({ checked }: ReferenceCheck, kind: keyof ReferenceIds, id: string | null): id is string =>
  id !== null && [...(checked[kind] ?? [])].includes(id)

/** Only personal issues of the same owner may refer to a personal item. */
function isVisible({ issue, owner, references }: ReferenceCheck, kind: 'project' | 'issue', id: string) {
  const reference = references.get(kind, id)
  return reference && (reference.personalOf === null || (issue.personal && reference.personalOf === owner))
}

function badPlace(check: ReferenceCheck): FieldErrors {
  const { issue, references } = check
  const { team_id, project_id, milestone_id, cycle_id } = issue
  const bad: FieldErrors = {}
  if (issue.personal && team_id) bad.team_id = 'must be empty on a personal issue'
  else if (isChecked(check, 'team', team_id) && !references.get('team', team_id)) {
    bad.team_id = 'is not a team of this workspace'
  }
  if (isChecked(check, 'project', project_id) && !isVisible(check, 'project', project_id)) {
    bad.project_id = 'is not a project of this workspace'
  }
  if (isChecked(check, 'milestone', milestone_id)) {
    // The same message for both cases: the milestone may belong to a project that the caller cannot see.
    const milestone = references.get('milestone', milestone_id)
    if (!milestone || milestone.of !== project_id) bad.milestone_id = "is not a milestone of the issue's project"
  }
  if (isChecked(check, 'cycle', cycle_id)) {
    const cycle = references.get('cycle', cycle_id)
    if (!cycle) bad.cycle_id = 'is not a cycle of this workspace'
    else if (cycle.of !== team_id) bad.cycle_id = "is not a cycle of the issue's team"
  }
  return bad
}

function badPeople(check: ReferenceCheck): FieldErrors {
  const { issue, owner, references } = check
  if (!isChecked(check, 'person', issue.assignee_id)) return {}
  if (!references.get('person', issue.assignee_id)) return { assignee_id: 'is not a person of this workspace' }
  return issue.personal && issue.assignee_id !== owner ? { assignee_id: 'must be you on a personal issue' } : {}
}

function badRelations(check: ReferenceCheck): FieldErrors {
  const { issue, references } = check
  const bad: FieldErrors = {}
  if (isChecked(check, 'issue', issue.parent_id)) {
    if (issue.parent_id === issue.id) bad.parent_id = 'must be another issue'
    else if (!isVisible(check, 'issue', issue.parent_id)) bad.parent_id = 'is not an issue of this workspace'
  }
  if (issue.label_ids.some((id) => isChecked(check, 'label', id) && !references.get('label', id))) {
    bad.label_ids = 'must contain only labels of this workspace'
  }
  for (const field of ['blocks_ids', 'blocked_by_ids'] as const) Object.assign(bad, badBlocks(check, field))
  if (issue.blocks_ids.some((id) => issue.blocked_by_ids.includes(id))) {
    bad.blocked_by_ids ??= 'must not contain an issue that this one blocks'
  }
  return bad
}

/** Each of the two issues shows the id of the other, so both must be personal or both shared. */
function badBlocks(check: ReferenceCheck, field: 'blocks_ids' | 'blocked_by_ids'): FieldErrors {
  const { issue, owner, references } = check
  for (const id of issue[field].filter((id) => isChecked(check, 'issue', id))) {
    if (id === issue.id) return { [field]: 'must not contain the issue itself' }
    const other = references.get('issue', id)
    if (!other || other.personalOf !== (issue.personal ? owner : null)) {
      return { [field]: 'must contain only issues of this workspace' }
    }
  }
  return {}
}
