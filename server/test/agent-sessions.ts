import type { AgentActivity, AgentSession } from '@baton/protocol'
import { sql } from '../src/db/sql.ts'
import type { Client } from './client.ts'
import type { TestApp } from './harness.ts'

/** Makes an app available; nothing is sent to it unless the test delivers. */
const hook = 'https://robots.example.com/hook'
export const everyScope = ['read', 'write', 'app:assignable', 'app:mentionable']

/** A valid content for each type of activity. */
export const contents = {
  thought: { type: 'thought', body: 'Looking.' },
  action: { type: 'action', action: 'Read', parameter: 'main.ts' },
  elicitation: { type: 'elicitation', body: 'Which branch?' },
  response: { type: 'response', body: 'Done.' },
  error: { type: 'error', body: 'It broke.' },
} as const
export type AppActivityType = keyof typeof contents

/** A workspace with two teams, an app that covers the first one, and functions that open sessions. */
export async function sessionScene(app: TestApp, { webhook = hook } = {}) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: otherTeam } = await owner.post('/teams', { name: 'Design', key: 'DES' })
  for (const { id } of [team, otherTeam]) {
    for (const person of [owner, member]) await owner.put(`/teams/${id}/members/${person.user.id}`)
  }
  const robot = await app.installed(owner, { scopes: everyScope, teamIds: [team.id], webhook })
  await outliveTests(app, robot.installationId)

  const newIssue = async (fields = {}, by: Client = member) =>
    (await by.post('/issues', { title: 'A bug', team_id: team.id, ...fields })).body
  const newProject = async (fields = {}) =>
    (await owner.post('/projects', { title: 'A plan', team_ids: [team.id], ...fields })).body
  const comment = async (target: { id: string }, text: string, fields = {}, by: Client = member) => {
    const target_type = target.id.startsWith('iss_') ? 'issue' : 'project'
    return (await by.post('/comments', { target_type, target_id: target.id, text, ...fields })).body
  }
  const latest = async (): Promise<AgentSession> => (await robot.get('/agent-sessions?limit=1')).body.data[0]
  const at = (id: string) => conversation(robot, member, id)

  /** A session that the member opened by delegating a new issue. */
  const delegated = async (fields = {}) => {
    await newIssue({ delegate_id: robot.userId, ...fields })
    return at((await latest()).id)
  }
  /** A session that the member opened by mentioning the app, on an issue or project. */
  const mentioned = async (target: { id: string }, fields = {}) => {
    const created = await comment(target, `@[Robot](${robot.userId}) look`, fields)
    return { ...at((await latest()).id), comment: created }
  }
  /** A session that the app opened. */
  const begun = async (body?: Record<string, unknown>) => {
    const { body: session } = await robot.post('/agent-sessions', body ?? { issue_id: (await newIssue()).id })
    return at(session.id)
  }
  return {
    ...workspace,
    team,
    otherTeam,
    robot,
    newIssue,
    newProject,
    comment,
    latest,
    delegated,
    mentioned,
    begun,
    at,
  }
}

/** Tokens expire after an hour, and the clock of these tests advances further. */
async function outliveTests(app: TestApp, installationId: string) {
  const expires = new Date(app.clock.now().getTime() + 30 * 86_400_000)
  await app.ctx.db.run(sql`
    with g as (update grants set expires_at = ${expires} where installation_id = ${installationId} returning id)
    update access_tokens set expires_at = ${expires} where grant_id in (select id from g)`)
}

export type SessionScene = Awaited<ReturnType<typeof sessionScene>>
export type Conversation = ReturnType<typeof conversation>

/** One session as its app and a person use it. */
export function conversation(robot: Client, person: Client, id: string) {
  const path = `/agent-sessions/${id}`
  return {
    id,
    path,
    get: async (by: Client = robot): Promise<AgentSession> => (await by.get(path)).body,
    say: (what: AppActivityType | Record<string, unknown>, more: Record<string, unknown> = {}, headers = {}) => {
      const content = typeof what === 'string' ? contents[what] : what
      return robot.post(`${path}/activities`, { content, ...more }, { headers })
    },
    write: (body: string, more: Record<string, unknown> = {}, headers = {}) =>
      person.post(`${path}/activities`, { content: { type: 'prompt', body }, ...more }, { headers }),
    stop: () => person.post(`${path}/stop`),
    change: (body: Record<string, unknown>) => robot.patch(path, body),
    activities: async (query = '?limit=200'): Promise<AgentActivity[]> =>
      (await robot.get(`${path}/activities${query}`)).body.data,
  }
}

/** Brings a new session into a state. Advances the clock only for `stale`. */
export async function bringTo(app: TestApp, session: Conversation, state: AgentSession['state']) {
  const activityFor: Partial<Record<AgentSession['state'], AppActivityType>> = {
    active: 'thought',
    awaitingInput: 'elicitation',
    complete: 'response',
    error: 'error',
  }
  const type = activityFor[state]
  if (type) await session.say(type)
  if (state === 'stale') app.clock.advance({ minutes: 30 })
  if (state === 'stopping') await session.stop()
}

export const refusal = (status: number, code: string, details = {}) => ({ status, body: { code, details } })
export const invalid = refusal(422, 'VALIDATION_ERROR')
export const missing = refusal(404, 'RESOURCE_NOT_FOUND')
export const ended = (end_reason: string) => refusal(409, 'SESSION_ENDED', { end_reason })
