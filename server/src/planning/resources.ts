import type { Cycle, Initiative, Label, Milestone } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { projectInReach } from '../installations/reach.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { teamCovered } from '../workspaces/coverage.ts'
import { SimpleResource } from './simple-resource.ts'

export const labels = new SimpleResource<Label>({
  table: sql`labels`,
  prefix: 'lbl',
  columns: sql`id, name, color, created_at, updated_at`,
  changeable: sql`name, color`,
  needsAllTeams: 'to change',
})

/** Keeps the ids of a label, and of those merged into it before, with the label that takes its place. */
export const rememberMerged = ({ tx, caller }: UnitOfWork<Actor>, id: string, intoId: string) =>
  tx.run(sql`
    update labels t set merged_label_ids = t.merged_label_ids || old.merged_label_ids || old.id
    from labels old
    where t.workspace_id = ${caller.workspaceId} and t.id = ${intoId}
      and old.workspace_id = ${caller.workspaceId} and old.id = ${id}`)

export const milestones = new SimpleResource<Milestone>({
  table: sql`milestones`,
  prefix: 'mil',
  columns: sql`id, project_id, name, target_date, created_at, updated_at`,
  changeable: sql`name, target_date`,
  personalOf: sql`(select coalesce(p.owner_id, '') from projects p where p.id = t.project_id and p.personal)`,
  visibleTo: (caller) => sql`t.project_id in (select p.id from projects p where ${projectInReach(caller)})`,
})

export const cycles = new SimpleResource<Cycle>({
  table: sql`cycles`,
  prefix: 'cyc',
  columns: sql`id, team_id, name, starts_at, ends_at, created_at, updated_at`,
  changeable: sql`name, starts_at, ends_at`,
  visibleTo: (caller) => teamCovered(caller, sql`t.team_id`),
})

export const initiatives = new SimpleResource<Initiative>({
  table: sql`initiatives`,
  prefix: 'ini',
  columns: sql`id, name, description, created_at, updated_at`,
  changeable: sql`name, description`,
  needsAllTeams: 'to create or change',
})
