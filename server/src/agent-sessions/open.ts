import type { AgentSession, NewSession } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor, App, Member } from '../http/caller.ts'
import { found, invalid, notFound } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { type Agent, findAgents, ownerOf } from '../installations/agents.ts'
import { reaches } from '../installations/reach.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { recordCreated } from './events.ts'
import { type About, lockSessions, readSession, type Session, saveStandings } from './session.ts'
import { dueAt, opened } from './state.ts'
import { watched } from './watched.ts'

/** What a session begins with. */
interface Beginning {
  agent: Agent
  place: About
  personalOf?: string | null
  comment?: { id: string; threadId: string }
  /** Of the delegation. */
  revision?: number
}

/** A person delegated or mentioned: the session is opened and its agent told, in the caller's transaction. */
export async function openForPerson(unit: UnitOfWork<Member>, beginning: Beginning) {
  const session = await insert(unit, beginning)
  await recordCreated(unit, session, beginning.comment?.id ?? null)
}

/** 4.5: an app opens a session by itself; nobody needs to be told. In a thread that has an open one, that is the one. */
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
    // Held, so that neither its teams nor its tokens are taken away while the session begins.
    const [agent] = await findAgents(tx, caller.workspaceId, [caller.id], sql`for share of i`)
    if (!agent?.standing) throw notFound()
    const reach: App = { ...caller, ...agent.standing }
    const beginning = issue_id
      ? await beginAtIssue(tx, reach, issue_id)
      : await beginAtComment(tx, reach, comment_id as string)
    const open = beginning.comment && (await openInThread(unit, beginning.comment.threadId))
    const session = open ?? (await insert(unit, { ...beginning, agent }))
    return { session: await readSession(unit, session.id), isNew: !open }
  })
}

/** The session of this agent in a thread that has not ended. Held until the transaction ends. */
async function openInThread(unit: UnitOfWork<App>, threadId: string) {
  const sessions = await sessionsInThread(unit, threadId)
  return sessions.find((session) => session.agentId === unit.caller.id)
}

/** All sessions of a thread that have not ended; those that time has ended are written down as ended. */
export async function sessionsInThread(unit: UnitOfWork, threadId: string): Promise<Session[]> {
  const { tx } = unit
  // One thread at a time, so that two people who mention an agent at once open one session.
  await tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`thread ${threadId}`}, 0))`)
  const sessions = await lockSessions(unit, sql`s.thread_id = ${threadId} and s.ended_at is null`)
  const over = sessions.filter(({ standing }) => standing.endedAt)
  if (over.length > 0) await saveStandings(unit, over)
  for (const session of over) watched(tx, session)
  return sessions.filter((session) => !over.includes(session))
}

async function beginAtIssue(tx: Tx, caller: App, issueId: string): Promise<Omit<Beginning, 'agent'>> {
  await mustReach(tx, caller, { issueId })
  return { place: { issueId } }
}

async function beginAtComment(tx: Tx, caller: App, id: string): Promise<Omit<Beginning, 'agent'>> {
  const comment = await tx.row<{ issueId: string | null; projectId: string | null; threadId: string }>(sql`
    select issue_id as "issueId", project_id as "projectId", coalesce(parent_comment_id, id) as "threadId" from comments
    where workspace_id = ${caller.workspaceId} and id = ${id} and not internal`)
  const { issueId, projectId, threadId } = found(comment)
  const place = issueId ? { issueId } : { projectId: projectId as string }
  // What it stands on first, as whoever deletes that does.
  await mustReach(tx, caller, place)
  found(await tx.row(sql`select 1 from comments where id = ${id} for key share`))
  return { place, comment: { id, threadId } }
}

/**
 * 404 unless the app reaches it. Held, it is neither deleted, moved nor made personal until we are done. Read only when
 * it is held: what was waited for may have left a project its row and taken its teams.
 */
async function mustReach(tx: Tx, caller: App, place: About) {
  const [table, id] = 'issueId' in place ? [sql`issues`, place.issueId] : [sql`projects`, place.projectId]
  const theirs = sql`workspace_id = ${caller.workspaceId} and id = ${id}`
  await tx.row(sql`select 1 from ${table} where ${theirs} for key share`)
  const teams =
    'issueId' in place
      ? sql`array_remove(array[team_id], null)`
      : sql`array(select team_id from project_teams where project_id = ${id})`
  const item = await tx.row<{ personal: boolean; teamIds: string[] }>(sql`
    select personal, ${teams} as "teamIds" from ${table} where ${theirs}`)
  if (!reaches(caller, { personalOf: null, ...found(item) })) throw notFound()
}

async function insert(
  { tx, now, caller, config }: UnitOfWork<Actor>,
  { agent, place, personalOf = null, comment, revision }: Beginning,
): Promise<Session> {
  const { workspaceId } = caller
  const openedByAgent = caller.kind === 'app'
  const standing = opened(now)
  const session: Session = {
    id: newId('sess'),
    workspaceId,
    agentId: agent.id,
    installationId: agent.installationId,
    ownerId: ownerOf(agent),
    issueId: 'issueId' in place ? place.issueId : null,
    projectId: 'projectId' in place ? place.projectId : null,
    personalOf,
    threadId: comment?.threadId ?? null,
    creatorId: caller.id,
    openedByAgent,
    createdEventId: null,
    createdAt: now,
    standing,
    plan: [],
    externalUrls: [],
    lastSeq: 0,
    ephemeralSeq: null,
    recent: [],
    version: 0,
    dueAt: dueAt({ createdAt: now, openedByAgent }, standing, now, config),
  }
  await tx.run(sql`
    insert into agent_sessions (id, workspace_id, agent_id, installation_id, owner_id, issue_id, project_id, personal_of,
      comment_id, thread_id, delegation_revision, creator_id, opened_by_agent, state, quiet_since, due_at, created_at,
      updated_at)
    values (${session.id}, ${workspaceId}, ${agent.id}, ${agent.installationId}, ${session.ownerId}, ${session.issueId},
      ${session.projectId}, ${personalOf}, ${comment?.id ?? null}, ${session.threadId}, ${revision ?? null},
      ${caller.id}, ${openedByAgent}, ${standing.state}, ${standing.quietSince}, ${session.dueAt}, ${now}, ${now})`)
  watched(tx, session, 'create')
  return session
}
