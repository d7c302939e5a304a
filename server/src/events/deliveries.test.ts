import { describe, expect } from 'vitest'
import { done, teamwork } from '../../test/delegation.ts'
import { test } from '../../test/harness.ts'
import { webhookScene } from '../../test/webhook.ts'

interface Listed {
  id: string
  type: string
  action: string
  held: boolean
  issue: { id: string; code: string; title: string } | null
}

describe('a delivery names the issue of its event', () => {
  test('with its current title, for the deliveries of an app', async ({ app, receiver }) => {
    const scene = await teamwork(app, receiver)
    const { owner, robot, delegated } = scene
    const { issue, session } = await delegated()
    await done(
      owner.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'prompt', body: 'And now?' } }),
    )
    await done(owner.patch(`/installations/${robot.installationId}`, { all_teams: true }))
    await done(owner.put(`/issues/${issue.id}`, { title: 'Renamed' }))
    const path = `/agent-apps/${robot.app.id}/deliveries`
    const named = { id: issue.id, code: issue.code, title: 'Renamed' }
    const list = async (query = '') => (await done(owner.get(`${path}${query}`))).data as Listed[]
    const ofSession = await list(`?agent_session_id=${session.id}`)
    expect(ofSession.map((one) => [one.action, one.issue])).toEqual([
      ['prompted', named],
      ['created', named],
    ])
    expect((await list('?type=PermissionChange')).map((one) => one.issue)).toEqual([null])
    const [first] = ofSession as [Listed]
    expect((await done(owner.get(`${path}/${first.id}`))).issue).toEqual(named)
    await app.deliver()
    expect((await done(owner.post(`${path}/${first.id}/redeliver`))).issue).toEqual(named)

    // Deleted: as it was in the event.
    await done(owner.delete(`/issues/${issue.id}`))
    const after = await list(`?agent_session_id=${session.id}`)
    expect(after.map((one) => one.issue)).toEqual([
      { ...named, title: issue.title },
      { ...named, title: issue.title },
    ])
  })

  test('also for comments, and none for projects, pings and issues that are private now', async ({ app, receiver }) => {
    const { owner, path } = await webhookScene(app, receiver)
    await done(owner.patch(path, { resource_types: ['Issue', 'Comment', 'Project'] }))
    const list = async () => (await done(owner.get(`${path}/deliveries`))).data as Listed[]
    const shown = async () => (await list()).map(({ type, issue }) => [type, issue?.code ?? null])
    const issue = await done(owner.post('/issues', { title: 'A bug' }))
    const project = await done(owner.post('/projects', { title: 'A plan' }))
    for (const [target_type, target_id] of [
      ['issue', issue.id],
      ['project', project.id],
    ])
      await done(owner.post('/comments', { target_type, target_id, text: 'Hm' }))
    await done(owner.post(`${path}/test`))
    expect(await shown()).toEqual([
      ['Ping', null],
      ['Comment', null],
      ['Comment', issue.code],
      ['Project', null],
      ['Issue', issue.code],
    ])
    await done(owner.put(`/issues/${issue.id}`, { personal: true }))
    for (const { issue: named } of await list()) expect(named).toBeNull()
  })
})

describe('a delivery is held', () => {
  test('while its webhook is disabled, and can be listed alone', async ({ app, receiver }) => {
    const { owner, path, issue } = await webhookScene(app, receiver)
    const list = async (query = '') => (await done(owner.get(`${path}/deliveries${query}`))).data as Listed[]
    await issue('Sent')
    await app.deliver()
    await issue('Waiting')
    const titles = async (query: string) => (await list(query)).map((one) => one.issue?.title)
    expect((await list()).map(({ held }) => held)).toEqual([false, false])
    expect(await titles('?status=held')).toEqual([])
    await done(owner.post(`${path}/disable`))
    expect((await list()).map(({ held }) => held)).toEqual([true, false])
    expect(await titles('?status=held')).toEqual(['Waiting'])
    expect(await titles('?status=held&type=Issue')).toEqual(['Waiting'])
    expect(await titles('?status=held&type=Ping')).toEqual([])
    expect(await titles('?status=pending')).toEqual(['Waiting'])
    await done(owner.post(`${path}/enable`))
    expect(await titles('?status=held')).toEqual([])
  })

  test('while an earlier one of its session was not attempted', async ({ app, receiver }) => {
    const { owner, robot, delegated } = await teamwork(app, receiver)
    const { session } = await delegated()
    await done(owner.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'prompt', body: 'And?' } }))
    const path = `/agent-apps/${robot.app.id}/deliveries`
    const held = async () =>
      ((await done(owner.get(`${path}?status=held`))).data as Listed[]).map(({ action }) => action)
    expect(await held()).toEqual(['prompted'])
    receiver.answer = 500
    await app.deliver()
    expect(await held()).toEqual([])
  })
})
