import type { AuditAction } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { newId } from '../ids.ts'
import { hintOfLists, tellLive } from '../live/hint.ts'
import { shownIn } from './shown.ts'

export interface AuditRecord {
  workspaceId: string
  /** Null: the service itself. */
  actorId: string | null
  action: AuditAction
  /** The id of what was changed. */
  subjectId: string
  details?: Record<string, unknown>
}

/** Call in the transaction of the change, so that the change, its entry and its hint commit together. */
export async function recordAudit(
  tx: Tx,
  now: Date,
  { workspaceId, actorId, action, subjectId, details }: AuditRecord,
) {
  await tx.run(sql`
    insert into audit_entries (id, workspace_id, action, actor_id, subject_id, details, created_at)
    values (${newId('aud')}, ${workspaceId}, ${action}, ${actorId}, ${subjectId}, ${json(details ?? {})}, ${now})`)
  const list = shownIn[action]
  if (list) tellLive(tx, [hintOfLists(workspaceId, list)])
}

/** The same for what somebody does in their workspace now. */
export const recordDeed = (
  { clock }: Context,
  tx: Tx,
  { workspaceId, id: actorId }: Member,
  action: AuditAction,
  subjectId: string,
  details: Record<string, unknown> = {},
) => recordAudit(tx, clock.now(), { workspaceId, actorId, action, subjectId, details })
