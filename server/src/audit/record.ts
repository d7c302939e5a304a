import type { AuditAction } from '@baton/protocol'
import { json, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import { hintOfLists, sendHints } from '../live/hint.ts'
import type { Recording } from '../unit-of-work.ts'
import { shownIn } from './shown.ts'

interface AuditEntry {
  action: AuditAction
  /** Id of the changed item. */
  subjectId: string
  details?: Record<string, unknown>
}

/** Call in the transaction of the change, so that the change, its entry and its hint commit together. */
export async function recordAudit({ tx, now, caller }: Recording, { action, subjectId, details }: AuditEntry) {
  await tx.run(sql`
    insert into audit_entries (id, workspace_id, action, actor_id, subject_id, details, created_at)
    values (${newId('aud')}, ${caller.workspaceId}, ${action}, ${caller.id}, ${subjectId}, ${json(details ?? {})}, ${now})`)
  const list = shownIn[action]
  if (list) sendHints(tx, [hintOfLists(caller.workspaceId, list)])
}
