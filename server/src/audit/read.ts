import type { AuditAction, AuditEntry } from '@baton/protocol'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { nameOfUser } from '../login/names.ts'

export const auditColumns = sql`a.id, a.action, a.subject_id, a.details, a.created_at, ${nameOfUser} as actor`
export const auditTables = sql`audit_entries a left join users u on u.id = a.actor_id`

export const listAuditEntries = (
  ctx: Context,
  { workspaceId }: Member,
  query: PageQuery & { action?: AuditAction; actor_id?: string },
) =>
  page<AuditEntry>(
    ctx.keys,
    'audit',
    query,
    (entry) => [entry.id],
    (after, count) =>
      ctx.db.rows(sql`
      select ${auditColumns} from ${auditTables}
      where a.workspace_id = ${workspaceId}
        ${query.action ? sql`and a.action = ${query.action}` : none}
        ${query.actor_id ? sql`and a.actor_id = ${query.actor_id}` : none}
        ${after ? sql`and a.id < ${after[0]}` : none}
      order by a.id desc limit ${count}`),
  )
