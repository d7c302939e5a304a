import type { Issue, IssueChange } from '@baton/protocol'
import { moment } from '../clock.ts'
import type { ReferenceIds, References } from '../planning/references.ts'

const sorted = (ids: readonly string[]) => [...new Set(ids)].sort()

/** The issue as it will be after a change; what a change of team, project or privacy takes along goes with it. */
export function changed(before: Issue, change: IssueChange, now: Date): Issue {
  const after: Issue = { ...before, ...change }
  if (change.due_date !== undefined) after.due_date = moment(change.due_date)
  for (const field of ['label_ids', 'blocks_ids', 'blocked_by_ids'] as const) after[field] = sorted(after[field])
  if (after.personal && !before.personal) Object.assign(after, madePersonal(before, change))
  // A milestone belongs to a project and a cycle to a team: who leaves those leaves them too, unless told otherwise.
  if (after.project_id !== before.project_id && change.milestone_id === undefined) after.milestone_id = null
  if (after.team_id !== before.team_id && change.cycle_id === undefined) after.cycle_id = null
  if (after.status !== before.status) after.completed_at = after.status === 'done' ? now.toISOString() : null
  return after
}

/** decisions 3: it loses its team; what would let others see it, or it others, goes too, unless it was sent anew. */
const madePersonal = (before: Issue, change: IssueChange): Partial<Issue> => ({
  ...(change.team_id === undefined && { team_id: null }),
  ...(change.assignee_id === undefined && before.assignee_id !== before.reporter_id && { assignee_id: null }),
  ...(change.delegate_id === undefined && { delegate_id: null }),
  ...(change.blocks_ids === undefined && { blocks_ids: [] }),
  ...(change.blocked_by_ids === undefined && { blocked_by_ids: [] }),
})

/** The ids in which `after` differs from what is known to be good. When an issue becomes shared, none is. */
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

/** An issue as it is to be, whose it is if it is personal, and what was found of the ids that were looked up. */
interface Judged {
  issue: Issue
  owner: string
  wanted: ReferenceIds
  references: References
}

type Bad = Record<string, string>

/** One message for each reference that cannot stand. `wanted` says which were looked up. */
export function badReferences(issue: Issue, owner: string, wanted: ReferenceIds, references: References): Bad {
  const judged = { issue, owner, wanted, references }
  return { ...badPlace(judged), ...badPeople(judged), ...badRelations(judged) }
}

const asked = ({ wanted }: Judged, kind: keyof ReferenceIds, id: string | null): id is string =>
  id !== null && [...(wanted[kind] ?? [])].includes(id)

/** What is personal can be seen by its owner alone, and only from what is personal too. */
function isVisible({ issue, owner, references }: Judged, kind: 'project' | 'issue', id: string) {
  const reference = references.get(kind, id)
  return reference && (reference.personalOf === null || (issue.personal && reference.personalOf === owner))
}

function badPlace(judged: Judged): Bad {
  const { issue, references } = judged
  const { team_id, project_id, milestone_id, cycle_id } = issue
  const bad: Bad = {}
  if (issue.personal && team_id) bad.team_id = 'must be empty on a personal issue'
  else if (asked(judged, 'team', team_id) && !references.get('team', team_id)) {
    bad.team_id = 'is not a team of this workspace'
  }
  if (asked(judged, 'project', project_id) && !isVisible(judged, 'project', project_id)) {
    bad.project_id = 'is not a project of this workspace'
  }
  if (asked(judged, 'milestone', milestone_id)) {
    // One message for both: a milestone elsewhere may be of a project that only somebody else sees.
    const milestone = references.get('milestone', milestone_id)
    if (!milestone || milestone.of !== project_id) bad.milestone_id = "is not a milestone of the issue's project"
  }
  if (asked(judged, 'cycle', cycle_id)) {
    const cycle = references.get('cycle', cycle_id)
    if (!cycle) bad.cycle_id = 'is not a cycle of this workspace'
    else if (cycle.of !== team_id) bad.cycle_id = "is not a cycle of the issue's team"
  }
  return bad
}

function badPeople(judged: Judged): Bad {
  const { issue, owner, references } = judged
  if (!asked(judged, 'person', issue.assignee_id)) return {}
  if (!references.get('person', issue.assignee_id)) return { assignee_id: 'is not a person of this workspace' }
  return issue.personal && issue.assignee_id !== owner ? { assignee_id: 'must be you on a personal issue' } : {}
}

function badRelations(judged: Judged): Bad {
  const { issue, references } = judged
  const bad: Bad = {}
  if (asked(judged, 'issue', issue.parent_id)) {
    if (issue.parent_id === issue.id) bad.parent_id = 'must be another issue'
    else if (!isVisible(judged, 'issue', issue.parent_id)) bad.parent_id = 'is not an issue of this workspace'
  }
  if (issue.label_ids.some((id) => asked(judged, 'label', id) && !references.get('label', id))) {
    bad.label_ids = 'must hold labels of this workspace'
  }
  for (const field of ['blocks_ids', 'blocked_by_ids'] as const) Object.assign(bad, badBlocks(judged, field))
  if (issue.blocks_ids.some((id) => issue.blocked_by_ids.includes(id))) {
    bad.blocked_by_ids ??= 'must not hold an issue that this one blocks'
  }
  return bad
}

/** Each side shows the other's id, so both are personal or neither is. */
function badBlocks(judged: Judged, field: 'blocks_ids' | 'blocked_by_ids'): Bad {
  const { issue, owner, references } = judged
  for (const id of issue[field].filter((id) => asked(judged, 'issue', id))) {
    if (id === issue.id) return { [field]: 'must hold other issues' }
    const other = references.get('issue', id)
    if (!other || other.personalOf !== (issue.personal ? owner : null)) {
      return { [field]: 'must hold issues of this workspace' }
    }
  }
  return {}
}
