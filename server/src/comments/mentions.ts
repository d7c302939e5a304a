import { mentionPattern } from '@baton/protocol/mentions'
import { postMessage } from '../agent-sessions/message.ts'
import { openForPerson, sessionsInThread } from '../agent-sessions/open.ts'
import { canMessage } from '../agent-sessions/session.ts'
import { acceptsMessages } from '../agent-sessions/state.ts'
import { findReachedLimit } from '../agent-sessions/usage.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { PlacedComment } from '../events/placed-comments.ts'
import type { Actor } from '../http/caller.ts'
import { type Agent, findAgents } from '../installations/agents.ts'
import { unavailableReason } from '../installations/availability.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** The ids that a text mentions as `@[Display Name](usr_…)`, each once. */
const mentionedIds = (text: string): string[] => [
  ...new Set([...text.matchAll(mentionPattern)].map((match) => match[2] as string)),
]

/**
 * Ids of the mentioned members and agents of the workspace; other mentions are plain text. Only its owner can mention a
 * personal agent.
 */
export async function findMentionedUsers(db: Queryable, { workspaceId, id }: Actor, text: string): Promise<string[]> {
  const ids = mentionedIds(text)
  if (ids.length === 0) return []
  const known = await db.rows<{ user_id: string }>(sql`
    select user_id from memberships where workspace_id = ${workspaceId} and user_id = any(${ids})
    union all
    select app_user_id from installations
    where workspace_id = ${workspaceId} and app_user_id = any(${ids}) and revoked_at is null
    union all
    select user_id from inside_agents
    where workspace_id = ${workspaceId} and user_id = any(${ids}) and deleted_at is null
      and (owner_id is null or owner_id = ${id})`)
  const knownIds = new Set(known.map(({ user_id }) => user_id))
  return ids.filter((id) => knownIds.has(id))
}

/** Finds and locks the agents that a text mentions. Take this lock first: changes of coverage do the same. */
export const lockMentionedAgents = (unit: UnitOfWork<Actor>, text: string) =>
  unit.caller.kind === 'person' ? findAgents(unit, mentionedIds(text), sql`for share of i`) : []

/**
 * Passes a comment to agents. It is a message to each open session of its thread
 * (mention.reply-in-open-thread-is-message). A mentioned agent that has none there, and is available, gets a session
 * (mention.opens-session). An edit is passed only to the agents that it newly mentions; `mentioned` then has only these.
 * Ignored are comments of agents (mention.app-own-comment-opens-nothing), internal comments
 * (mention.internal-comment-opens-nothing) and, for a personal agent, comments of anyone but its owner
 * (agent.personal-only-owner-prompts).
 */
export async function promptAgents(
  unit: UnitOfWork<Actor>,
  comment: PlacedComment,
  mentioned: Agent[],
  { isNew }: { isNew: boolean },
) {
  const { caller } = unit
  if (caller.kind === 'app' || comment.internal) return
  const byPerson = { ...unit, caller }
  if (comment.parent_comment_id === null && mentioned.length === 0) return
  const threadId = comment.parent_comment_id ?? comment.id
  const sessions = await sessionsInThread(unit, threadId)
  for (const session of sessions) {
    const isAddressed = isNew || mentioned.some(({ id }) => id === session.agentId)
    if (!isAddressed || !canMessage(session, caller) || !acceptsMessages(session.lifecycle)) continue
    // usage.month-limit-refuses-work: it stays a comment.
    if (await findReachedLimit(unit, session)) continue
    await postMessage(byPerson, session, comment.text)
  }
  const place = { personal: comment.personal, teamIds: comment.teamIds }
  for (const agent of mentioned) {
    if (sessions.some(({ agentId }) => agentId === agent.id)) continue
    if (unavailableReason(agent.access, place, caller.id, 'app:mentionable')) continue
    await openForPerson(byPerson, {
      agent,
      subject: comment.target_type === 'issue' ? { issueId: comment.target_id } : { projectId: comment.target_id },
      personalOf: comment.personal ? comment.personalOf : null,
      comment: { id: comment.id, threadId },
    })
  }
}
