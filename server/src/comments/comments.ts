import type { Comment, CommentChange, CommentTarget, NewComment } from '@baton/protocol'
import { laterThan } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { insertRows, none, sql } from '../db/sql.ts'
import { recordComments } from '../events/comments.ts'
import { type PlacedComment, readComments, withoutPlace } from '../events/placed-comments.ts'
import { linkReferenced } from '../files/links.ts'
import { type Actor, isManager } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import type { Alias } from '../http/route.ts'
import { newId } from '../ids.ts'
import { replaceCommentEntries } from '../inbox/answered.ts'
import { type Notice, notify } from '../inbox/notify.ts'
import { issueInReach, outOfReach, projectInReach, reached, reaches } from '../installations/reach.ts'
import { addWatchers } from '../issues/watchers.ts'
import { storeAlias } from '../linear-shape/aliases.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { findMentionedUsers, lockMentionedAgents, promptAgents } from './mentions.ts'

export interface Target {
  target_type: CommentTarget
  target_id: string
}

export async function listComments(ctx: Context, caller: Actor, query: PageQuery & Target) {
  await mustReachTarget(ctx.db, caller, query)
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
        sql`${column} = ${query.target_id} and ${visibleTo(caller)} ${after ? sql`and c.id > ${after[0]}` : none} order by c.id limit ${count}`,
      )
      return comments.map(withoutPlace)
    },
  )
}

/** Condition on the comment `c`; `i` or `p` is its issue or project. */
export const visibleTo = (caller: Actor) =>
  sql`coalesce(${issueInReach(caller)}, ${projectInReach(caller)}) ${caller.kind === 'app' ? sql`and not c.internal` : none}`

/** comment.internal-hidden-from-apps */
const isHidden = (caller: Actor, comment: Comment) => caller.kind === 'app' && comment.internal

export const readComment = async (ctx: Context, caller: Actor, id: string) =>
  withoutPlace(await findComment(ctx.db, ctx.config, caller, id))

export const createComment = (ctx: Context, caller: Actor, body: NewComment, alias?: Alias) =>
  transact(ctx, caller, async (unit) => {
    if (caller.kind === 'app' && body.internal) throw invalid({ internal: 'must be false for an app' })
    return addComment(unit, body, await lockMentionedAgents(unit, body.text), alias)
  })

/** Adds a comment in the caller's transaction. `agents` is the result of `lockMentionedAgents`, called before other locks. */
export async function addComment(
  unit: UnitOfWork<Actor>,
  body: NewComment,
  agents: Awaited<ReturnType<typeof lockMentionedAgents>>,
  alias?: Alias,
): Promise<Comment> {
  const { tx, now, caller, config } = unit
  await mustReachTarget(tx, caller, body, sql`for key share`)
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
    mentioned_user_ids: await findMentionedUsers(tx, caller, body.text),
    is_resolved: false,
    // A reply shows the id of its thread, so a reply to an internal comment is internal too.
    internal: Boolean(body.internal) || Boolean(root?.internal),
    automation_id: unit.chain?.automationId ?? null,
    created_at: now,
    updated_at: now,
  }
  const columns = sql`
      id, workspace_id, issue_id, project_id, parent_comment_id, author_id, text, mentioned_user_ids, is_resolved, internal,
      automation_id, created_at, updated_at`
  await tx.run(insertRows(sql`comments`, columns, [row]))
  await linkReferenced(unit, { type: 'comment', id }, body.text)
  if (alias) await storeAlias(unit, alias, id)
  const comment = await findComment(tx, config, caller, id)
  await recordComments(unit, 'create', [comment])
  await notifyOfComment(unit, comment)
  await promptAgents(unit, comment, agents, { isNew: true })
  return withoutPlace(comment)
}

export const updateComment = (ctx: Context, caller: Actor, id: string, change: CommentChange) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const agents = await lockMentionedAgents(unit, change.text ?? '')
    const before = await lockComment(unit, id)
    const text = change.text ?? before.text
    if (text !== before.text && before.author_id !== caller.id) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only the author can edit the text of a comment.' })
    }
    const edited = text !== before.text
    const is_resolved = change.is_resolved ?? before.is_resolved
    if (!edited && is_resolved === before.is_resolved) return withoutPlace(before)
    const after: PlacedComment = {
      ...before,
      text,
      is_resolved,
      mentioned_user_ids: edited ? await findMentionedUsers(tx, caller, text) : before.mentioned_user_ids,
      edited_at: edited ? now.toISOString() : before.edited_at,
      updated_at: laterThan(before.updated_at, now),
    }
    await tx.run(sql`
      update comments set text = ${after.text}, is_resolved = ${after.is_resolved}, edited_at = ${after.edited_at},
        mentioned_user_ids = ${after.mentioned_user_ids}, updated_at = ${after.updated_at}
      where id = ${id}`)
    if (edited) await linkReferenced(unit, { type: 'comment', id }, text)
    await recordComments(unit, 'update', [after])
    const added = after.mentioned_user_ids.filter((user) => !before.mentioned_user_ids.includes(user))
    await notifyOfEdit(unit, after, added)
    const newlyMentioned = agents.filter((agent) => added.includes(agent.id))
    if (newlyMentioned.length > 0) await promptAgents(unit, after, newlyMentioned, { isNew: false })
    return withoutPlace(after)
  })

