import { fileIdsIn } from '@baton/protocol'
import type { Queryable, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { fileInReach } from './access.ts'
import { maxPerItem } from './store.ts'

export interface LinkTarget {
  type: 'issue' | 'project' | 'comment' | 'session'
  id: string
}

/** Whether saving the text may link files. */
export const refersToFiles = (text: string) => text.includes('](fil_')

/**
 * Links the files that a saved text shows to its item, if its author can access them; other references stay plain text.
 * Links are only added: an older version of the text keeps its pictures.
 */
export const linkReferenced = (
  { tx, now, caller }: UnitOfWork<Actor, Queryable>,
  target: LinkTarget,
  text: string,
): Promise<void> => linkMatching(tx, caller.workspaceId, now, [[target, fileIdsIn(text)]], fileInReach(caller))

/** The same for several items, in one statement. */
export const linkAllReferenced = (
  { tx, now, caller }: UnitOfWork<Actor, Queryable>,
  texts: readonly (readonly [target: LinkTarget, text: string])[],
): Promise<void> =>
  linkMatching(
    tx,
    caller.workspaceId,
    now,
    texts.map(([target, text]) => [target, fileIdsIn(text)] as const),
    fileInReach(caller),
  )

/** Links files of the workspace without a check of access: for files that the caller has just stored itself. */
export const linkFiles = (
  tx: Tx,
  { workspaceId, now }: { workspaceId: string; now: Date },
  links: readonly (readonly [target: LinkTarget, fileIds: readonly string[]])[],
): Promise<void> => linkMatching(tx, workspaceId, now, links, sql`f.workspace_id = ${workspaceId}`)

/**
 * Files are locked, so that the sweep does not delete one that gets a link. An item keeps at most `maxPerItem` files;
 * further ones stay plain text.
 */
async function linkMatching(
  db: Queryable,
  workspaceId: string,
  now: Date,
  links: readonly (readonly [target: LinkTarget, fileIds: readonly string[]])[],
  condition: Sql,
): Promise<void> {
  const rows = links.flatMap(([target, ids]) => ids.slice(0, maxPerItem).map((fileId) => ({ ...target, fileId })))
  if (rows.length === 0) return
  await db.run(sql`
    with wanted as (
      select * from unnest(${rows.map(({ fileId }) => fileId)}::text[], ${rows.map(({ type }) => type)}::text[],
        ${rows.map(({ id }) => id)}::text[]) as w(file_id, target_type, target_id)
    ), locked as (
      select f.id from files f
      where f.id in (select file_id from wanted) and f.state = 'ready' and ${condition}
      order by f.id for update
    ), fitting as (
      select w.*, row_number() over (partition by w.target_type, w.target_id order by w.file_id) +
        (select count(*) from file_links l where l.target_id = w.target_id and l.target_type = w.target_type) as place
      from wanted w join locked on locked.id = w.file_id
      where not exists (
        select from file_links l
        where l.file_id = w.file_id and l.target_type = w.target_type and l.target_id = w.target_id)
    ), linked as (
      insert into file_links (file_id, workspace_id, target_type, target_id, created_at)
      select file_id, ${workspaceId}, target_type, target_id, ${now} from fitting where place <= ${maxPerItem}
      on conflict do nothing returning file_id
    )
    update files set unlinked_at = null where id in (select file_id from linked)`)
}
