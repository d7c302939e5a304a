import type { A2aTask, AgentActivity, AgentSession, Delivery } from '@baton/protocol'
import { expect, vi } from 'vitest'
import type { A2aServer } from './a2a-server.ts'
import { done } from './delegation.ts'
import type { TestApp } from './harness.ts'

/** A workspace with a team, and an A2A agent that covers it. */
export async function a2aScene(app: TestApp, server: Pick<A2aServer, 'origin'>, fields: Record<string, unknown> = {}) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const team = await done(owner.post('/teams', { name: 'Engineering', key: 'ENG' }))
  await done(owner.put(`/teams/${team.id}/members/${member.user.id}`))
  const { app: registered, installation_id } = await done(
    owner.post('/agent-apps/a2a', {
      card_url: server.origin,
      scopes: ['app:assignable', 'app:mentionable'],
      team_ids: [team.id],
      ...fields,
    }),
  )
  const { app_user_id: agentId } = await done(owner.get(`/installations/${installation_id}`))
  const path = `/agent-apps/${registered.id}`

  /** A session that the member opened by delegating a new issue. */
  const delegated = async (issueFields = {}) => {
    const issue = await done(
      member.post('/issues', {
        title: 'Door squeaks',
        description: 'It is loud.',
        team_id: team.id,
        delegate_id: agentId,
        ...issueFields,
      }),
    )
    const { data } = await done(owner.get(`/agent-sessions?issue_id=${issue.id}`))
    return at(data[0].id, issue)
  }
  const at = (id: string, issue: { id: string }) => ({
    id,
    issue,
    get: async (): Promise<AgentSession> => done(owner.get(`/agent-sessions/${id}`)),
    activities: async (): Promise<AgentActivity[]> =>
      (await done(owner.get(`/agent-sessions/${id}/activities?limit=200`))).data,
    write: (body: string) =>
      done(member.post(`/agent-sessions/${id}/activities`, { content: { type: 'prompt', body } })),
    stop: () => done(member.post(`/agent-sessions/${id}/stop`)),
    /** Waits until the agent's activities, without thoughts that were replaced, are these. */
    shows: async (...expected: string[]) =>
      eventually(async () => {
        const all: AgentActivity[] = (await done(owner.get(`/agent-sessions/${id}/activities?limit=200`))).data
        expect(all.filter((one) => one.author.kind === 'app' && !one.ephemeral).map(inWords)).toEqual(expected)
      }),
  })
  const tasks = async (): Promise<A2aTask[]> => (await done(owner.get(`${path}/a2a/tasks`))).data
  const deliveries = async (): Promise<Delivery[]> => (await done(owner.get(`${path}/deliveries`))).data
  return {
    ...workspace,
    team,
    app: registered,
    installationId: installation_id,
    agentId,
    path,
    delegated,
    at,
    tasks,
    deliveries,
  }
}

export type A2aScene = Awaited<ReturnType<typeof a2aScene>>

/** For example `response Done.`, or `error a2a_failed It broke.` */
export const inWords = ({ content }: AgentActivity) => {
  const { type, body, reason_code, action, parameter, result } = content as Record<string, string | undefined>
  return [type, reason_code, action, parameter, result ?? body]
    .filter((one) => one !== undefined && one !== null)
    .join(' ')
}

/** Waits for something that other connections bring about. */
export const eventually = <T>(check: () => Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 30_000, interval: 20 })
