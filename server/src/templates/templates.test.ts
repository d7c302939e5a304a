import { limits } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { issueScene } from '../../test/issues.ts'

describe('templates of issues', () => {
  test('are created, changed and deleted by members', verifies('template.crud'), async ({ app }) => {
    const { owner, member, team } = await issueScene(app)
    const label = await done(owner.post('/labels', { name: 'Red' }))
    const fields = {
      name: 'Bug report',
      team_id: team.id,
      title: 'Bug: ',
      description: '## Steps',
      priority: 'high',
      type: 'bug',
      label_ids: [label.id],
      default: true,
    }
    const created = await member.post('/templates', fields)
    expect(created).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^tpl_/), ...fields } })
    const shared = await done(member.post('/templates', { name: 'Idea' }))
    expect(shared).toMatchObject({ team_id: null, title: '', priority: 'no_priority', type: 'task', default: false })
    expect((await owner.get('/templates')).body.data).toEqual([shared, created.body])
    expect((await owner.get(`/templates?team_id=${team.id}`)).body.data).toEqual([created.body])

    app.clock.advance({ minutes: 1 })
    const changed = await done(owner.put(`/templates/${created.body.id}`, { title: 'A bug', label_ids: [] }))
    expect(changed).toEqual({
      ...created.body,
      title: 'A bug',
      label_ids: [],
      updated_at: app.clock.now().toISOString(),
    })
    expect((await owner.delete(`/templates/${created.body.id}`)).status).toBe(204)
    expect((await owner.get('/templates')).body.data).toEqual([shared])
    for (const gone of [
      () => owner.delete(`/templates/${created.body.id}`),
      () => owner.put(`/templates/${created.body.id}`, { title: 'Again' }),
    ]) {
      expect(await app.unchanged(gone)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
  })

  test('are listed for an app in the teams that it covers', verifies('template.crud'), async ({ app }) => {
    const { owner, team, other } = await issueScene(app)
    const ours = await done(owner.post('/templates', { name: 'Ours', team_id: team.id }))
    await done(owner.post('/templates', { name: 'Theirs', team_id: other.id }))
    const robot = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team.id] })
    expect((await robot.get('/templates')).body.data).toEqual([ours])
    expect((await robot.get(`/templates?team_id=${other.id}`)).body.data).toEqual([])
    const everywhere = await app.installed(owner, { scopes: ['read'] })
    expect((await everywhere.get('/templates')).body.data).toHaveLength(2)
    const writer = await app.installed(owner, { scopes: ['write'] })
    expect((await writer.get('/templates')).body.code).toBe('INSUFFICIENT_SCOPE')
    const refused = await app.unchanged(() => robot.post('/templates', { name: 'Mine', team_id: team.id }))
    expect(refused.body.code).toBe('SESSION_ONLY_ROUTE')
  })

  test('are at most 50 for a team', verifies('template.crud'), async ({ app }) => {
    const { owner, team } = await issueScene(app)
    const add = (team_id: string | null) => owner.post('/templates', { name: 'Bug report', team_id })
    for (let at = 1; at < limits.templatesPerTeam; at++) await done(add(team.id))
    expect(await add(team.id)).toMatchObject({ status: 201 })
    expect(await app.unchanged(() => add(team.id))).toMatchObject({
      status: 422,
      body: { details: { team_id: expect.stringContaining('50 templates') } },
    })
    expect(await add(null)).toMatchObject({ status: 201 })
  })

  test('have one default for each team and one for the workspace', async ({ app }) => {
    const { owner, team, other } = await issueScene(app)
    const add = (name: string, team_id: string | null) =>
      done(owner.post('/templates', { name, team_id, default: true }))
    const [first, theirs, shared] = [await add('One', team.id), await add('Two', other.id), await add('Three', null)]
    const second = await add('Four', team.id)
    const defaults = async () =>
      (await owner.get('/templates')).body.data.flatMap((one: { id: string; default: boolean }) =>
        one.default ? [one.id] : [],
      )
    expect(await defaults()).toEqual([second.id, shared.id, theirs.id])
    await done(owner.put(`/templates/${first.id}`, { default: true }))
    expect(await defaults()).toEqual([shared.id, theirs.id, first.id])
  })

  test('refer only to teams and labels of the workspace, and lose deleted labels', async ({ app }) => {
    const { owner, team } = await issueScene(app)
    const elsewhere = await issueScene(app)
    const theirs = await done(elsewhere.owner.post('/labels', { name: 'Theirs' }))
    const refused = await app.unchanged(() =>
      owner.post('/templates', { name: 'Bug', team_id: elsewhere.team.id, label_ids: [theirs.id] }),
    )
    expect(refused).toMatchObject({
      status: 422,
      body: { details: { team_id: expect.any(String), label_ids: expect.any(String) } },
    })
    const [red, blue, green] = await Promise.all(
      ['Red', 'Blue', 'Green'].map((name) => done(owner.post('/labels', { name }))),
    )
    const template = await done(
      owner.post('/templates', { name: 'Bug', team_id: team.id, label_ids: [red.id, blue.id] }),
    )
    expect(await app.unchanged(() => elsewhere.owner.put(`/templates/${template.id}`, { name: 'X' }))).toMatchObject({
      status: 404,
    })
    await owner.delete(`/labels/${red.id}`)
    await done(owner.post(`/labels/${blue.id}/merge`, { into_label_id: green.id }))
    expect((await owner.get('/templates')).body.data[0].label_ids).toEqual([green.id])
    await owner.delete(`/teams/${team.id}`)
    expect((await owner.get('/templates')).body.data).toEqual([])
  })
})
