import { sql } from '../db/sql.ts'
import type { HookSession, Hooks, HookUnit, RecordedChange, SessionOutcome } from '../hooks.ts'
import type { Member } from '../http/caller.ts'
import { newId } from '../ids.ts'
import { replaceFinished } from '../inbox/answered.ts'
import { notify } from '../inbox/notify.ts'
import { settle } from './settle.ts'

export const reviewHooks: Partial<Hooks> = {
  async sessionOutcome(unit, session, outcome) {
    if (outcome.kind === 'finished' && !outcome.wasStopping) return requestReview(unit, session, outcome)
    if (['message', 'stopped', 'undelegated'].includes(outcome.kind)) {
      await settle(unit, sql`r.session_id = ${session.id}`, withdrawn)
    }
  },
  // Work of an agent that was uninstalled can still be accepted (review.session-ended). Otherwise the issue is lost to
  // the agent: it was deleted, made personal or moved.
  sessionsEnded: (unit, sessionIds) =>
    settle(unit, sql`r.session_id = any(${sessionIds}) and s.end_reason <> 'uninstalled'`, withdrawn),
  async recorded(unit, _, changes) {
    const moved = changes.filter(({ updatedFrom }) => updatedFrom && 'team_id' in updatedFrom).map(idOf)
    const finished = changes.filter(isFinished).map(idOf)
    const on = (ids: string[]) => sql`r.issue_id = any(${ids})`
    if (moved.length > 0) await settle(unit, on(moved), withdrawn)
    if (finished.length === 0) return
    const person = deciderOf(unit)
    await settle(unit, on(finished), person ? { state: 'accepted', decidedBy: person } : withdrawn)
  },
}

const withdrawn = { state: 'withdrawn', decidedBy: null } as const
const idOf = ({ data }: RecordedChange) => data.id

const isFinished = ({ updatedFrom, data }: RecordedChange) =>
  updatedFrom !== undefined && 'status' in updatedFrom && (data.status === 'release' || data.status === 'done')

/** A person with a login decides. Rules for pull requests, automations and tokens do not (review.who-decides). */
function deciderOf({ caller, chain }: HookUnit): string | null {
  const { kind, id, scopes } = (caller ?? {}) as Partial<Member>
  return kind === 'person' && scopes === null && !chain ? (id ?? null) : null
}

/**
 * Makes the review in the transaction of the response, or moves the waiting one to a further response
 * (review.created-with-response). One statement where the team has no review.
 */
async function requestReview(unit: HookUnit, session: HookSession, { seq }: SessionOutcome) {
  const { tx, now } = unit
  const review = await tx.row<{ reviewerId: string | null; isNew: boolean }>(sql`
    insert into reviews as r (id, workspace_id, session_id, issue_id, agent_id, reviewer_id, round, seq, state, began_at,
      created_at)
    select ${newId('rev')}, s.workspace_id, s.id, i.id, s.agent_id, i.assignee_id, coalesce(before.round, 0) + 1, ${seq},
      'waiting', coalesce(before.decided_at, s.created_at), ${now}
    from agent_sessions s
    join issues i on i.id = s.issue_id
    join teams t on t.id = i.team_id and t.review ->> 'mode' = 'on'
    left join lateral (
      select b.round, b.decided_at from reviews b where b.session_id = s.id and b.state <> 'waiting'
      order by b.round desc limit 1) before on true
    where s.id = ${session.id} and s.delegation_revision is not null
    on conflict (session_id) where state = 'waiting' do update set seq = excluded.seq
    returning reviewer_id as "reviewerId", xmax = 0 as "isNew"`)
  if (!review?.reviewerId) return
  await replaceFinished(unit, session.id, review.reviewerId)
  if (!review.isNew) return
  const { id: sessionId, issueId, workspaceId, agentId } = session
  await notify({ ...unit, caller: { id: agentId, workspaceId } }, [
    { kind: 'review_requested', userId: review.reviewerId, issueId, sessionId },
  ])
}
