import { limits, type NewView, type View, type ViewChange } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { isManager, type Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { hintOfLists, sendHints } from '../live/hint.ts'
import { transact } from '../unit-of-work.ts'
import { queryProblem } from './query.ts'

const columns = sql`id, name, shared, owner_id, query, created_at, updated_at`

const visibleTo = ({ workspaceId, id }: Member) => sql`workspace_id = ${workspaceId} and (shared or owner_id = ${id})`

export const listViews = (ctx: Context, caller: Member, query: PageQuery) =>
  page<View>(
    ctx.keys,
    'views',
    query,
    (view) => [view.id],
    (after, count) =>
      ctx.db.rows(sql`
      select ${columns} from views where ${visibleTo(caller)} ${after ? sql`and id < ${after[0]}` : none}
      order by id desc limit ${count}`),
  )

export function createView(ctx: Context, caller: Member, { name, query, shared = false }: NewView): Promise<View> {
  mustBeQuery(query)
  return transact(ctx, caller, async ({ tx, now }) => {
    await mustBeBelowLimit(tx, caller)
    const view = await tx.row<View>(sql`
      insert into views (id, workspace_id, owner_id, name, shared, query, created_at, updated_at)
      values (${newId('view')}, ${caller.workspaceId}, ${caller.id}, ${name}, ${shared}, ${query}, ${now}, ${now})
      returning ${columns}`)
    sendViewHint(tx, caller, shared)
    return found(view)
  })
}

export function updateView(ctx: Context, caller: Member, id: string, change: ViewChange): Promise<View> {
  if (change.query !== undefined) mustBeQuery(change.query)
  return transact(ctx, caller, async ({ tx, now }) => {
    const view = await lockView(tx, caller, id)
    const { name, query, shared } = { ...view, ...change }
    if (view.owner_id === null && !shared) throw invalid({ shared: 'must stay true: the view has no owner' })
    sendViewHint(tx, caller, shared || view.shared, view.owner_id)
    return found(
      await tx.row<View>(sql`
        update views set name = ${name}, query = ${query}, shared = ${shared}, updated_at = ${now}
        where id = ${id} returning ${columns}`),
    )
  })
}

export const deleteView = (ctx: Context, caller: Member, id: string): Promise<void> =>
  transact(ctx, caller, async ({ tx }) => {
    const { shared, owner_id } = await lockView(tx, caller, id)
    await tx.run(sql`delete from views where id = ${id}`)
    sendViewHint(tx, caller, shared, owner_id)
  })

/**
 * For a member who left, or, without a workspace, for an erased person: keeps their shared views without an owner and
 * deletes the others. Call after the removal. Returns how many it deleted.
 */
export async function releaseViews(tx: Tx, workspaceId: string | null, userId: string): Promise<number> {
  const theirs = sql`owner_id = ${userId} ${workspaceId ? sql`and workspace_id = ${workspaceId}` : none}`
  const deleted = await tx.run(sql`delete from views where ${theirs} and not shared`)
  await tx.run(sql`update views set owner_id = null where ${theirs}`)
  return deleted
}

/** Views that show only this team: `team` in their query is its key. Keys have letters and digits only. */
export const viewsOfTeam = (workspaceId: string, key: string) =>
  sql`workspace_id = ${workspaceId} and strpos('&' || query || '&', ${`&team=${key}&`}) > 0`

export const removeViewsOfTeam = (tx: Tx, workspaceId: string, key: string) =>
  tx.run(sql`delete from views where ${viewsOfTeam(workspaceId, key)}`)

/** For all members, or only for the owner of a private view. */
const sendViewHint = (tx: Tx, { workspaceId, id }: Member, shared: boolean, ownerId: string | null = id) =>
  sendHints(tx, [hintOfLists(workspaceId, 'Workspace', shared ? null : ownerId)])

/** Locks a view that the caller may change. */
async function lockView(tx: Tx, caller: Member, id: string): Promise<View> {
  const view = found(
    await tx.row<View>(sql`select ${columns} from views where id = ${id} and ${visibleTo(caller)} for update`),
  )
  if (view.owner_id !== caller.id && !isManager(caller)) throw new ApiError('FORBIDDEN')
  return view
}

/** Locks the membership, so that concurrent creates are counted and a leaving member creates none. */
async function mustBeBelowLimit(tx: Tx, { workspaceId, id }: Member) {
  const member = await tx.row(sql`
    select 1 from memberships where workspace_id = ${workspaceId} and user_id = ${id} for no key update`)
  if (!member) throw new ApiError('WORKSPACE_ACCESS_DENIED')
  const kept = await tx.row<{ count: number }>(sql`
    select count(*)::int as count from views where workspace_id = ${workspaceId} and owner_id = ${id}`)
  if (found(kept).count >= limits.viewsPerPerson) {
    throw new ApiError('VIEW_LIMIT_REACHED', { limit: limits.viewsPerPerson })
  }
}

function mustBeQuery(query: string) {
  const problem = queryProblem(query)
  if (problem) throw invalid({ query: problem })
}
