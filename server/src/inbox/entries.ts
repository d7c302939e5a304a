import type { InboxEntry } from '@baton/protocol'
import {
  agentAppUrl,
  automationUrl,
  commentUrl,
  issueUrlSql,
  projectUrlSql,
  triageUrl,
  webhookUrl,
} from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { hintOfInbox, sendHints } from '../live/hint.ts'
import { nameOfUser } from '../login/names.ts'

export const listInbox = (ctx: Context, caller: Member, query: PageQuery & { unread?: boolean }) =>
  page<InboxEntry>(
    ctx.keys,
    'inbox',
    query,
    (entry) => [entry.id],
    (after, count) =>
      readEntries(
        ctx.db,
        ctx.config,
        caller,
        sql`
          ${query.unread === undefined ? none : query.unread ? sql`and e.read_at is null` : sql`and e.read_at is not null`}
          ${after ? sql`and e.id < ${after[0]}` : none}
          order by e.id desc limit ${count}`,
      ),
  )

export async function markEntry(ctx: Context, caller: Member, id: string, read: boolean): Promise<InboxEntry> {
  const readAt = read ? sql`coalesce(read_at, ${ctx.clock.now()})` : sql`null`
  await mark(ctx, caller, sql`read_at = ${readAt} where id = ${id}`)
  return found((await readEntries(ctx.db, ctx.config, caller, sql`and e.id = ${id}`))[0])
}

export const markAllRead = (ctx: Context, caller: Member) =>
  mark(ctx, caller, sql`read_at = ${ctx.clock.now()} where read_at is null`)

async function mark({ db }: Context, { workspaceId, id }: Member, which: Sql) {
  const changed = await db.run(sql`
    update inbox_entries set ${which} and workspace_id = ${workspaceId} and user_id = ${id}`)
  if (changed > 0) sendHints(db, [hintOfInbox(workspaceId, id)])
}

/** The tables of what the row `row` (an entry or a thread) is about: `i`, `p`, `w`, `a`, `au` and `tm`. */
export const subjectTables = (row: Sql) => sql`
  left join issues i on i.id = ${row}.issue_id
  left join projects p on p.id = ${row}.project_id
  left join endpoints w on w.id = ${row}.endpoint_id
  left join agent_apps a on a.id = coalesce(${row}.app_id, w.app_id)
  left join automations au on au.id = ${row}.automation_id
  left join teams tm on tm.id = ${row}.team_id`

export const subjectTitle = sql`coalesce(i.title, p.title, w.label, a.name, au.name, tm.name)`

export const subjectUrl = (config: Config) => sql`
  coalesce(${issueUrlSql(config)}, ${projectUrlSql(config)}, ${agentAppUrl(config, '')}::text || w.app_id,
    ${webhookUrl(config, '')}::text || w.id, ${agentAppUrl(config, '')}::text || a.id,
    ${automationUrl(config, '')}::text || au.id, ${triageUrl(config, '')}::text || tm.id)`

export type Reader = Pick<Member, 'id' | 'workspaceId' | 'role'>

/** The subject exists and its reader may still see it. */
export const subjectVisibleTo = ({ id, role }: Reader) => sql`
  coalesce(
    not i.personal or i.reporter_id = ${id},
    not p.personal or p.owner_id = ${id},
    case when au.id is not null or tm.id is not null then true end,
    (${role !== 'member'} or a.owner_user_id = ${id}) and coalesce(w.deleted_at, a.deleted_at) is null)`

/** Titles are read at the time of the request, so that an entry shows nothing its reader may no longer see. */
export const readEntries = (db: Queryable, config: Config, reader: Reader, rest: Sql) =>
  db.rows<InboxEntry>(sql`
    select e.id, e.kind, coalesce(e.session_id, e.comment_id, e.issue_id, e.project_id, e.endpoint_id, e.app_id,
        e.automation_id, e.team_id) as subject_id,
      ${subjectTitle} as title,
      ${subjectUrl(config)} || coalesce(${commentUrl('', '')}::text || e.comment_id, '') as url,
      ${nameOfUser} as actor,
      e.read_at, e.created_at
    from inbox_entries e ${subjectTables(sql`e`)}
    left join users u on u.id = e.actor_id
    where e.workspace_id = ${reader.workspaceId} and e.user_id = ${reader.id} and ${subjectVisibleTo(reader)}
      ${rest}`)
