import type { Project, ProjectChange } from '@baton/protocol'
import { moment } from '../clock.ts'
import type { Actor } from '../http/caller.ts'
import type { ReferenceIds, References } from '../planning/references.ts'

/** The project after a change, including fields that follow from a new status or visibility. */
export function applyChange(before: Project, change: ProjectChange, caller: string, now: Date): Project {
  const after: Project = { ...before, ...change }
  for (const field of ['start_date', 'target_date'] as const) {
    const sent = change[field]
    if (sent !== undefined) after[field] = moment(sent)
  }
  for (const field of ['member_ids', 'team_ids', 'label_ids'] as const) after[field] = [...new Set(after[field])].sort()
  // The caller becomes the only person of a personal project (project.personal-hidden-from-others).
  if (after.personal && !before.personal) {
    Object.assign(after, { owner_id: change.owner_id ?? caller, team_ids: change.team_ids ?? [] })
    if (change.member_ids === undefined) after.member_ids = []
    if (change.lead_id === undefined && after.lead_id !== caller) after.lead_id = null
  }
  if (after.status !== before.status) after.completed_at = after.status === 'completed' ? now.toISOString() : null
  return after
}

export function referencesToCheck(after: Project, before: Project | null): ReferenceIds {
  const isNew = (field: keyof Project) => !before || JSON.stringify(before[field]) !== JSON.stringify(after[field])
  const one = (field: 'owner_id' | 'lead_id' | 'initiative_id') => (isNew(field) && after[field] ? [after[field]] : [])
  const many = (field: 'member_ids' | 'team_ids' | 'label_ids') => (isNew(field) ? after[field] : [])
  return {
    person: [...one('owner_id'), ...one('lead_id'), ...many('member_ids')],
    initiative: one('initiative_id'),
    team: many('team_ids'),
    label: many('label_ids'),
  }
}

/** One message per field with an invalid reference, among the ids in `checked`. */
export function badReferences(
  project: Project,
  { kind, id: owner }: Pick<Actor, 'kind' | 'id'>,
  checked: ReferenceIds,
  references: References,
): Record<string, string> {
  const bad: Record<string, string> = {}
  const missing = (kind: 'person' | 'initiative' | 'team' | 'label', id: string | null) =>
    id !== null && [...(checked[kind] ?? [])].includes(id) && !references.get(kind, id)

  // An app owns the projects it creates, but its user has no membership.
  const ownedByApp = kind === 'app' && project.owner_id === owner
  if (!ownedByApp && missing('person', project.owner_id)) bad.owner_id = 'is not a person of this workspace'
  if (missing('person', project.lead_id)) bad.lead_id = 'is not a person of this workspace'
  if (missing('initiative', project.initiative_id)) bad.initiative_id = 'is not an initiative of this workspace'
  if (project.member_ids.some((id) => missing('person', id)))
    bad.member_ids = 'must contain only people of this workspace'
  if (project.team_ids.some((id) => missing('team', id))) bad.team_ids = 'must contain only teams of this workspace'
  if (project.label_ids.some((id) => missing('label', id))) bad.label_ids = 'must contain only labels of this workspace'
  if (project.personal) {
    if (project.owner_id !== owner) bad.owner_id ??= 'must be you on a personal project'
    if (project.team_ids.length > 0) bad.team_ids ??= 'must be empty on a personal project'
    if (project.lead_id && project.lead_id !== owner) bad.lead_id ??= 'must be you on a personal project'
    if (project.member_ids.some((id) => id !== owner)) bad.member_ids ??= 'must contain only you on a personal project'
  }
  return bad
}
