import { programLimits, type Reaction, type ReactionName, reactionNames } from '@baton/protocol'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { hintsOf, sendHints } from '../live/hint.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { findComment, mustReachTarget, type Target } from './comments.ts'

export async function listReactions(ctx: Context, caller: Actor, target: Target): Promise<{ data: Reaction[] }> {
  await mustReachTarget(ctx.db, caller, target)
  const column = target.target_type === 'issue' ? sql`c.issue_id` : sql`c.project_id`
  const { reactionUsers, reactionsListed } = programLimits
  return {
    data: await ctx.db.rows<Reaction>(sql`
      select r.comment_id, r.name, count(*)::int as count,
        (array_agg(r.user_id order by r.user_id <> ${caller.id}, r.created_at, r.user_id))[1:${reactionUsers}::int]
          as user_ids
      from comments c join reactions r on r.comment_id = c.id
      where ${column} = ${target.target_id} ${caller.kind === 'app' ? sql`and not c.internal` : none}
      group by r.comment_id, r.name
      order by r.comment_id desc, r.name limit ${reactionsListed}`),
  }
}

export const addReaction = (ctx: Context, caller: Actor, commentId: string, name: string): Promise<void> =>
  transact(ctx, caller, async (unit) => {
    const reaction = reactionOf(name)
    const comment = await findComment(unit.tx, unit.config, caller, commentId)
    const changed = await unit.tx.run(sql`
      insert into reactions (comment_id, name, user_id, workspace_id, created_at)
      values (${commentId}, ${reaction}, ${caller.id}, ${caller.workspaceId}, ${unit.now})
      on conflict do nothing`)
    if (changed > 0) sendReactionHint(unit, comment)
  })

export const removeReaction = (ctx: Context, caller: Actor, commentId: string, name: string): Promise<void> =>
  transact(ctx, caller, async (unit) => {
    const reaction = reactionOf(name)
    const comment = await findComment(unit.tx, unit.config, caller, commentId)
    const changed = await unit.tx.run(sql`
      delete from reactions where comment_id = ${commentId} and name = ${reaction} and user_id = ${caller.id}`)
    if (changed > 0) sendReactionHint(unit, comment)
  })

function reactionOf(name: string): ReactionName {
  const reaction = reactionNames.find((one) => one === name)
  if (!reaction) throw notFound()
  return reaction
}

/** Browsers read the comments again; the comment itself stays as it is, so there is no event. */
function sendReactionHint({ tx, caller }: UnitOfWork<Actor>, comment: Awaited<ReturnType<typeof findComment>>) {
  const { id, target_id: parent_id } = comment
  sendHints(
    tx,
    hintsOf({ workspace_id: caller.workspaceId, type: 'Comment', id, action: 'update', parent_id }, comment),
  )
}
