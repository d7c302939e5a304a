import type { File } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { found, notFound } from '../http/errors.ts'
import { issueInReach, outOfReach, projectInReach, sessionInReach } from '../installations/reach.ts'

/** Of the file `f`. */
export const fileColumns = sql`
  f.id, f.name, f.bytes::float8 as bytes, f.media_type, f.inline, f.width, f.height, f.uploader_id, f.created_at`

/** The items that the caller can access, as a condition on the link `l`. */
const linkInReach = (caller: Actor): Sql => sql`case l.target_type
  when 'issue' then exists (select from issues i where i.id = l.target_id and ${issueInReach(caller)})
  when 'project' then exists (select from projects p where p.id = l.target_id and ${projectInReach(caller)})
  when 'comment' then exists (
    select from comments c left join issues i on i.id = c.issue_id left join projects p on p.id = c.project_id
    where c.id = l.target_id and coalesce(${issueInReach(caller)}, ${projectInReach(caller)})
      ${caller.kind === 'app' ? sql`and not c.internal` : none})
  when 'session' then exists (
    select from agent_sessions s left join issues i on i.id = s.issue_id left join projects p on p.id = s.project_id
    where s.id = l.target_id and ${sessionInReach(caller)})
  else false end`

/**
 * A condition on the file `f`. It starts from the file's own links, so that an item in a request gives no access. A
 * file without a link belongs to its uploader. `offset 0` keeps PostgreSQL from reading the links of all files at once.
 */
export const fileInReach = (caller: Actor): Sql => sql`(f.workspace_id = ${caller.workspaceId} and case
  when exists (select from file_links l where l.file_id = f.id offset 0)
  then exists (select from file_links l where l.file_id = f.id and ${linkInReach(caller)} offset 0)
  else coalesce(f.uploader_id = ${caller.id}, false) end)`

/** Every item that shows it is hidden from apps: an internal comment, or an agent session of another app. */
const onlyHidden = sql`exists (select from file_links l where l.file_id = f.id) and not exists (
  select from file_links l left join comments c on c.id = l.target_id
  where l.file_id = f.id and l.target_type <> 'session' and not coalesce(c.internal, false))`

/** No access is 404 for a person, and for an app 403, except where the item itself would be 404. */
export async function findFile(db: Queryable, caller: Actor, id: string, lock = none) {
  const { reached, hidden, sha256, ...file } = found(
    await db.row<File & { sha256: Buffer; reached: boolean; hidden: boolean }>(sql`
      select ${fileColumns}, f.sha256, ${fileInReach(caller)} as reached, ${onlyHidden} as hidden
      from files f where f.id = ${id} and f.workspace_id = ${caller.workspaceId} and f.state = 'ready' ${lock}`),
  )
  if (!reached) throw hidden ? notFound() : outOfReach(caller)
  // The embedded database returns other bytes than a Buffer.
  return { file: file as File, sha256: Buffer.from(sha256) }
}
