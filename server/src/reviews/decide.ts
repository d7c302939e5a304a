import { type Issue, issueStatuses, type Review, type TeamReview } from '@baton/protocol'
import { postMessage, refuseMessage } from '../agent-sessions/message.ts'
import { lockSessions } from '../agent-sessions/session.ts'
import { addComment } from '../comments/comments.ts'
import { lockMentionedAgents } from '../comments/mentions.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { changeLocked, lockVisibleIssue } from '../issues/update.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { transactAs } from '../workspaces/members.ts'
import { findReview, mayDecide, readReviews } from './read.ts'
import { settle } from './settle.ts'

// Locks are taken in the order issue, session, review, as by changes of the issue and by messages.

/** Accepts as an ordinary change of the issue by the person (review.accept-moves). */
export async function acceptReview(
  ctx: Context,
  admitted: Member,
  id: string,
  comment: string | null,
): Promise<Review> {
  const { issue: known } = await findReview(ctx, admitted, id)
  return transactAs(ctx, admitted, 'member', async (unit) => {
    const agents = comment ? await lockMentionedAgents(unit, comment) : []
    const issue = known && (await lockVisibleIssue(unit, known.id, []))
    await lockWaiting(unit, id, issue?.team_id ?? null)
    await settle(unit, sql`r.id = ${id}`, { state: 'accepted', decidedBy: unit.caller.id, reason: comment })
    if (issue) await moveOn(unit, issue)
    if (issue && comment) await addComment(unit, { target_type: 'issue', target_id: issue.id, text: comment }, agents)
    return readDecided(unit, id)
  })
}

/** Sends back as an ordinary message of the person in the session (review.send-back-prompts). */
export async function sendBackReview(ctx: Context, admitted: Member, id: string, reason: string): Promise<Review> {
  const { issue, session_id } = await findReview(ctx, admitted, id)
  return transactAs(ctx, admitted, 'member', async (unit) => {
    const [locked] = await lockSessions(unit, sql`s.id = ${session_id}`)
    const session = found(locked)
    await lockWaiting(unit, id, issue?.team_id ?? null)
    await refuseMessage(unit, session)
    await settle(unit, sql`r.id = ${id}`, { state: 'sent_back', decidedBy: unit.caller.id, reason })
    await postMessage(unit, session, reason)
    return readDecided(unit, id)
  })
}

/** Locks a review. Throws unless it waits and the caller may decide it. */
async function lockWaiting({ tx, caller }: UnitOfWork<Member>, id: string, teamId: string | null) {
  const { state } = found(await tx.row<{ state: string }>(sql`select state from reviews where id = ${id} for update`))
  if (!(await mayDecide(tx, caller, teamId))) {
    throw new ApiError('FORBIDDEN', {}, { message: "Only members of the issue's team and managers decide a review." })
  }
  if (state !== 'waiting') throw new ApiError('REVIEW_DECIDED', { state })
}

async function moveOn(unit: UnitOfWork<Member>, issue: Issue) {
  const team = await unit.tx.row<{ review: TeamReview }>(sql`select review from teams where id = ${issue.team_id}`)
  const status = team?.review.accept_status
  const rank = (one: Issue['status']) => issueStatuses.indexOf(one)
  if (status && rank(issue.status) < rank(status)) await changeLocked(unit, issue, { status })
}

const readDecided = async ({ tx, config }: UnitOfWork<Member>, id: string) =>
  found((await readReviews(tx, config, sql`r.id = ${id}`))[0])
