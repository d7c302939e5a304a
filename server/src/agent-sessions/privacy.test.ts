import { expect } from 'vitest'
import { test } from '../../test/harness.ts'

test('a session on what became one person’s own stays out of others’ sight when that is deleted', async ({ app }) => {
  const { owner, member } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: issue } = await owner.post('/issues', { title: 'Mine', team_id: team.id })
  const { body: project } = await owner.post('/projects', { title: 'Mine too', team_ids: [team.id] })
  const scopes = ['app:assignable', 'app:mentionable']
  const robot = await app.installed(owner, { scopes, webhook: 'http://localhost:9' })
  const text = `Look, @[Robot](${robot.userId})`
  await owner.put(`/issues/${issue.id}`, { delegate_id: robot.userId })
  await owner.post('/comments', { target_type: 'project', target_id: project.id, text })
  const sessions = (await member.get('/agent-sessions')).body.data as { id: string }[]
  expect(sessions).toHaveLength(2)
  for (const path of [`/issues/${issue.id}`, `/projects/${project.id}`]) {
    expect((await owner.put(path, { personal: true })).status).toBe(200)
    expect((await owner.delete(path)).status).toBe(204)
  }
  for (const path of sessions.map(({ id }) => `/agent-sessions/${id}`)) {
    for (const address of [path, `${path}/activities`]) {
      expect((await owner.get(address)).status).toBe(200)
      expect(await member.get(address)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
    const stop = await app.unchanged(() => member.post(`${path}/stop`))
    expect(stop).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  }
  expect((await member.get('/agent-sessions')).body.data).toEqual([])
})
