import type { Placeholder } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { replaceMentioned } from '../comments/imported.ts'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import { moveUserReferences } from '../db/user-references.ts'
import type { Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { replaceInHistory } from '../issues/imported.ts'
import { deletePlaceholder } from '../login/placeholders.ts'
import { transactAs } from '../workspaces/members.ts'

export const listPlaceholders = ({ db, keys }: Context, { workspaceId }: Member, query: PageQuery) =>
  page<Placeholder>(
    keys,
    'placeholders',
    query,
    ({ id }) => [id],
    (after, count) =>
      db.rows(sql`
        select u.id, u.display_name, u.created_at, array(
          select distinct r.source from external_refs r
          where r.target_id = u.id and r.workspace_id = ${workspaceId} and r.kind = 'user' order by r.source) as sources
        from users u
        where u.placeholder_in = ${workspaceId} and u.user_kind = 'human' ${after ? sql`and u.id < ${after[0]}` : none}
        order by u.id desc limit ${count}`),
  )

/** Moves all that refers to a placeholder to a member, without events, and removes the placeholder. */
export const assignPlaceholder = (ctx: Context, admitted: Member, id: string, userId: string) =>
  transactAs(ctx, admitted, 'manager', async (unit) => {
    const { tx, caller } = unit
    const { workspaceId } = caller
    const placeholder = found(
      await tx.row<{ name: string }>(sql`
        select display_name as name from users
        where id = ${id} and placeholder_in = ${workspaceId} and user_kind = 'human' for update`),
    )
    const member = await tx.row(sql`
      select 1 from memberships where workspace_id = ${workspaceId} and user_id = ${userId} for key share`)
    if (!member) throw invalid({ user_id: 'is not a member of this workspace' })
    let references = await moveUserReferences(tx, id, userId)
    references += await tx.run(sql`
      update external_refs set target_id = ${userId} where target_id = ${id} and workspace_id = ${workspaceId}`)
    references += await replaceMentioned(tx, workspaceId, id, userId)
    references += await replaceInHistory(tx, workspaceId, id, userId)
    await deletePlaceholder(tx, workspaceId, id)
    const details = { name: placeholder.name, user_id: userId, references }
    await recordAudit(unit, { action: 'placeholder.assigned', subjectId: id, details })
    return { user_id: userId, references }
  })
