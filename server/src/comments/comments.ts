import type { Comment, CommentChange, CommentTarget, NewComment } from '@baton/protocol'
import { laterThan } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { insertRows, none, sql } from '../db/sql.ts'
import { recordComments } from '../events/comments.ts'
import { type PlacedComment, readComments, withoutPlace } from '../events/placed-comments.ts'
import { type Actor, isManager } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { notify } from '../inbox/notify.ts'
import { issueInReach, outOfReach, projectInReach, reached, reaches } from '../installations/reach.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { holdMentioned, mentionedIn, tellAgents } from './mentions.ts'

interface Target {
  target_type: CommentTarget
  target_id: string
}

export async function listComments(ctx: Context, caller: Actor, query: PageQuery & Target) {
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
const standsInSight = (caller: Actor) =>
  sql`coalesce(${issueInReach(caller)}, ${projectInReach(caller)}) ${caller.kind === 'app' ? sql`and not c.internal` : none}`

/** decisions 3: internal comments do not exist for apps. */
const isHidden = (caller: Actor, comment: Comment) => caller.kind === 'app' && comment.internal

export const readComment = async (ctx: Context, caller: Actor, id: string) =>
  withoutPlace(await findComment(ctx.db, ctx.config, caller, id))

export const createComment = (ctx: Context, caller: Actor, body: NewComment) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    if (caller.kind === 'app' && body.internal) throw invalid({ internal: 'must be false for an app' })
    const agents = await holdMentioned(unit, body.text)
    await mustSee(tx, caller, body, sql`for key share`)
    const root = body.parent_comment_id ? await rootOf(unit, body, body.parent_comment_id) : null
    const id = newId('cmt')
    const row = {
      id,
      workspace_id: caller.workspaceId,
      issue_id: body.target_type === 'issue' ? body.target_id : null,
      project_id: body.target_type === 'project' ? body.target_id : null,
      parent_comment_id: root?.id ?? null,
      author_id: caller.id,
      text: body.text,
      mentioned_user_ids: await mentionedIn(tx, caller, body.text),
      is_resolved: false,
      // A reply shows the id of its thread, so what answers an internal comment is internal too.
      internal: Boolean(body.internal) || Boolean(root?.internal),
      created_at: now,
      updated_at: now,
    }
    const columns = sql`
      id, workspace_id, issue_id, project_id, parent_comment_id, author_id, text, mentioned_user_ids, is_resolved, internal,
      created_at, updated_at`
    await tx.run(insertRows(sql`comments`, columns, [row]))
    const comment = await findComment(tx, config, caller, id)
    await recordComments(unit, 'create', [comment])
    await tellMentioned(unit, comment, comment.mentioned_user_ids)
    await tellAgents(unit, comment, agents, { isNew: true })
    return withoutPlace(comment)
  })

export const updateComment = (ctx: Context, caller: Actor, id: string, change: CommentChange) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const agents = await holdMentioned(unit, change.text ?? '')
    const before = await lockComment(unit, id)
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
      mentioned_user_ids: edited ? await mentionedIn(tx, caller, text) : before.mentioned_user_ids,
      edited_at: edited ? now.toISOString() : before.edited_at,
      updated_at: laterThan(before.updated_at, now),
    }
    await tx.run(sql`
      update comments set text = ${after.text}, is_resolved = ${after.is_resolved}, edited_at = ${after.edited_at},
        mentioned_user_ids = ${after.mentioned_user_ids}, updated_at = ${after.updated_at}
      where id = ${id}`)
    await recordComments(unit, 'update', [after])
    const fresh = after.mentioned_user_ids.filter((user) => !before.mentioned_user_ids.includes(user))
    await tellMentioned(unit, after, fresh)
    const called = agents.filter((agent) => fresh.includes(agent.id))
    if (called.length > 0) await tellAgents(unit, after, called, { isNew: false })
    return withoutPlace(after)
  })

/** A thread goes with its first comment, and followers hear of each comment that went. */
export const deleteComment = (ctx: Context, caller: Actor, id: string) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    const comment = await lockComment(unit, id)
    if (comment.author_id !== caller.id && !(caller.kind === 'person' && isManager(caller))) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only its author or a manager deletes a comment.' })
    }
    const gone = await readComments(config, tx, sql`c.id = ${id} or c.parent_comment_id = ${id} order by c.id desc`)
    await tx.run(sql`delete from comments where id = ${id}`)
    const removed = gone.map((one) => ({ ...one, updated_at: laterThan(one.updated_at, now) }))
    await recordComments(unit, 'remove', removed)
  })

/** A comment is reached by whoever reaches what it stands on. */
async function findComment(db: Queryable, config: Config, caller: Actor, id: string): Promise<PlacedComment> {
  const [comment] = await readComments(config, db, sql`c.id = ${id} and c.workspace_id = ${caller.workspaceId}`)
  const placed = found(comment)
  if (isHidden(caller, placed)) throw notFound()
  if (!reaches(caller, placed)) throw outOfReach(caller)
  return placed
}

/** Holds a comment, its replies, and the privacy of what it stands on. */
async function lockComment({ tx, caller, config }: UnitOfWork<Actor>, id: string) {
  await mustSee(tx, caller, await findComment(tx, config, caller, id), sql`for key share`)
  await tx.rows(sql`select 1 from comments where id = ${id} or parent_comment_id = ${id} order by id for update`)
  return findComment(tx, config, caller, id)
}

/** The thread that a reply joins: a reply to a reply goes to the first comment. */
async function rootOf(unit: UnitOfWork<Actor>, target: Target, parentId: string): Promise<PlacedComment> {
  const { tx, caller, config } = unit
  const refusal = invalid({ parent_comment_id: `is not a comment on this ${target.target_type}` })
  const find = (id: string) => readComments(config, tx, sql`c.id = ${id} and c.workspace_id = ${caller.workspaceId}`)
  const [parent] = await find(parentId)
  if (parent?.target_type !== target.target_type || parent.target_id !== target.target_id) throw refusal
  if (isHidden(caller, parent)) throw refusal
  if (parent.parent_comment_id === null) return parent
  const [root] = await find(parent.parent_comment_id)
  if (!root) throw refusal
  return root
}

/** Refuses unless the caller reaches the issue or project. Held, it is neither deleted nor hidden until we are done. */
async function mustSee(db: Queryable, caller: Actor, { target_type, target_id }: Target, hold = none) {
  const target = await db.row<{ reached: boolean }>(
    target_type === 'issue'
      ? sql`
        select ${issueInReach(caller)} as reached from issues i
        where i.workspace_id = ${caller.workspaceId} and i.id = ${target_id} ${hold}`
      : sql`
        select ${projectInReach(caller)} as reached from projects p
        where p.workspace_id = ${caller.workspaceId} and p.id = ${target_id} ${hold}`,
  )
  reached(caller, target)
}

const tellMentioned = (unit: UnitOfWork<Actor>, comment: PlacedComment, userIds: string[]) =>
  notify(
    unit,
    userIds.map((userId) => ({
      kind: 'mention',
      userId,
      commentId: comment.id,
      issueId: comment.target_type === 'issue' ? comment.target_id : null,
      projectId: comment.target_type === 'project' ? comment.target_id : null,
    })),
  )
