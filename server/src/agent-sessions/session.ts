import type { AgentSession, EndReason, ExternalUrl, PlanItem, SessionState } from '@baton/protocol'
import { commentUrl, issueUrl, projectUrl } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { limitsOfMonth, limitsOfSession, type Spending, spendingOf } from '../installations/budget.ts'
import { nameOfUser } from '../login/names.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { advance, dueAt, type Lifecycle, type TimeRules, unresponsiveSince } from './state.ts'

/** The issue or project that a session is about. */
export type SessionSubject = { issueId: string } | { projectId: string }

/** The fields of a session that writes need. */
export interface Session {
  id: string
  workspaceId: string
  agentId: string
  /** Null for an agent inside the service. */
  installationId: string | null
  /** The owner of a personal agent. */
  ownerId: string | null
  issueId: string | null
  projectId: string | null
  personalOf: string | null
  threadId: string | null
  creatorId: string
  openedByAgent: boolean
  createdEventId: string | null
  createdAt: Date
  lifecycle: Lifecycle
  plan: PlanItem[]
  externalUrls: ExternalUrl[]
  lastSeq: number
  ephemeralSeq: number | null
  recent: number[]
  version: number
  dueAt: Date | null
}

export interface SessionRow {
  id: string
  workspace_id: string
  agent_id: string
  installation_id: string | null
  owner_id: string | null
  issue_id: string | null
  project_id: string | null
  personal_of: string | null
  thread_id: string | null
  creator_id: string
  opened_by_agent: boolean
  created_event_id: string | null
  state: SessionState
  quiet_since: string
  stopping_since: string | null
  answered_at: string | null
  end_reason: EndReason | null
  ended_at: string | null
  plan: PlanItem[]
  external_urls: ExternalUrl[]
  last_seq: number
  ephemeral_seq: number | null
  recent: number[]
  version: number
  due_at: string | null
  created_at: string
  updated_at: string
}

/** Columns of the session `s`. */
export const sessionColumns = sql`
  s.id, s.workspace_id, s.agent_id, s.installation_id, s.owner_id, s.issue_id, s.project_id, s.personal_of, s.thread_id,
  s.creator_id, s.opened_by_agent, s.created_event_id, s.state, s.quiet_since, s.stopping_since, s.answered_at,
  s.end_reason, s.ended_at, s.plan, s.external_urls, s.last_seq, s.ephemeral_seq, s.recent, s.version, s.due_at,
  s.created_at, s.updated_at`

const date = (text: string | null) => (text === null ? null : new Date(text))

/** The session at `now`: the stored row with the transition that is due applied. */
export const sessionOf = (row: SessionRow, now: Date, rules: TimeRules): Session => ({
  id: row.id,
  workspaceId: row.workspace_id,
  agentId: row.agent_id,
  installationId: row.installation_id,
  ownerId: row.owner_id,
  issueId: row.issue_id,
  projectId: row.project_id,
  personalOf: row.personal_of,
  threadId: row.thread_id,
  creatorId: row.creator_id,
  openedByAgent: row.opened_by_agent,
  createdEventId: row.created_event_id,
  createdAt: new Date(row.created_at),
  lifecycle: advance(
    {
      state: row.state,
      quietSince: new Date(row.quiet_since),
      stoppingSince: date(row.stopping_since),
      answeredAt: date(row.answered_at),
      endReason: row.end_reason,
      endedAt: date(row.ended_at),
      updatedAt: new Date(row.updated_at),
    },
    now,
    rules,
  ),
  plan: row.plan,
  externalUrls: row.external_urls,
  lastSeq: row.last_seq,
  ephemeralSeq: row.ephemeral_seq,
  recent: row.recent,
  version: row.version,
  dueAt: date(row.due_at),
})

/**
 * Locks the subject of the agent's session against deletion. Call before locking the session if another row will refer
 * to the subject: a move or deletion locks the subject before its sessions, and another order would deadlock.
 */
export const lockSubject = (tx: Queryable, agentId: string, id: string) =>
  tx.row(sql`
    with s as (select issue_id, project_id from agent_sessions where id = ${id} and agent_id = ${agentId}),
      i as (select 1 from issues where id = (select issue_id from s) for key share),
      p as (select 1 from projects where id = (select project_id from s) for key share)
    select exists (select from i), exists (select from p)`)

/** Locks and returns the matching sessions, always in the same order. */
export async function lockSessions({ tx, now, config }: UnitOfWork, condition: Sql): Promise<Session[]> {
  const rows = await tx.rows<SessionRow>(sql`
    select ${sessionColumns} from agent_sessions s where ${condition} order by s.id for update of s`)
  return rows.map((row) => sessionOf(row, now, config))
}

/** Locks a session of the calling agent. Throws if it has none with this id, or if it has ended. */
export async function lockOwnSession(unit: UnitOfWork<App>, id: string): Promise<Session> {
  const { id: agentId, workspaceId } = unit.caller
  const [session] = await lockSessions(
    unit,
    sql`s.id = ${id} and s.workspace_id = ${workspaceId} and s.agent_id = ${agentId}`,
  )
  refuseEnded(found(session))
  return session as Session
}

/** session.ended-refuses-writes */
export const sessionEnded = ({ lifecycle }: Session) =>
  new ApiError('SESSION_ENDED', { end_reason: lifecycle.endReason })

export function refuseEnded(session: Session) {
  if (session.lifecycle.endedAt) throw sessionEnded(session)
}

