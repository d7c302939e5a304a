import type { AgentActivity } from '@baton/protocol'
import { activitiesAfter } from '../agent-sessions/activities.ts'
import { type SessionRow, sessionColumns, sessionOf } from '../agent-sessions/session.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Claimed } from './claim.ts'
import { findSessionAgent, type InsideAgentKind } from './identity.ts'

/** Work for an agent inside the service: a session was opened for it, or a person wrote in one. */
export interface Work {
  id: string
  sessionId: string
  workspaceId: string
  /** Exactly one of `issueId` and `projectId` is set. */
  issueId: string | null
  projectId: string | null
  agent: { id: string; name: string; kind: InsideAgentKind; instructions: string }
  /** The comment that opened the session, unless it was deleted. */
  commentId: string | null
  cause: { kind: 'delegation' } | { kind: 'mention' } | { kind: 'message'; message: AgentActivity }
  /** Above 1 when an earlier attempt was interrupted. The activities of that attempt are already posted. */
  attempt: number
}

/** `stopping` is the final answer to post instead of working, if the session is to stop. */
export type CurrentWork = Work & { stopping: string | null }

/** Activities with a higher seq belong to this piece of work. */
export const causeSeqOf = ({ cause }: Work) => (cause.kind === 'message' ? cause.message.seq : 0)

/** Returns null when the session has ended or the agent no longer exists. */
export async function readWork(
  ctx: Context,
  { id, sessionId, causeSeq, attempt }: Claimed,
): Promise<CurrentWork | null> {
  const { db, clock, config } = ctx
  const found = await findSessionAgent(ctx, sessionId)
  const row = await db.row<SessionRow & { comment_id: string | null }>(sql`
    select ${sessionColumns}, s.comment_id from agent_sessions s where s.id = ${sessionId}`)
  if (!found || !row) return null
  const { workspaceId, issueId, projectId, threadId, standing } = sessionOf(row, clock.now(), config)
  if (standing.endedAt) return null
  const [message] = causeSeq > 0 ? await activitiesAfter(ctx, sessionId, causeSeq - 1, 1) : []
  return {
    id,
    sessionId,
    workspaceId,
    issueId,
    projectId,
    agent: found.agent,
    commentId: row.comment_id,
    cause: message ? { kind: 'message', message } : { kind: threadId ? 'mention' : 'delegation' },
    attempt,
    stopping:
      standing.state === 'stopping'
        ? stopAnswers[standing.endReason === 'undelegated' ? 'undelegated' : 'stopped']
        : null,
  }
}

const stopAnswers = {
  undelegated: 'Stopped: this issue is no longer delegated to me.',
  stopped: 'Stopped, as you asked.',
}
