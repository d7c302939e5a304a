import { expect } from 'vitest'
import type { Client, Response } from './client.ts'
import type { TestApp, TestPerson } from './harness.ts'
import type { Received, Receiver } from './receiver.ts'

export type Robot = Awaited<ReturnType<TestApp['installed']>>

/** The scopes that an app needs for delegations and mentions. */
export const workScopes = ['read', 'write', 'app:assignable', 'app:mentionable']

/** The body of a successful response. */
export async function done(call: Promise<Response>) {
  const { status, body } = await call
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body
}

/**
 * Two teams. `robot` covers the first, `team`, in which `owner` and `member` are and `admin` is not; `outside` is the
 * other. Events for the app are sent to the receiver.
 */
export async function teamwork(
  app: TestApp,
  receiver: Receiver,
  { scopes = workScopes, resourceTypes = [] as string[], everywhere = false } = {},
) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const team = await done(owner.post('/teams', { name: 'Engineering', key: 'ENG' }))
  const outside = await done(owner.post('/teams', { name: 'Design', key: 'DES' }))
  await done(owner.put(`/teams/${team.id}/members/${member.user.id}`))
  const webhook = { url: receiver.url, resource_types: resourceTypes }
  const robot = await app.installed(owner, { scopes, teamIds: everywhere ? null : [team.id], webhook })

  const issueIn = (teamId: string | null, body: object = {}) =>
    done(member.post('/issues', { title: 'A bug', team_id: teamId, ...body }))
  const reread = (issue: { id: string }, by: Client = owner) => done(by.get(`/issues/${issue.id}`))
  /** An issue of the team that a person has delegated to the robot, and its session. */
  const delegated = async (by: TestPerson = member, body: object = {}) => {
    const made = await issueIn(team.id, body)
    const issue = await done(by.put(`/issues/${made.id}`, { delegate_id: robot.userId }))
    return { issue, session: (await sessionsOn(issue))[0] }
  }
  const sessionsOn = async (issue: { id: string }) =>
    (await done(owner.get(`/agent-sessions?issue_id=${issue.id}`))).data
  const sessions = async () => (await done(owner.get('/agent-sessions'))).data
  const rereadSession = (session: { id: string }, by: Client = owner) => done(by.get(`/agent-sessions/${session.id}`))
  /** The deliveries caused by `work`. */
  const receivedDuring = async (work: () => Promise<unknown>): Promise<Received[]> => {
    await app.deliver()
    receiver.take()
    await work()
    await app.deliver()
    return receiver.take()
  }
  return {
    ...workspace,
    team,
    outside,
    robot,
    issueIn,
    reread,
    delegated,
    sessionsOn,
    sessions,
    rereadSession,
    receivedDuring,
  }
}

export type Teamwork = Awaited<ReturnType<typeof teamwork>>

/** Names such as `AgentSessionEvent created`, sorted. */
export const eventNames = (received: Received[]) => received.map(({ body }) => `${body.type} ${body.action}`).sort()

export const at = (one: { userId: string }) => `@[Robot](${one.userId})`

/** A person's comment on an issue or project. */
export const say = (
  by: Client,
  target: { id: string },
  text: string,
  { under = null as { id: string } | null, ...more }: { under?: { id: string } | null; internal?: boolean } = {},
) =>
  done(
    by.post('/comments', {
      target_type: target.id.startsWith('prj_') ? 'project' : 'issue',
      target_id: target.id,
      text,
      ...(under ? { parent_comment_id: under.id } : {}),
      ...more,
    }),
  )