/** agent.personal-only-owner-prompts */
export const canMessage = ({ ownerId }: Pick<Session, 'ownerId'>, { id }: { id: string }) =>
  ownerId === null || ownerId === id

/** A session with the rows that the API shows with it. */
interface JoinedRow extends SessionRow {
  issue: Omit<NonNullable<AgentSession['issue']>, 'url'> | null
  comment: Omit<NonNullable<AgentSession['comment']>, 'url'> | null
  creator: AgentSession['creator']
  changes: AgentSession['changes']
  usage: AgentSession['usage']
  spending: Spending | null
}

/** The issue `i` of the team `t`, without its URL. */
export const issueJson = sql`
  case when i.id is not null then jsonb_build_object('id', i.id, 'identifier', i.code, 'title', i.title, 'team',
    case when t.id is not null then jsonb_build_object('id', t.id, 'key', t.key, 'name', t.name) end) end`

const joinedColumns = (now: Date) => sql`
  coalesce(s.parting::jsonb -> 'issue', ${issueJson}) as issue,
  case when c.id is not null then
    jsonb_build_object('id', c.id, 'body', coalesce(s.parting ->> 'comment', c.text)) end as comment,
  ${nameOfUser} as creator, s.changes, s.usage,
  (select ${spendingOf(now)} from installations n join agent_apps a on a.id = n.app_id
    where n.id = s.installation_id) as spending`

/** `i`, `p` and `c` are the issue, project and comment of the session `s`. */
const joinedTables = sql`
  agent_sessions s
  left join issues i on i.id = s.issue_id
  left join projects p on p.id = s.project_id
  left join teams t on t.id = i.team_id
  left join comments c on c.id = s.comment_id
  join users u on u.id = s.creator_id`

/** Sessions in the format of the API. */
export async function readSessions(db: Queryable, config: Config, now: Date, condition: Sql): Promise<AgentSession[]> {
  const rows = await db.rows<JoinedRow>(sql`
    select ${sessionColumns}, ${joinedColumns(now)} from ${joinedTables} where ${condition}`)
  return rows.map((row) => toAgentSession(config, row, now))
}

export async function readSession({ tx, config, now }: UnitOfWork, id: string): Promise<AgentSession> {
  const [session] = await readSessions(tx, config, now, sql`s.id = ${id}`)
  if (!session) throw new Error(`session ${id} does not exist`)
  return session
}

function toAgentSession(config: Config, row: JoinedRow, now: Date): AgentSession {
  const { id, agentId, lifecycle, plan, externalUrls, createdAt, openedByAgent } = sessionOf(row, now, config)
  const url = row.issue ? issueUrl(config, row.issue.identifier) : projectUrl(config, row.project_id as string)
  return {
    id,
    state: lifecycle.state,
    unresponsive_since: iso(unresponsiveSince({ createdAt, openedByAgent }, lifecycle, now, config)),
    issue: row.issue && { ...row.issue, url },
    comment: row.comment && { ...row.comment, url: commentUrl(url, row.comment.id) },
    creator: row.creator,
    app_user_id: agentId,
    plan,
    external_urls: externalUrls,
    changes: row.changes,
    usage: row.usage,
    budget_reached: reachedBudget(row),
    created_at: createdAt.toISOString(),
    updated_at: lifecycle.updatedAt.toISOString(),
    ended_at: iso(lifecycle.endedAt),
    end_reason: lifecycle.endReason,
  }
}

function reachedBudget({ spending, usage }: JoinedRow): AgentSession['budget_reached'] {
  if (!spending) return null
  return [...limitsOfSession(spending, usage), ...limitsOfMonth(spending)][0]?.limit ?? null
}

const iso = (time: Date | null) => time?.toISOString() ?? null

export function lifecycleColumns(session: Session, lifecycle: Lifecycle, now: Date, rules: TimeRules): Sql {
  return sql`
    state = ${lifecycle.state}, quiet_since = ${lifecycle.quietSince}, stopping_since = ${lifecycle.stoppingSince},
    answered_at = ${lifecycle.answeredAt}, end_reason = ${lifecycle.endReason}, ended_at = ${lifecycle.endedAt},
    updated_at = ${lifecycle.updatedAt}, due_at = ${nextTimer(session, lifecycle, now, rules)}, version = version + 1`
}

/** Keeps an earlier stored time, which saves an index update; the timer then finds nothing due and sets the next. */
function nextTimer(session: Session, lifecycle: Lifecycle, now: Date, rules: TimeRules): Date | null {
  const due = dueAt(session, lifecycle, now, rules)
  return due && session.dueAt && session.dueAt > now && session.dueAt < due ? session.dueAt : due
}

/** Stores the changes of several sessions that reached a due transition or ended together. */
export async function saveLifecycles({ tx, now, config }: UnitOfWork, sessions: Session[]) {
  const rows = sessions.map((session) => {
    const { state, endReason, endedAt, updatedAt } = session.lifecycle
    return {
      id: session.id,
      state,
      endReason,
      endedAt,
      updatedAt,
      dueAt: dueAt(session, session.lifecycle, now, config),
    }
  })
  await tx.run(sql`
    update agent_sessions s set state = n.state, end_reason = n."endReason", ended_at = n."endedAt",
      updated_at = n."updatedAt", due_at = n."dueAt", version = version + 1
    from json_to_recordset(${JSON.stringify(rows)}::json) as n (id text, state text, "endReason" text,
      "endedAt" timestamptz, "updatedAt" timestamptz, "dueAt" timestamptz)
    where s.id = n.id`)
}
