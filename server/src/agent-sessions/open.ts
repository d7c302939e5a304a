import type { AgentSession, NewSession } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import { linksOf } from '../hooks.ts'
import type { Actor, App, Member } from '../http/caller.ts'
import { found, invalid, notFound } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { type Agent, findAgents, ownerOf } from '../installations/agents.ts'
import { limitsOfMonth } from '../installations/budget.ts'
import { reaches } from '../installations/reach.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { recordCreated } from './events.ts'
import { lockSessions, readSession, type Session, type SessionSubject, saveLifecycles } from './session.ts'
import { sendSessionHint } from './session-hint.ts'
import { dueAt, newLifecycle } from './state.ts'
import { budgetReached } from './usage.ts'

interface SessionStart {
  agent: Agent
  subject: SessionSubject
  personalOf?: string | null
  comment?: { id: string; threadId: string }
  /** The delegation revision of the issue, if a delegation opens the session. */
  revision?: number
}

/** Opens a session for a delegation or mention and notifies the agent, in the caller's transaction. */
export async function openForPerson(unit: UnitOfWork<Member>, start: SessionStart) {
  const session = await insert(unit, start)
  await recordCreated(unit, session, start.comment?.id ?? null)
}

/**
 * An app opens a session itself, which records no event (event.no-created-on-app-opened-session). If it already has an
 * open session in the thread, returns that one (session.app-reopen-on-comment-is-200).
 */
export const openForApp = (
  ctx: Context,
  caller: App,
  { issue_id, comment_id }: NewSession,
): Promise<{ session: AgentSession; isNew: boolean }> => {
  if ((issue_id === undefined) === (comment_id === undefined)) {
    throw invalid({ [comment_id === undefined ? 'issue_id' : 'comment_id']: 'send either issue_id or comment_id' })
  }
  return transact(ctx, caller, async (unit) => {
    const { tx } = unit
    // Locked, so that the app keeps its teams and its installation until the session is stored.
    const [agent] = await findAgents(unit, [caller.id], sql`for share of i`)
    if (!agent?.access) throw notFound()
    const reach: App = { ...caller, ...agent.access }
    const start = issue_id
      ? await startOnIssue(tx, reach, issue_id)
      : await startOnComment(tx, reach, comment_id as string)
    refuseOverBudget(agent)
    const open = start.comment && (await openInThread(unit, start.comment.threadId))
    const session = open ?? (await insert(unit, { ...start, agent }))
    return { session: await readSession(unit, session.id), isNew: !open }
  })
}

/** usage.month-limit-refuses-work */
function refuseOverBudget({ access }: Agent) {
  const spending = access && 'spending' in access ? access.spending : null
  const [limit] = spending ? limitsOfMonth(spending) : []
  if (limit) throw budgetReached(limit)
}

/** Locks and returns the caller's open session in a thread, if any. */
async function openInThread(unit: UnitOfWork<App>, threadId: string) {
  const sessions = await sessionsInThread(unit, threadId)
  return sessions.find((session) => session.agentId === unit.caller.id)
}

/** Locks and returns the open sessions of a thread. Stores the end of those whose stopping timeout has passed. */
export async function sessionsInThread(unit: UnitOfWork, threadId: string): Promise<Session[]> {
  const { tx } = unit
  // Serialises by thread, so that simultaneous mentions of an agent open one session.
  await tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`thread ${threadId}`}, 0))`)
  const sessions = await lockSessions(unit, sql`s.thread_id = ${threadId} and s.ended_at is null`)
  const over = sessions.filter(({ lifecycle }) => lifecycle.endedAt)
  if (over.length > 0) await saveLifecycles(unit, over)
  for (const session of over) sendSessionHint(tx, session)
  return sessions.filter((session) => !over.includes(session))
}

async function startOnIssue(tx: Tx, caller: App, issueId: string): Promise<Omit<SessionStart, 'agent'>> {
  await mustReach(tx, caller, { issueId })
  return { subject: { issueId } }
}

async function startOnComment(tx: Tx, caller: App, id: string): Promise<Omit<SessionStart, 'agent'>> {
  const comment = await tx.row<{ issueId: string | null; projectId: string | null; threadId: string }>(sql`
    select issue_id as "issueId", project_id as "projectId", coalesce(parent_comment_id, id) as "threadId" from comments
    where workspace_id = ${caller.workspaceId} and id = ${id} and not internal`)
  const { issueId, projectId, threadId } = found(comment)
  const subject = issueId ? { issueId } : { projectId: projectId as string }
  // Locks the subject before the comment; deleting the subject takes the locks in the same order.
  await mustReach(tx, caller, subject)
  found(await tx.row(sql`select 1 from comments where id = ${id} for key share`))
  return { subject, comment: { id, threadId } }
}

/**
 * Locks the subject, so that it is not deleted, moved or made personal until the transaction ends. Throws 404 if the app
 * cannot access it. It is read after the lock: a transaction that we waited for may have changed a project's teams.
 */
async function mustReach(tx: Tx, caller: App, subject: SessionSubject) {
  const [table, id] = 'issueId' in subject ? [sql`issues`, subject.issueId] : [sql`projects`, subject.projectId]
  const isItem = sql`workspace_id = ${caller.workspaceId} and id = ${id}`
  await tx.row(sql`select 1 from ${table} where ${isItem} for key share`)
  const teams =
    'issueId' in subject
      ? sql`array_remove(array[team_id], null)`
      : sql`array(select team_id from project_teams where project_id = ${id})`
  const item = await tx.row<{ personal: boolean; teamIds: string[] }>(sql`
    select personal, ${teams} as "teamIds" from ${table} where ${isItem}`)
  if (!reaches(caller, { personalOf: null, ...found(item) })) throw notFound()
}

async function insert(
  { tx, now, caller, config, chain }: UnitOfWork<Actor>,
  { agent, subject, personalOf = null, comment, revision }: SessionStart,
): Promise<Session> {
  const { workspaceId } = caller
  const openedByAgent = caller.kind === 'app'
  const lifecycle = newLifecycle(now)
  const session: Session = {
    id: newId('sess'),
    workspaceId,
    agentId: agent.id,
    installationId: agent.installationId,
    ownerId: ownerOf(agent),
    issueId: 'issueId' in subject ? subject.issueId : null,
    projectId: 'projectId' in subject ? subject.projectId : null,
    personalOf,
    threadId: comment?.threadId ?? null,
    creatorId: caller.id,
    openedByAgent,
    createdEventId: null,
    createdAt: now,
    lifecycle,
    plan: [],
    externalUrls: [],
    lastSeq: 0,
    ephemeralSeq: null,
    recent: [],
    version: 0,
    dueAt: dueAt({ createdAt: now, openedByAgent }, lifecycle, now, config),
  }
  await tx.run(sql`
    insert into agent_sessions (id, workspace_id, agent_id, installation_id, owner_id, issue_id, project_id, personal_of,
      comment_id, thread_id, delegation_revision, creator_id, opened_by_agent, state, quiet_since, due_at, created_at,
      updated_at, chain)
    values (${session.id}, ${workspaceId}, ${agent.id}, ${agent.installationId}, ${session.ownerId}, ${session.issueId},
      ${session.projectId}, ${personalOf}, ${comment?.id ?? null}, ${session.threadId}, ${revision ?? null},
      ${caller.id}, ${openedByAgent}, ${lifecycle.state}, ${lifecycle.quietSince}, ${session.dueAt}, ${now}, ${now},
      ${chain ? json(linksOf(chain)) : null})`)
  sendSessionHint(tx, session, 'create')
  return session
}
