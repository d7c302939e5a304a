import type { NewSuggestion, NewSuggestions, Suggestion } from '@baton/protocol'
import { checkedKey, hashOf, type Idempotency } from '../agent-sessions/idempotency.ts'
import { lockSessions, lockSubject, refuseEnded, type Session } from '../agent-sessions/session.ts'
import { sendSessionHint } from '../agent-sessions/session-hint.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { insertRows, json, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { notify } from '../inbox/notify.ts'
import { findVisibleIssue } from '../issues/read.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { readSuggestions } from './read.ts'
import { findProblems } from './values.ts'

interface Suggested {
  data: Suggestion[]
}

export function suggestChanges(
  ctx: Context,
  caller: App,
  sessionId: string,
  body: NewSuggestions,
  header: string | string[] | undefined,
): Promise<Suggested> {
  const key = checkedKey(header)
  const idempotency = key === undefined ? undefined : { key, requestHash: hashOf(caller, body) }
  refuseRepeated(body.suggestions)
  return transact(ctx, caller, async (unit) => {
    const { tx, config } = unit
    await lockSubject(tx, caller.id, sessionId)
    const [locked] = await lockSessions(
      unit,
      sql`s.id = ${sessionId} and s.workspace_id = ${caller.workspaceId} and s.agent_id = ${caller.id}`,
    )
    const session = found(locked)
    const known = idempotency && (await findKnown(tx, sessionId, idempotency))
    if (known) return known
    refuseEnded(session)
    if (!session.issueId) throw invalid({ session_id: 'must be a session on an issue' })
    const issue = await findVisibleIssue(tx, config, caller, session.issueId)
    const problems = await findProblems(unit, issue, body.suggestions)
    const bad = problems.flatMap((problem, index) => (problem ? [[`suggestions.${index}.value`, problem]] : []))
    if (bad.length > 0) throw invalid(Object.fromEntries(bad))
    const ids = await store(unit, session, issue.id, body.suggestions, idempotency)
    if (issue.team_id) await notifyRequester(unit, session, issue.team_id)
    sendSessionHint(tx, session)
    return { data: await readSuggestions(tx, sql`s.id = any(${ids}) order by s.id`) }
  })
}

/** A label is a field of its own. */
const subjectOf = ({ field, value }: NewSuggestion) => (field === 'label' ? `label ${value}` : field)

function refuseRepeated(suggestions: NewSuggestion[]) {
  const bad = suggestions.flatMap((one, index) =>
    suggestions.findIndex((other) => subjectOf(other) === subjectOf(one)) < index
      ? [[`suggestions.${index}.field`, `must not be suggested twice: ${one.field}`]]
      : [],
  )
  if (bad.length > 0) throw invalid(Object.fromEntries(bad))
}

/** The suggestions of the first request with this key. The same key with another body is refused. */
async function findKnown(tx: Tx, sessionId: string, { key, requestHash }: Idempotency): Promise<Suggested | null> {
  const rows = await tx.rows<{ id: string; hash: Uint8Array }>(sql`
    select id, request_hash as hash from suggestions where session_id = ${sessionId} and idempotency_key = ${key}`)
  const [first] = rows
  if (!first) return null
  if (!requestHash.equals(first.hash)) throw new ApiError('IDEMPOTENCY_KEY_REUSED')
  return { data: await readSuggestions(tx, sql`s.id = any(${rows.map(({ id }) => id)}) order by s.id`) }
}

/** Replaced suggestions stay, so that a repeated request finds its own. */
async function store(
  { tx, now, caller }: UnitOfWork<App>,
  { id: sessionId }: Session,
  issueId: string,
  suggestions: NewSuggestion[],
  idempotency: Idempotency | undefined,
): Promise<string[]> {
  await tx.run(sql`
    update suggestions s set state = 'outdated', decided_at = ${now}
    from jsonb_to_recordset(${json(suggestions)}) as n (field text, value text)
    where s.issue_id = ${issueId} and s.agent_id = ${caller.id} and s.state = 'open' and s.field = n.field
      and (n.field <> 'label' or s.value = n.value)`)
  const rows = suggestions.map(({ field, value, reason }) => ({
    id: newId('sug'),
    workspace_id: caller.workspaceId,
    issue_id: issueId,
    session_id: sessionId,
    agent_id: caller.id,
    field,
    value,
    reason,
    state: 'open',
    idempotency_key: idempotency?.key ?? null,
    request_hash: idempotency ? `\\x${idempotency.requestHash.toString('hex')}` : null,
    created_at: now,
  }))
  const columns = sql`
    id, workspace_id, issue_id, session_id, agent_id, field, value, reason, state, idempotency_key, request_hash,
    created_at`
  await tx.run(insertRows(sql`suggestions`, columns, rows))
  return rows.map(({ id }) => id)
}

/** The person for whom the agent looks at the issue, such as the owner of an automation. One unread entry a team. */
async function notifyRequester(unit: UnitOfWork<App>, session: Session, teamId: string) {
  if (session.openedByAgent) return
  const unread = await unit.tx.row(sql`
    select 1 from inbox_entries
    where team_id = ${teamId} and user_id = ${session.creatorId} and kind = 'suggestions_ready' and read_at is null`)
  if (!unread) await notify(unit, [{ kind: 'suggestions_ready', userId: session.creatorId, teamId }])
}
