import { expect } from 'vitest'
import { accepted } from '../../test/calls.ts'
import { type TestApp, test } from '../../test/harness.ts'
import type { Receiver } from '../../test/receiver.ts'
import { eventExamples, stopExample } from './events-page.ts'

type Json = { [key: string]: unknown }

/** Sends one event of each type and action to a webhook and to an app; returns all bodies. */
async function realEvents(app: TestApp, receiver: Receiver): Promise<Json[]> {
  const { owner } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const types = ['Issue', 'Comment', 'Project']
  const hook = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: types }
  const { body: webhook } = await owner.post('/webhooks', hook)
  const scopes = ['read', 'app:assignable', 'app:mentionable']
  const robot = await app.installed(owner, { scopes, webhook: receiver.url })

  await owner.post(`/webhooks/${webhook.id}/test`)
  await owner.patch(`/teams/${team.id}`, { guidance: 'Be kind.' })
  const { body: project } = await owner.post('/projects', { title: 'New shop', team_ids: [team.id] })
  await owner.put(`/projects/${project.id}`, { status: 'ready' })
  const { body: issue } = await owner.post('/issues', { title: 'Fix the door', team_id: team.id })
  const { body: comment } = await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
  await owner.put(`/comments/${comment.id}`, { text: 'Aha' })
  await owner.put(`/issues/${issue.id}`, { delegate_id: robot.userId, assignee_id: owner.user.id })
  const { body: sessions } = await owner.get(`/agent-sessions?issue_id=${issue.id}`)
  const path = `/agent-sessions/${sessions.data[0].id}`
  await robot.post(`${path}/activities`, { content: { type: 'thought', body: 'Hm' } })
  await robot.patch(path, {
    plan: [{ content: 'Look', status: 'pending' }],
    external_urls: [{ label: 'Change', url: 'https://example.com/1' }],
    usage: accepted.updateAgentSession?.usage,
  })
  await robot.put(`${path}/changes`, accepted.setSessionChanges)
  await owner.post(`${path}/activities`, { content: { type: 'prompt', body: 'Please' } })
  await owner.post(`${path}/stop`)
  await app.deliver()
  await owner.patch(`/installations/${robot.installationId}`, { team_ids: [team.id] })
  await owner.delete(`/comments/${comment.id}`)
  await owner.delete(`/issues/${issue.id}`)
  await owner.delete(`/projects/${project.id}`)
  await app.deliver()
  await owner.delete(`/installations/${robot.installationId}`)
  await app.deliver()
  return receiver.take().map(({ body }) => body as Json)
}

/** The fields at every depth. Null and empty lists say nothing about theirs, so both sides ignore them there. */
function fieldsOf(value: unknown, other: unknown): unknown {
  if (value === null || other === null || other === undefined) return 'any'
  if (Array.isArray(value) && Array.isArray(other)) {
    return value.length === 0 || other.length === 0 ? ['any'] : [fieldsOf(value[0], other[0])]
  }
  if (typeof value !== 'object' || typeof other !== 'object') return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([key, item]) => [key, fieldsOf(item, (other as Json)[key])]),
  )
}

/** Fields whose keys depend on the change. */
const without = ({ updated_from: _, ...rest }: Json) => rest

test('the examples of events have exactly the fields of real events', async ({ app, receiver }) => {
  const events = await realEvents(app, receiver)
  const kinds = (all: Json[]) => [...new Set(all.map(({ type, action }) => `${type} ${action}`))].sort()
  expect(kinds(events)).toEqual(kinds(eventExamples.map(({ body }) => body)))

  const signalOf = ({ data }: Json) => (data as { agent_activity?: { signal?: unknown } }).agent_activity?.signal
  for (const example of [...eventExamples.map(({ body }) => body), stopExample]) {
    const real = events.find(
      (event) =>
        event.type === example.type && event.action === example.action && signalOf(event) === signalOf(example),
    ) as Json
    expect(real, `${example.type} ${example.action}`).toBeDefined()
    expect('updated_from' in real).toBe('updated_from' in example)
    expect(fieldsOf(without(example), without(real))).toEqual(fieldsOf(without(real), without(example)))
  }
})
