import type { Queryable } from '../db/database.ts'
import { insertRows, sql } from '../db/sql.ts'

interface Named {
  id: string
  name: string
}

const rowsOf = (workspaceId: string, now: Date, items: readonly Named[]) =>
  items.map((item) => ({ ...item, workspace_id: workspaceId, created_at: now, updated_at: now }))

export async function insertLabels(
  tx: Queryable,
  workspaceId: string,
  now: Date,
  items: readonly (Named & { color: string | null })[],
) {
  if (items.length === 0) return
  const columns = sql`id, workspace_id, name, color, created_at, updated_at`
  // The default of merged_label_ids is kept.
  await tx.run(insertRows(sql`labels`, columns, rowsOf(workspaceId, now, items)))
}

export async function insertMilestones(
  tx: Queryable,
  workspaceId: string,
  now: Date,
  items: readonly (Named & { project_id: string; target_date: string | null })[],
) {
  if (items.length === 0) return
  const columns = sql`id, workspace_id, project_id, name, target_date, created_at, updated_at`
  await tx.run(insertRows(sql`milestones`, columns, rowsOf(workspaceId, now, items)))
}

export async function insertCycles(
  tx: Queryable,
  workspaceId: string,
  now: Date,
  items: readonly (Named & { team_id: string; starts_at: string | null; ends_at: string | null })[],
) {
  if (items.length === 0) return
  const columns = sql`id, workspace_id, team_id, name, starts_at, ends_at, created_at, updated_at`
  await tx.run(insertRows(sql`cycles`, columns, rowsOf(workspaceId, now, items)))
}
