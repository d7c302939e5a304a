import { api, type InboxEntry } from '@baton/protocol'
import type { Context } from '../context.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { page } from '../http/paging.ts'
import { route } from '../http/route.ts'
import { hintOfInbox, tellLive } from '../live/hint.ts'

export const inboxRoutes = [
  route(api.listInbox, ({ ctx, caller, query }) =>
    page<InboxEntry>(
      ctx.keys,
      'inbox',
      query,
      (entry) => [entry.id],
      (after, count) =>
        readEntries(
          ctx,
          caller,
          sql`
          ${query.unread === undefined ? none : query.unread ? sql`and e.read_at is null` : sql`and e.read_at is not null`}
          ${after ? sql`and e.id < ${after[0]}` : none}
          order by e.id desc limit ${count}`,
        ),
    ),
  ),

  route(api.updateInboxEntry, async ({ ctx, caller, params, body }) => {
    const changed = await ctx.db.run(sql`
      update inbox_entries set read_at = ${body.read ? sql`coalesce(read_at, ${ctx.clock.now()})` : sql`null`}
      where id = ${params.entry_id} and workspace_id = ${caller.workspaceId} and user_id = ${caller.id}`)
    if (changed > 0) tellLive(ctx.db, [hintOfInbox(caller.workspaceId, caller.id)])
    return found((await readEntries(ctx, caller, sql`and e.id = ${params.entry_id}`))[0])
  }),

  route(api.readInbox, async ({ ctx, caller }) => {
    const changed = await ctx.db.run(sql`
      update inbox_entries set read_at = ${ctx.clock.now()}
      where workspace_id = ${caller.workspaceId} and user_id = ${caller.id} and read_at is null`)
    if (changed > 0) tellLive(ctx.db, [hintOfInbox(caller.workspaceId, caller.id)])
  }),
]

/** Titles are looked up now, so that an entry never shows what its reader may no longer see. */
const readEntries = ({ db, config }: Context, { id, workspaceId, role }: Member, rest: Sql) =>
  db.rows<InboxEntry>(sql`
    select e.id, e.kind, coalesce(e.session_id, e.comment_id, e.issue_id, e.project_id, e.endpoint_id, e.app_id)
        as subject_id,
      coalesce(i.title, p.title, w.label, a.name) as title,
      ${config.appUrl}::text || coalesce('/issue/' || i.code, '/project/' || p.id, '/settings/agent-apps/' || w.app_id, '/settings/webhooks/' || w.id,
          '/settings/agent-apps/' || a.id)
        || coalesce('#comment-' || e.comment_id, '') as url,
      case when u.id is not null then jsonb_build_object('id', u.id, 'name', u.display_name) end as actor,
      e.read_at, e.created_at
    from inbox_entries e
    left join issues i on i.id = e.issue_id
    left join projects p on p.id = e.project_id
    left join endpoints w on w.id = e.endpoint_id
    left join agent_apps a on a.id = coalesce(e.app_id, w.app_id)
    left join users u on u.id = e.actor_id
    where e.workspace_id = ${workspaceId} and e.user_id = ${id}
      and coalesce(
        not i.personal or i.reporter_id = ${id},
        not p.personal or p.owner_id = ${id},
        ${role !== 'member'} and coalesce(w.deleted_at, a.deleted_at) is null)
      ${rest}`)
