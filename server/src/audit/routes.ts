import { type AuditEntry, api } from '@baton/protocol'
import { none, sql } from '../db/sql.ts'
import { page } from '../http/paging.ts'
import { route } from '../http/route.ts'

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
          case when u.id is not null then jsonb_build_object('id', u.id, 'name', u.display_name) end as actor
        from audit_entries a left join users u on u.id = a.actor_id
        where a.workspace_id = ${caller.workspaceId}
          ${query.action ? sql`and a.action = ${query.action}` : none}
          ${after ? sql`and a.id < ${after[0]}` : none}
        order by a.id desc limit ${count}`),
    ),
  ),
]
