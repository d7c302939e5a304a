import type { Comment, CommentChange, CommentTarget, NewComment } from '@baton/protocol'
import { laterThan } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { json, none, sql } from '../db/sql.ts'
import { heardOfComment, type PlacedComment, readComments, withoutPlace } from '../events/comments.ts'
import { actorOf, record } from '../events/record.ts'
import { isManager, type Member } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { notify } from '../inbox/notify.ts'
import { mentionedIn } from './mentions.ts'

interface Target {
  target_type: CommentTarget
  target_id: string
}

export async function listComments(ctx: Context, caller: Member, query: PageQuery & Target) {
  await mustSee(ctx.db, caller, query)
  const column = query.target_type === 'issue' ? sql`c.issue_id` : sql`c.project_id`
  return page<Comment>(
    ctx.keys,
    `comments on ${query.target_id}`,
    query,
    (comment) => [comment.id],
    async (after, count) => {
      const comments = await readComments(
        ctx.config,
        ctx.db,
        sql`${column} = ${query.target_id} and ${standsInSight(caller)} ${after ? sql`and c.id > ${after[0]}` : none} order by c.id limit ${count}`,
      )
      return comments.map(withoutPlace)
    },
  )
}

/** `i` or `p` is what the comment stands on. */
const standsInSight = ({ id }: Member) =>
  sql`coalesce(not i.personal or i.reporter_id = ${id}, not p.personal or p.owner_id = ${id})`

export const readComment = async (ctx: Context, caller: Member, id: string) =>
  withoutPlace(await findComment(ctx, ctx.db, caller, id))

export const createComment = (ctx: Context, caller: Member, body: NewComment) =>
  ctx.db.tx(async (tx) => {
    const now = ctx.clock.now()
    await mustSee(tx, caller, body, sql`for key share`)
    const root = body.parent_comment_id ? await rootOf(ctx, tx, caller, body, body.parent_comment_id) : null
    const id = newId('cmt')
    const row = {
      id,
      workspace_id: caller.workspaceId,
      issue_id: body.target_type === 'issue' ? body.target_id : null,
      project_id: body.target_type === 'project' ? body.target_id : null,
      parent_comment_id: root?.id ?? null,
      author_id: caller.id,
      text: body.text,
      mentioned_user_ids: await mentionedIn(tx, caller.workspaceId, body.text),
      is_resolved: false,
      // A reply shows the id of its thread, so what answers an internal comment is internal too.
      internal: Boolean(body.internal) || Boolean(root?.internal),
      created_at: now,
      updated_at: now,
    }
    await tx.run(sql`insert into comments select * from jsonb_populate_record(null::comments, ${json(row)})`)
    const comment = await findComment(ctx, tx, caller, id)
    await record(tx, now, caller.workspaceId, heardOfComment(actorOf(caller), 'create', comment))
    await tellMentioned(tx, now, caller, comment, comment.mentioned_user_ids)
    return withoutPlace(comment)
  })

export const updateComment = (ctx: Context, caller: Member, id: string, change: CommentChange) =>
  ctx.db.tx(async (tx) => {
    const now = ctx.clock.now()
    const before = await lockComment(ctx, tx, caller, id)
    const text = change.text ?? before.text
    if (text !== before.text && before.author_id !== caller.id) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only its author changes the text of a comment.' })
    }
    const edited = text !== before.text
    const is_resolved = change.is_resolved ?? before.is_resolved
    if (!edited && is_resolved === before.is_resolved) return withoutPlace(before)
    const after: PlacedComment = {
      ...before,
      text,
      is_resolved,
      mentioned_user_ids: edited ? await mentionedIn(tx, caller.workspaceId, text) : before.mentioned_user_ids,
      edited_at: edited ? now.toISOString() : before.edited_at,
      updated_at: laterThan(before.updated_at, now),
    }
    await tx.run(sql`
      update comments set text = ${after.text}, is_resolved = ${after.is_resolved}, edited_at = ${after.edited_at},
        mentioned_user_ids = ${after.mentioned_user_ids}, updated_at = ${after.updated_at}
      where id = ${id}`)
    await record(tx, now, caller.workspaceId, heardOfComment(actorOf(caller), 'update', after))
    const fresh = after.mentioned_user_ids.filter((user) => !before.mentioned_user_ids.includes(user))
    await tellMentioned(tx, now, caller, after, fresh)
    return withoutPlace(after)
  })

