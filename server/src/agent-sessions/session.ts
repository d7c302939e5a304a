import type { AgentSession, EndReason, ExternalUrl, PlanItem, SessionState } from '@baton/protocol'
import { commentUrl, issueUrl, projectUrl } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { ApiError } from '../http/errors.ts'
import { nameOfUser } from '../login/names.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { advance, dueAt, type Standing, type TimeRules, unresponsiveSince } from './state.ts'

/** What a session is about. */
export type About = { issueId: string } | { projectId: string }

/** What is needed of a session to write to it. */
export interface Session {
  id: string
  workspaceId: string
  agentId: string
  /** Null for an agent inside the service. */
  installationId: string | null
  /** Of a personal agent. */
  ownerId: string | null
  issueId: string | null
  projectId: string | null
  personalOf: string | null
  threadId: string | null
  creatorId: string
  openedByAgent: boolean
  createdEventId: string | null
  createdAt: Date
  standing: Standing
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

/** Of the session `s`. */
export const sessionColumns = sql`
  s.id, s.workspace_id, s.agent_id, s.installation_id, s.owner_id, s.issue_id, s.project_id, s.personal_of, s.thread_id,
  s.creator_id, s.opened_by_agent, s.created_event_id, s.state, s.quiet_since, s.stopping_since, s.answered_at,
  s.end_reason, s.ended_at, s.plan, s.external_urls, s.last_seq, s.ephemeral_seq, s.recent, s.version, s.due_at,
  s.created_at, s.updated_at`

const date = (text: string | null) => (text === null ? null : new Date(text))

/** A session as it stands by now, whatever was last written of it. */
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
  standing: advance(
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
 * What a session of the agent is about stays until the transaction ends. For who will name it in another row: whoever
 * moves or deletes it holds it before its sessions, and two who wait for each other would both wait in vain.
 */
export const holdPlace = (tx: Queryable, agentId: string, id: string) =>
  tx.row(sql`
    with s as (select issue_id, project_id from agent_sessions where id = ${id} and agent_id = ${agentId}),
      i as (select 1 from issues where id = (select issue_id from s) for key share),
      p as (select 1 from projects where id = (select project_id from s) for key share)
    select exists (select from i), exists (select from p)`)

/** Sessions that nobody else changes until the transaction ends, in one order. */
export async function lockSessions({ tx, now, config }: UnitOfWork, condition: Sql): Promise<Session[]> {
  const rows = await tx.rows<SessionRow>(sql`
    select ${sessionColumns} from agent_sessions s where ${condition} order by s.id for update of s`)
  return rows.map((row) => sessionOf(row, now, config))
}

/** 3.1: after its end nothing is written to a session any more. */
export const ended = ({ standing }: Session) => new ApiError('SESSION_ENDED', { end_reason: standing.endReason })

export function refuseEnded(session: Session) {
  if (session.standing.endedAt) throw ended(session)
}

/** Whether its agent hears this person: a personal one only its owner (decisions 10). */
export const hears = ({ ownerId }: Session, { id }: { id: string }) => ownerId === null || ownerId === id

/** What a session looks like to others, beyond what it is itself. */
interface ShownRow extends SessionRow {
  issue: Omit<NonNullable<AgentSession['issue']>, 'url'> | null
  comment: Omit<NonNullable<AgentSession['comment']>, 'url'> | null
  creator: AgentSession['creator']
}

/** The issue `i` of the team `t`, but for its address. */
export const shownIssue = sql`
  case when i.id is not null then jsonb_build_object('id', i.id, 'identifier', i.code, 'title', i.title, 'team',
    case when t.id is not null then jsonb_build_object('id', t.id, 'key', t.key, 'name', t.name) end) end`

const shownColumns = sql`
  coalesce(s.parting::jsonb -> 'issue', ${shownIssue}) as issue,
  case when c.id is not null then
    jsonb_build_object('id', c.id, 'body', coalesce(s.parting ->> 'comment', c.text)) end as comment,
  ${nameOfUser} as creator`

/** `i`, `p` and `c` are the issue, project and comment of the session `s`. */
const sessionsInPlace = sql`
  agent_sessions s
  left join issues i on i.id = s.issue_id
  left join projects p on p.id = s.project_id
  left join teams t on t.id = i.team_id
  left join comments c on c.id = s.comment_id
  join users u on u.id = s.creator_id`

/** Sessions as the wire has them (2.6). */
export async function readSessions(db: Queryable, config: Config, now: Date, condition: Sql): Promise<AgentSession[]> {
  const rows = await db.rows<ShownRow>(sql`
    select ${sessionColumns}, ${shownColumns} from ${sessionsInPlace} where ${condition}`)
  return rows.map((row) => shown(config, row, now))
}

export async function readSession({ tx, config, now }: UnitOfWork, id: string): Promise<AgentSession> {
  const [session] = await readSessions(tx, config, now, sql`s.id = ${id}`)
  if (!session) throw new Error(`there is no session ${id}`)
  return session
}

function shown(config: Config, row: ShownRow, now: Date): AgentSession {
  const { id, agentId, standing, plan, externalUrls, createdAt, openedByAgent } = sessionOf(row, now, config)
  const url = row.issue ? issueUrl(config, row.issue.identifier) : projectUrl(config, row.project_id as string)
  return {
    id,
    state: standing.state,
    unresponsive_since: iso(unresponsiveSince({ createdAt, openedByAgent }, standing, now, config)),
    issue: row.issue && { ...row.issue, url },
    comment: row.comment && { ...row.comment, url: commentUrl(url, row.comment.id) },
    creator: row.creator,
    app_user_id: agentId,
    plan,
    external_urls: externalUrls,
    created_at: createdAt.toISOString(),
    updated_at: standing.updatedAt.toISOString(),
    ended_at: iso(standing.endedAt),
    end_reason: standing.endReason,
  }
}

const iso = (time: Date | null) => time?.toISOString() ?? null

/** The columns that follow from how a session stands. */
export function standingColumns(session: Session, standing: Standing, now: Date, rules: TimeRules): Sql {
  return sql`
    state = ${standing.state}, quiet_since = ${standing.quietSince}, stopping_since = ${standing.stoppingSince},
    answered_at = ${standing.answeredAt}, end_reason = ${standing.endReason}, ended_at = ${standing.endedAt},
    updated_at = ${standing.updatedAt}, due_at = ${nextLook(session, standing, now, rules)}, version = version + 1`
}

/** An earlier moment than needed stays: the timer finds nothing to do then and looks further ahead. */
function nextLook(session: Session, standing: Standing, now: Date, rules: TimeRules): Date | null {
  const due = dueAt(session, standing, now, rules)
  return due && session.dueAt && session.dueAt > now && session.dueAt < due ? session.dueAt : due
}

/** Writes down where several sessions stand that came there at once: by time, or because they ended together. */
export async function saveStandings({ tx, now, config }: UnitOfWork, sessions: Session[]) {
  const rows = sessions.map((session) => {
    const { state, endReason, endedAt, updatedAt } = session.standing
    return {
      id: session.id,
      state,
      endReason,
      endedAt,
      updatedAt,
      dueAt: dueAt(session, session.standing, now, config),
    }
  })
  await tx.run(sql`
    update agent_sessions s set state = n.state, end_reason = n."endReason", ended_at = n."endedAt",
      updated_at = n."updatedAt", due_at = n."dueAt", version = version + 1
    from json_to_recordset(${JSON.stringify(rows)}::json) as n (id text, state text, "endReason" text,
      "endedAt" timestamptz, "updatedAt" timestamptz, "dueAt" timestamptz)
    where s.id = n.id`)
}
