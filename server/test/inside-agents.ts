import type { AgentActivity, AgentSession } from '@baton/protocol'
import type { Client } from './client.ts'
import { done } from './delegation.ts'
import type { TestApp } from './harness.ts'

/** A workspace with two teams, its built-in agent, and a personal agent of the member. */
export async function insideScene(app: TestApp) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const team = await done(owner.post('/teams', { name: 'Engineering', key: 'ENG' }))
  const other = await done(owner.post('/teams', { name: 'Design', key: 'DES' }))
  for (const { id } of [team, other]) {
    for (const person of [owner, member]) await owner.put(`/teams/${id}/members/${person.user.id}`)
  }
  const { data } = await done(owner.get('/agents?include_deployment=true'))
  const builtIn = data[0].id as string
  const scribe = await done(member.post('/agents/personal', { name: 'Scribe', instructions: 'Be brief.' }))

  const createIssue = (fields: object, by: Client = member) =>
    done(by.post('/issues', { title: 'Login is slow', team_id: team.id, ...fields }))
  const sessionOn = async (target: { id: string }, by: Client = member): Promise<AgentSession> =>
    (await done(by.get(`/agent-sessions?${target.id.startsWith('prj_') ? 'project_id' : 'issue_id'}=${target.id}`)))
      .data[0]
  const readActivities = async (session: { id: string }): Promise<AgentActivity[]> =>
    (await done(member.get(`/agent-sessions/${session.id}/activities?limit=200`))).data
  const write = (session: { id: string }, body: string, more = {}, by: Client = member) =>
    by.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'prompt', body }, ...more })
  return { ...workspace, team, other, builtIn, scribe, createIssue, sessionOn, readActivities, write }
}

export const typesOf = (activities: AgentActivity[]) => activities.map(({ type }) => type)
export const lastBody = (activities: AgentActivity[]) =>
  (activities.at(-1) as { content: { body: string } }).content.body
