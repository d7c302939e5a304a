import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { installedLinearApp } from '../../test/linear.ts'
import { sql } from '../db/sql.ts'
import { stateIdOf } from '../linear-shape/ids.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The 128 bits of an id, without the code of the service. */
function uuidFrom(id: string): string {
  const characters = [...id.slice(id.indexOf('_') + 1)]
  const bits = characters.map((one) => alphabet.indexOf(one).toString(2).padStart(5, '0')).join('')
  expect([id, bits.length, bits.slice(0, 2)]).toEqual([id, 130, '00'])
  const hex = (bits.slice(2).match(/.{4}/g) ?? []).map((four) => Number.parseInt(four, 2).toString(16)).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** All values of fields that hold ids, with their paths. */
function idsIn(value: unknown, path = ''): [path: string, id: unknown][] {
  if (Array.isArray(value)) return value.flatMap((item) => idsIn(item, path))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${path}.${key}`
    if (!/^id$|[a-z]Ids?$/.test(key)) return idsIn(inner, at)
    return [inner].flat().flatMap((id): [string, unknown][] => (id === null ? [] : [[at, id]]))
  })
}

test(
  'every id in an answer or event is the UUID of its id',
  verifies('linear.uuid-bijection'),
  async ({ app, receiver }) => {
    const { id: workspaceId, owner, member } = await app.workspace()
    const post = async (path: string, body: object) => (await owner.post(path, body)).body.id as string
    const teamId = await post('/teams', { name: 'Engineering', key: 'ENG' })
    const labelId = await post('/labels', { name: 'Bug' })
    const place = { team_ids: [teamId], label_ids: [labelId], lead_id: member.user.id, member_ids: [member.user.id] }
    const projectId = await post('/projects', { title: 'Plan', ...place })
    const resourceTypes = ['Issue', 'Project', 'Comment']
    const robot = await installedLinearApp(app, owner, { receiver, resourceTypes })
    const { data: agents } = (await owner.get('/agents?include_apps=true')).body
    const agentId: string = agents.find(({ agent_kind }: { agent_kind: string }) => agent_kind === 'app').id
    const parentId = await post('/issues', { title: 'Parent', team_id: teamId })
    const issueId = await post('/issues', {
      title: 'Door',
      team_id: teamId,
      parent_id: parentId,
      project_id: projectId,
      label_ids: [labelId],
      assignee_id: member.user.id,
      delegate_id: agentId,
    })
    const on = { target_type: 'issue', target_id: issueId }
    const commentId = await post('/comments', { ...on, text: 'Hello' })
    const replyId = await post('/comments', { ...on, text: 'Yes', parent_comment_id: commentId })
    const onProjectId = await post('/comments', { target_type: 'project', target_id: projectId, text: 'Soon' })
    await owner.put(`/projects/${projectId}`, { title: 'Plans' })
    const { data: sessions } = (await owner.get('/agent-sessions')).body
    const sessionId: string = sessions[0].id
    await owner.post(`/agent-sessions/${sessionId}/activities`, { content: { type: 'prompt', body: 'Look.' } })
    const { data: activities } = (await owner.get(`/agent-sessions/${sessionId}/activities`)).body
    await app.deliver()
    const events = receiver.take().map(({ body }) => body)

    const users = await app.ctx.db.rows<{ id: string }>(sql`select id from users`)
    const of: Record<string, string[]> = {
      organization: [workspaceId],
      user: [...users.map(({ id }) => id), agentId],
      team: [teamId],
      label: [labelId],
      project: [projectId],
      issue: [parentId, issueId],
      comment: [commentId, replyId, onProjectId],
      session: [sessionId],
      activity: activities.map(({ id }: { id: string }) => id),
    }
    const asked = Object.fromEntries(Object.entries(of).map(([kind, ids]) => [kind, uuidFrom(ids.at(-1) as string)]))
    // Each kind is also found by its UUID.
    const answer = []
    for (const query of [
      '{viewer{id} organization{id teams{nodes{id}} users{nodes{id}} labels{nodes{id}}}}',
      `{user(id:"${asked.user}"){id} issueLabel(id:"${asked.label}"){id}}`,
      `{team(id:"${asked.team}"){id members{nodes{id}} states{nodes{id}} defaultIssueState{id}}}`,
      `{project(id:"${asked.project}"){id labelIds lead{id} creator{id} teams{nodes{id}} issues{nodes{id}}}}`,
      `{issue(id:"${asked.issue}"){id labelIds team{id} assignee{id} delegate{id} creator{id} parent{id} project{id}
      state{id} labels{nodes{id}} comments{nodes{id issueId parentId user{id} parent{id}}}}}`,
      `{comment(id:"${asked.comment}"){id projectId user{id} project{id}}}`,
      `{agentSession(id:"${asked.session}"){id appUser{id} creator{id} issue{id} activities{nodes{id user{id}}}}}`,
      `{agentActivity(id:"${asked.activity}"){id agentSession{id} sourceComment{id}}}`,
    ]) {
      answer.push(await robot.data(query))
    }
    const uuids = new Map(Object.entries(of).flatMap(([kind, ids]) => ids.map((id) => [uuidFrom(id), kind] as const)))
    const kindOf = (id: unknown) => uuids.get(id as string)
    const inAnswer = idsIn(answer)
    const states = ['backlog', 'todo', 'in_progress', 'qa', 'release', 'done'].map((status) =>
      stateIdOf(status as never),
    )
    expect(inAnswer.filter(([, id]) => !kindOf(id) && !states.includes(id as string))).toEqual([])
    expect(new Set(inAnswer.flatMap(([, id]) => kindOf(id) ?? []))).toEqual(new Set(Object.keys(of)))
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining([...resourceTypes, 'AgentSessionEvent']))
    const inEvents = events.flatMap((event) => idsIn(event))
    const endpoint = await app.ctx.db.row<{ id: string }>(sql`
      select id from endpoints where workspace_id = ${workspaceId}`)
    const others = [...states, robot.client_id, uuidFrom(endpoint?.id ?? '')]
    expect(inEvents.filter(([, id]) => !kindOf(id) && !others.includes(id as string))).toEqual([])
    const found = new Set(inEvents.flatMap(([, id]) => kindOf(id) ?? []))
    expect([...found].sort()).toEqual(Object.keys(of).sort())
  },
)
