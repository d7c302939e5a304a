import { type AuditEntry, api } from '@baton/protocol'
import { none, sql } from '../db/sql.ts'
import { page } from '../http/paging.ts'
import { route } from '../http/route.ts'
import { nameOfUser } from '../login/names.ts'

export const auditRoutes = [
  route(api.listAuditEntries, ({ ctx, caller, query }) =>
    page<AuditEntry>(
      ctx.keys,
      'audit',
      query,
      (entry) => [entry.id],
      (after, count) =>
        ctx.db.rows(sql`
        select a.id, a.action, a.subject_id, a.details, a.created_at,
          ${nameOfUser} as actor
        from audit_entries a left join users u on u.id = a.actor_id
        where a.workspace_id = ${caller.workspaceId}
          ${query.action ? sql`and a.action = ${query.action}` : none}
          ${after ? sql`and a.id < ${after[0]}` : none}
        order by a.id desc limit ${count}`),
    ),
  ),
]