/** A thread goes with its first comment, and followers hear of each comment that went. */
export const deleteComment = (ctx: Context, caller: Member, id: string) =>
  ctx.db.tx(async (tx) => {
    const now = ctx.clock.now()
    const comment = await lockComment(ctx, tx, caller, id)
    if (comment.author_id !== caller.id && !isManager(caller)) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only its author or a manager deletes a comment.' })
    }
    const gone = await readComments(ctx.config, tx, sql`c.id = ${id} or c.parent_comment_id = ${id} order by c.id desc`)
    await tx.run(sql`delete from comments where id = ${id}`)
    const removed = gone.map((one) => ({ ...one, updated_at: laterThan(one.updated_at, now) }))
    await record(
      tx,
      now,
      caller.workspaceId,
      removed.flatMap((one) => heardOfComment(actorOf(caller), 'remove', one)),
    )
  })

/** Comments on what the caller may not see are not there either. */
async function findComment(ctx: Context, db: Queryable, caller: Member, id: string): Promise<PlacedComment> {
  const [comment] = await readComments(ctx.config, db, sql`c.id = ${id} and c.workspace_id = ${caller.workspaceId}`)
  const placed = found(comment)
  if (placed.personal && placed.personalOf !== caller.id) throw notFound()
  return placed
}

/** Holds a comment, its replies, and the privacy of what it stands on. */
async function lockComment(ctx: Context, tx: Tx, caller: Member, id: string) {
  await mustSee(tx, caller, await findComment(ctx, tx, caller, id), sql`for key share`)
  await tx.rows(sql`select 1 from comments where id = ${id} or parent_comment_id = ${id} order by id for update`)
  return findComment(ctx, tx, caller, id)
}

/** The thread that a reply joins: a reply to a reply goes to the first comment. */
async function rootOf(ctx: Context, tx: Tx, caller: Member, target: Target, parentId: string): Promise<PlacedComment> {
  const refusal = invalid({ parent_comment_id: `is not a comment on this ${target.target_type}` })
  const find = (id: string) =>
    readComments(ctx.config, tx, sql`c.id = ${id} and c.workspace_id = ${caller.workspaceId}`)
  const [parent] = await find(parentId)
  if (parent?.target_type !== target.target_type || parent.target_id !== target.target_id) throw refusal
  if (parent.parent_comment_id === null) return parent
  const [root] = await find(parent.parent_comment_id)
  if (!root) throw refusal
  return root
}

/** 404 unless the caller sees the issue or project. Held, it cannot be deleted or hidden before we are done with it. */
async function mustSee(db: Queryable, caller: Member, { target_type, target_id }: Target, hold = none) {
  found(
    await db.row(
      target_type === 'issue'
        ? sql`
          select 1 from issues where workspace_id = ${caller.workspaceId} and id = ${target_id}
            and (not personal or reporter_id = ${caller.id}) ${hold}`
        : sql`
          select 1 from projects where workspace_id = ${caller.workspaceId} and id = ${target_id}
            and (not personal or owner_id = ${caller.id}) ${hold}`,
    ),
  )
}

const tellMentioned = (tx: Tx, now: Date, caller: Member, comment: PlacedComment, userIds: string[]) =>
  notify(
    tx,
    now,
    caller.workspaceId,
    caller.id,
    userIds.map((userId) => ({
      kind: 'mention',
      userId,
      commentId: comment.id,
      issueId: comment.target_type === 'issue' ? comment.target_id : null,
      projectId: comment.target_type === 'project' ? comment.target_id : null,
    })),
  )
