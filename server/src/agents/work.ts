import { activitiesAfter } from '../agent-sessions/activities.ts'
import { type SessionRow, sessionColumns, sessionOf } from '../agent-sessions/session.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Claimed } from './claim.ts'
import { agentIn } from './identity.ts'
import type { Work } from './mind.ts'

/** A piece of work as it stands now; with a last word instead, if its session is to stop. */
export type WorkNow = Work & { stopping: string | null }

/** Null when there is nothing to do any more. */
export async function readWork(ctx: Context, { id, sessionId, causeSeq, attempt }: Claimed): Promise<WorkNow | null> {
  const { db, clock, config } = ctx
  const found = await agentIn(ctx, sessionId)
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
      standing.state === 'stopping' ? lastWords[standing.endReason === 'undelegated' ? 'taken' : 'asked'] : null,
  }
}

const lastWords = { taken: 'Stopped: the issue is no longer mine.', asked: 'Stopped, as you asked.' }
