import type { Issue, IssueChange } from '@baton/protocol'
import { moment } from '../clock.ts'
import type { References, Wanted } from '../planning/references.ts'

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
export function wantedOf(after: Issue, before: Issue | null): Wanted {
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

/** One message for each reference that cannot stand. `wanted` says which were looked up. */
export function badReferences(
  issue: Issue,
  owner: string,
  wanted: Wanted,
  references: References,
): Record<string, string> {
  const bad: Record<string, string> = {}
  const asked = (kind: keyof Wanted, id: string) => [...(wanted[kind] ?? [])].includes(id)
  const refuse = (field: string, message: string) => {
    bad[field] ??= message
  }
  /** What is personal can be seen by its owner alone, and only from what is personal too. */
  const visible = (kind: 'project' | 'issue', id: string) => {
    const reference = references.get(kind, id)
    return reference && (reference.personalOf === null || (issue.personal && reference.personalOf === owner))
  }

  const { team_id, assignee_id, project_id, milestone_id, cycle_id, parent_id } = issue
  if (issue.personal && team_id) refuse('team_id', 'must be empty on a personal issue')
  if (team_id && asked('team', team_id) && !references.get('team', team_id)) {
    refuse('team_id', 'is not a team of this workspace')
  }
  if (assignee_id && asked('person', assignee_id)) {
    if (!references.get('person', assignee_id)) refuse('assignee_id', 'is not a person of this workspace')
    else if (issue.personal && assignee_id !== owner) refuse('assignee_id', 'must be you on a personal issue')
  }
  if (project_id && asked('project', project_id) && !visible('project', project_id)) {
    refuse('project_id', 'is not a project of this workspace')
  }
  if (milestone_id && asked('milestone', milestone_id)) {
    // One message for both: a milestone elsewhere may be of a project that only somebody else sees.
    const milestone = references.get('milestone', milestone_id)
    if (!milestone || milestone.of !== project_id) refuse('milestone_id', "is not a milestone of the issue's project")
  }
  if (cycle_id && asked('cycle', cycle_id)) {
    const cycle = references.get('cycle', cycle_id)
    if (!cycle) refuse('cycle_id', 'is not a cycle of this workspace')
    else if (cycle.of !== team_id) refuse('cycle_id', "is not a cycle of the issue's team")
  }
  if (parent_id && asked('issue', parent_id)) {
    if (parent_id === issue.id) refuse('parent_id', 'must be another issue')
    else if (!visible('issue', parent_id)) refuse('parent_id', 'is not an issue of this workspace')
  }
  for (const id of issue.label_ids) {
    if (asked('label', id) && !references.get('label', id)) refuse('label_ids', 'must hold labels of this workspace')
  }
  for (const field of ['blocks_ids', 'blocked_by_ids'] as const) {
    for (const id of issue[field]) {
      if (!asked('issue', id)) continue
      const other = references.get('issue', id)
      if (id === issue.id) refuse(field, 'must hold other issues')
      // Each side shows the other's id, so both are personal or neither is.
      else if (!other || other.personalOf !== (issue.personal ? owner : null)) {
        refuse(field, 'must hold issues of this workspace')
      }
    }
  }
  if (issue.blocks_ids.some((id) => issue.blocked_by_ids.includes(id))) {
    refuse('blocked_by_ids', 'must not hold an issue that this one blocks')
  }
  return bad
}
