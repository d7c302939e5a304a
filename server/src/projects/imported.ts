import type { Queryable } from '../db/database.ts'
import { insertRows, sql } from '../db/sql.ts'

export interface ImportedProject {
  id: string
  title: string
  description: string
  team_ids: string[]
}

/** Inserts projects of another tracker, without events. */
export async function insertImportedProjects(
  tx: Queryable,
  workspaceId: string,
  now: Date,
  projects: readonly ImportedProject[],
) {
  if (projects.length === 0) return
  const rows = projects.map(({ team_ids: _, ...project }) => ({
    ...project,
    workspace_id: workspaceId,
    status: 'in_progress',
    priority: 'no_priority',
    personal: false,
    created_at: now,
    updated_at: now,
  }))
  const columns = sql`id, workspace_id, title, description, status, priority, personal, created_at, updated_at`
  await tx.run(insertRows(sql`projects`, columns, rows))
  const pairs = projects.flatMap(({ id, team_ids }) => team_ids.map((team) => [id, team] as const))
  await tx.run(sql`
    insert into project_teams (workspace_id, project_id, team_id)
    select ${workspaceId}, project_id, team_id
    from unnest(${pairs.map(([id]) => id)}::text[], ${pairs.map(([, team]) => team)}::text[]) as n (project_id, team_id)
    on conflict do nothing`)
}
