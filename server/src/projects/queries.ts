import type { Project } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { insertRows, json, sql } from '../db/sql.ts'

/** A project without its URL, which is derived from its id. */
export type StoredProject = Omit<Project, 'url'>

export const projectColumns = sql`
  p.id, p.title, p.description, p.status, p.priority, p.health_status, p.owner_id, p.lead_id, p.initiative_id,
  array(select user_id from project_members where project_id = p.id order by user_id) as member_ids,
  array(select team_id from project_teams where project_id = p.id order by team_id) as team_ids,
  array(select label_id from project_labels where project_id = p.id order by label_id) as label_ids,
  p.start_date, p.target_date, p.completed_at,
  (select 100.0::double precision * count(*) filter (where status = 'done') / nullif(count(*), 0)
   from issues where project_id = p.id and (p.personal or not personal)) as progress,
  p.created_at, p.updated_at, p.personal`

/** Columns that an update can set. */
const changeable = sql`
  title, description, status, priority, health_status, owner_id, lead_id, initiative_id, personal, start_date,
  target_date, completed_at, updated_at`

export async function insertProject(tx: Queryable, workspaceId: string, project: StoredProject) {
  const row = { ...project, workspace_id: workspaceId }
  await tx.run(insertRows(sql`projects`, sql`id, workspace_id, created_at, ${changeable}`, [row]))
  await replaceRelations(tx, workspaceId, project)
}

export async function updateProjectRow(tx: Queryable, workspaceId: string, project: StoredProject) {
  await tx.run(sql`
    update projects p set (${changeable}) = (select ${changeable} from jsonb_populate_record(p, ${json(project)}))
    where id = ${project.id}`)
  await replaceRelations(tx, workspaceId, project)
}

async function replaceRelations(tx: Queryable, workspaceId: string, project: StoredProject) {
  const { id, member_ids, team_ids, label_ids } = project
  await tx.run(sql`delete from project_members where project_id = ${id} and user_id <> all(${member_ids})`)
  await tx.run(sql`delete from project_teams where project_id = ${id} and team_id <> all(${team_ids})`)
  await tx.run(sql`delete from project_labels where project_id = ${id} and label_id <> all(${label_ids})`)
  await tx.run(sql`
    insert into project_members (workspace_id, project_id, user_id)
    select ${workspaceId}, ${id}, unnest(${member_ids}::text[]) on conflict do nothing`)
  await tx.run(sql`
    insert into project_teams (workspace_id, project_id, team_id)
    select ${workspaceId}, ${id}, unnest(${team_ids}::text[]) on conflict do nothing`)
  await tx.run(sql`
    insert into project_labels (workspace_id, project_id, label_id)
    select ${workspaceId}, ${id}, unnest(${label_ids}::text[]) on conflict do nothing`)
}

/** Writes a label that many projects have in place of another. */
export async function replaceLabelRows(
  tx: Queryable,
  workspaceId: string,
  pairs: readonly (readonly [before: StoredProject, after: StoredProject])[],
  label: string,
  by: string,
) {
  const changed = pairs.map(([, { id, updated_at }]) => ({ id, updated_at }))
  const ids = changed.map(({ id }) => id)
  await tx.run(sql`
    insert into project_labels (workspace_id, project_id, label_id)
    select ${workspaceId}, unnest(${ids}::text[]), ${by} on conflict do nothing`)
  await tx.run(sql`delete from project_labels where project_id = any(${ids}) and label_id = ${label}`)
  await tx.run(sql`
    update projects p set updated_at = n.updated_at
    from jsonb_to_recordset(${json(changed)}) as n (id text, updated_at timestamptz) where p.id = n.id`)
}
