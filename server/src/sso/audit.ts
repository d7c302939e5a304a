import type { AuditAction } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { sql } from '../db/sql.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** Accounts belong to no workspace, so what happens to one is recorded in each workspace of its user. */
export async function recordInWorkspacesOf(
  unit: UnitOfWork,
  userId: string,
  entry: { action: AuditAction; subjectId: string; details?: Record<string, unknown> },
  /** Null for the operator. */
  actorId: string | null = userId,
): Promise<string[]> {
  const places = await unit.tx.rows<{ id: string }>(sql`
    select workspace_id as id from memberships where user_id = ${userId} order by workspace_id`)
  for (const { id } of places) await recordAudit({ ...unit, caller: { id: actorId, workspaceId: id } }, entry)
  return places.map(({ id }) => id)
}
