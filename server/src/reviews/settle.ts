import { type Sql, sql } from '../db/sql.ts'
import type { HookUnit } from '../hooks.ts'
import { markReviewsRead } from '../inbox/answered.ts'
import { sendHints } from '../live/hint.ts'

interface Outcome {
  state: 'accepted' | 'sent_back' | 'withdrawn'
  decidedBy: string | null
  reason?: string | null
}

/** Ends the waiting reviews that match a condition on the review `r` and its session `s`, with their inbox entries. */
export async function settle(
  unit: Pick<HookUnit, 'tx' | 'now'>,
  which: Sql,
  { state, decidedBy, reason = null }: Outcome,
) {
  const { tx, now } = unit
  const settled = await tx.rows<{ workspaceId: string; sessionId: string; issueId: string | null }>(sql`
    update reviews r set state = ${state}, decided_by = ${decidedBy}, decided_at = ${now}, reason = ${reason}
    from agent_sessions s where s.id = r.session_id and r.state = 'waiting' and ${which}
    returning r.workspace_id as "workspaceId", r.session_id as "sessionId", r.issue_id as "issueId"`)
  const [first] = settled
  if (!first) return
  await markReviewsRead(
    unit,
    first.workspaceId,
    settled.map(({ sessionId }) => sessionId),
  )
  sendHints(
    tx,
    settled.map(({ workspaceId, sessionId, issueId }) => ({
      workspace_id: workspaceId,
      type: 'AgentSession',
      id: sessionId,
      action: 'update',
      parent_id: issueId,
    })),
  )
}
