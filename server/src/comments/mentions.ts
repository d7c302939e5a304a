import { mentionPattern } from '@baton/protocol/mentions'
import { message } from '../agent-sessions/message.ts'
import { openForPerson, sessionsInThread } from '../agent-sessions/open.ts'
import { hears } from '../agent-sessions/session.ts'
import { takesMessages } from '../agent-sessions/state.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { PlacedComment } from '../events/placed-comments.ts'
import type { Actor } from '../http/caller.ts'
import { type Agent, findAgents } from '../installations/agents.ts'
import { unavailableReason } from '../installations/availability.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** The ids that a text mentions as `@[Display Name](usr_…)`, each once. */
const mentionsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(mentionPattern)].map((match) => match[2] as string)),
]

/** Those of them that are somebody here; the rest is plain text. A personal agent is somebody to its owner alone. */
export async function mentionedIn(db: Queryable, { workspaceId, id }: Actor, text: string): Promise<string[]> {
  const ids = mentionsIn(text)
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
  const here = new Set(known.map(({ user_id }) => user_id))
  return ids.filter((id) => here.has(id))
}

/** The agents that a text mentions. Held before anything else is, as whoever takes teams away from them does. */
export const holdMentioned = ({ tx, caller }: UnitOfWork<Actor>, text: string) =>
  caller.kind === 'person' ? findAgents(tx, caller.workspaceId, mentionsIn(text), sql`for share of i`) : []

/**
 * What a comment means to agents (decisions 6): in a thread, it is a message to each open session; who is mentioned and
 * has none there, and is available, gets one. An edit means something only to those whom it mentions and who were not
 * mentioned before, which is all that `mentioned` holds then. What an agent says, and what is internal, means nothing to
 * them; nor does what somebody else than its owner says to a personal agent.
 */
export async function tellAgents(
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
    const isMeant = isNew || mentioned.some(({ id }) => id === session.agentId)
    if (!isMeant || !hears(session, caller) || !takesMessages(session.standing)) continue
    await message(byPerson, session, comment.text)
  }
  const place = { personal: comment.personal, teamIds: comment.teamIds }
  for (const agent of mentioned) {
    if (sessions.some(({ agentId }) => agentId === agent.id)) continue
    if (unavailableReason(agent.standing, place, caller.id, 'app:mentionable')) continue
    await openForPerson(byPerson, {
      agent,
      place: comment.target_type === 'issue' ? { issueId: comment.target_id } : { projectId: comment.target_id },
      personalOf: comment.personal ? comment.personalOf : null,
      comment: { id: comment.id, threadId },
    })
  }
}