/** Deleting the first comment of a thread deletes its replies, with an event for each. */
export const deleteComment = (ctx: Context, caller: Actor, id: string) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    const comment = await lockComment(unit, id)
    if (comment.author_id !== caller.id && !(caller.kind === 'person' && isManager(caller))) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only the author or a manager can delete a comment.' })
    }
    const thread = await readComments(config, tx, sql`c.id = ${id} or c.parent_comment_id = ${id} order by c.id desc`)
    await tx.run(sql`delete from comments where id = ${id}`)
    const removed = thread.map((one) => ({ ...one, updated_at: laterThan(one.updated_at, now) }))
    await recordComments(unit, 'remove', removed)
  })

/** Comments have the access rules of their issue or project; internal ones are hidden from apps. */
export async function findComment(db: Queryable, config: Config, caller: Actor, id: string): Promise<PlacedComment> {
  const [comment] = await readComments(config, db, sql`c.id = ${id} and c.workspace_id = ${caller.workspaceId}`)
  const placed = found(comment)
  if (isHidden(caller, placed)) throw notFound()
  if (!reaches(caller, placed)) throw outOfReach(caller)
  return placed
}

/** Locks a comment and its replies, and its issue or project against deletion or becoming personal. */
async function lockComment({ tx, caller, config }: UnitOfWork<Actor>, id: string) {
  await mustReachTarget(tx, caller, await findComment(tx, config, caller, id), sql`for key share`)
  await tx.rows(sql`select 1 from comments where id = ${id} or parent_comment_id = ${id} order by id for update`)
  return findComment(tx, config, caller, id)
}

/** The first comment of the thread that a reply joins (comment.reply-to-reply-joins-root-thread). */
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

/**
 * Refuses unless the caller can access the issue or project. With a `lock`, it is neither deleted nor made personal until
 * the transaction ends.
 */
export async function mustReachTarget(db: Queryable, caller: Actor, { target_type, target_id }: Target, lock = none) {
  const target = await db.row<{ reached: boolean }>(
    target_type === 'issue'
      ? sql`
        select ${issueInReach(caller)} as reached from issues i
        where i.workspace_id = ${caller.workspaceId} and i.id = ${target_id} ${lock}`
      : sql`
        select ${projectInReach(caller)} as reached from projects p
        where p.workspace_id = ${caller.workspaceId} and p.id = ${target_id} ${lock}`,
  )
  reached(caller, target)
}

const noticeOf = (
  { id, target_type, target_id }: PlacedComment,
  kind: 'mention' | 'comment',
  userId: string,
): Notice => ({
  kind,
  userId,
  commentId: id,
  issueId: target_type === 'issue' ? target_id : null,
  projectId: target_type === 'project' ? target_id : null,
})

/** One entry for each user: as mentioned, otherwise as watcher of the issue (watch.inbox). */
async function notifyOfComment(unit: UnitOfWork<Actor>, comment: PlacedComment) {
  const mentioned = comment.mentioned_user_ids
  const watchers = await watchersAfter(unit, comment, [unit.caller.id, ...mentioned])
  const others = watchers.filter((userId) => !mentioned.includes(userId))
  await notify(unit, [
    ...mentioned.map((userId) => noticeOf(comment, 'mention', userId)),
    ...others.map((userId) => noticeOf(comment, 'comment', userId)),
  ])
}

/** For users whom an edit newly mentions. The mention takes the place of what they got as watchers. */
async function notifyOfEdit(unit: UnitOfWork<Actor>, comment: PlacedComment, added: string[]) {
  if (added.length === 0) return
  await watchersAfter(unit, comment, added)
  await replaceCommentEntries(unit, comment.id, added)
  await notify(
    unit,
    added.map((userId) => noticeOf(comment, 'mention', userId)),
  )
}

/** Adds watchers to the issue of a comment and returns those to notify. Projects have none. */
async function watchersAfter(unit: UnitOfWork<Actor>, comment: PlacedComment, userIds: string[]): Promise<string[]> {
  if (comment.target_type !== 'issue') return []
  const added = userIds.map((userId) => ({ issueId: comment.target_id, userId }))
  return (await addWatchers(unit, added)).map(({ userId }) => userId)
}
