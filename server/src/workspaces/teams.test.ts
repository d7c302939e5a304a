import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'

const withTeam = async (app: TestApp) => {
  const workspace = await app.workspace()
  const { body: team } = await workspace.owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  return { ...workspace, team }
}

describe('creating', () => {
  test('a manager creates a team and becomes a member of it', verifies('team.create'), async ({ app }) => {
    const { admin } = await app.workspace()
    const created = await admin.post('/teams', { name: 'Engineering', key: 'ENG' })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ name: 'Engineering', key: 'ENG', guidance: '', repositories: [] })
    expect((await admin.get('/teams')).body).toEqual({ data: [created.body], next_cursor: null })
    expect((await admin.get(`/teams/${created.body.id}`)).body).toEqual(created.body)
    const { data } = (await admin.get(`/teams/${created.body.id}/members`)).body
    expect(data).toMatchObject([{ id: admin.user.id }])
  })

  test('requires name and key', verifies('team.create-requires-name-and-key'), async ({ app }) => {
    const { owner } = await app.workspace()
    for (const [given, details] of [
      [{}, { name: 'is required', key: 'is required' }],
      [{ name: 'Engineering' }, { key: 'is required' }],
      [{ key: 'ENG' }, { name: 'is required' }],
    ]) {
      const { status, body } = await app.unchanged(() => owner.post('/teams', given))
      expect([status, body.code, body.details]).toEqual([422, 'VALIDATION_ERROR', details])
    }
  })

  const keys: [key: string, status: number, ...ids: RequirementId[]][] = [
    ['AB', 201, 'team.key-length-limits'],
    ['ABCDEF', 201, 'team.key-length-limits'],
    ['A1', 201, 'team.key-characters'],
    ['E2E9', 201, 'team.key-characters'],
    ['A', 422, 'team.key-length-limits'],
    ['ABCDEFG', 422, 'team.key-length-limits'],
    ['Eng', 422, 'team.key-characters'],
    ['1AB', 422, 'team.key-characters'],
    ['A-B', 422, 'team.key-characters'],
    ['A B', 422, 'team.key-characters'],
    ['ÄB', 422, 'team.key-characters'],
    ['AB\n', 422, 'team.key-characters'],
  ]
  for (const [key, status, ...ids] of keys) {
    test(`key ${JSON.stringify(key)} answers ${status}`, verifies(...ids), async ({ app }) => {
      const { owner } = await app.workspace()
      const response = await owner.post('/teams', { name: 'Team', key })
      expect(response.status).toBe(status)
      if (status === 422) expect(response.body.details).toHaveProperty('key')
      expect((await owner.get('/teams')).body.data).toHaveLength(status === 201 ? 1 : 0)
    })
  }

  test('a key is unique in its workspace only', verifies('team.key-unique', 'team.key-taken'), async ({ app }) => {
    const { owner } = await withTeam(app)
    const second = await app.unchanged(() => owner.post('/teams', { name: 'Other', key: 'ENG' }))
    expect(second).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
    expect(second.body.details).toEqual({ key: 'is taken by another team' })
    const elsewhere = await app.workspace()
    expect((await elsewhere.owner.post('/teams', { name: 'Engineering', key: 'ENG' })).status).toBe(201)
  })

  test('a plain member cannot create teams', async ({ app }) => {
    const { member } = await app.workspace()
    const response = await app.unchanged(() => member.post('/teams', { name: 'Engineering', key: 'ENG' }))
    expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })
})

describe('reading', () => {
  test('a person sees every team of the workspace', verifies('team.list-every-team-of-workspace'), async ({ app }) => {
    const { member, team } = await withTeam(app)
    expect((await member.get('/teams')).body.data).toEqual([team])
    expect((await member.get(`/teams/${team.id}/members`)).body.data).not.toMatchObject([{ id: member.user.id }])
  })

  test('a team of another workspace is not found', async ({ app }) => {
    const { team } = await withTeam(app)
    const { owner: stranger } = await app.workspace()
    for (const path of [`/teams/${team.id}`, `/teams/${team.id}/members`]) {
      expect(await stranger.get(path)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
    expect((await stranger.get('/teams')).body.data).toEqual([])
  })
})

describe('changing', () => {
  test(
    'changes only the fields that were sent',
    verifies('team.patch-name', 'team.patch-guidance', 'team.patch-repositories'),
    async ({ app }) => {
      const { admin, team } = await withTeam(app)
      const repositories = [{ repository: 'acme/web', url: 'https://git.example/acme/web' }, { repository: 'acme/api' }]
      const path = `/teams/${team.id}`
      let expected = team
      for (const change of [
        { name: 'Platform' },
        { guidance: 'Write tests.' },
        { repositories },
        { repositories: [] },
      ]) {
        app.clock.advance({ seconds: 1 })
        const { status, body } = await admin.patch(path, change)
        expect(status).toBe(200)
        expected = { ...expected, ...change, updated_at: app.clock.now().toISOString() }
        expect(body).toEqual(expected)
      }
    },
  )

  const unfit: [change: object, field: string, ...ids: RequirementId[]][] = [
    [{ key: 'NEW' }, 'key', 'team.patch-key-refused'],
    [
      { repositories: [{ url: 'https://git.example/acme/web' }] },
      'repositories.0.repository',
      'team.patch-repositories-item-invalid',
    ],
    [
      { repositories: [{ repository: 'a', url: 'ftp://git.example' }] },
      'repositories.0.url',
      'team.patch-repositories-item-invalid',
    ],
    [
      { repositories: [{ repository: 'a', branch: 'main' }] },
      'repositories.0.branch',
      'team.patch-repositories-item-invalid',
    ],
    [{ repositories: Array.from({ length: 51 }, () => ({ repository: 'a' })) }, 'repositories'],
    [{ guidance: 'x'.repeat(10_001) }, 'guidance'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(81) }, 'name'],
    [{ name: null }, 'name'],
  ]
  for (const [change, field, ...ids] of unfit) {
    test(
      `a change that does not fit is refused: ${JSON.stringify(change).slice(0, 80)}`,
      verifies(...ids),
      async ({ app }) => {
        const { owner, team } = await withTeam(app)
        const { status, body } = await app.unchanged(() => owner.patch(`/teams/${team.id}`, change))
        expect(status).toBe(422)
        expect(Object.keys(body.details)).toEqual([field])
      },
    )
  }

  test('accepts values at their limits', async ({ app }) => {
    const { owner, team } = await withTeam(app)
    const change = {
      name: '🙂'.repeat(80),
      guidance: 'x'.repeat(10_000),
      repositories: Array.from({ length: 50 }, () => ({ repository: 'r'.repeat(200) })),
    }
    expect(await owner.patch(`/teams/${team.id}`, change)).toMatchObject({ status: 200, body: change })
  })

  test('is refused for a plain member', async ({ app }) => {
    const { member, team } = await withTeam(app)
    const response = await app.unchanged(() => member.patch(`/teams/${team.id}`, { name: 'Mine' }))
    expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })
})

describe('members', () => {
  test(
    'a manager adds and removes members',
    verifies('team.member-add', 'team.member-remove', 'team.members-list'),
    async ({ app }) => {
      const { owner, admin, member, team } = await withTeam(app)
      const path = `/teams/${team.id}/members`
      expect(await admin.put(`${path}/${member.user.id}`)).toMatchObject({ status: 200, body: { id: member.user.id } })
      const again = await app.unchanged(() => admin.put(`${path}/${member.user.id}`))
      expect(again.status).toBe(200)
      const ids = (await member.get(path)).body.data.map((one: { id: string }) => one.id)
      expect(ids.sort()).toEqual([owner.user.id, member.user.id].sort())
      expect((await admin.delete(`${path}/${member.user.id}`)).status).toBe(204)
      expect((await member.get(path)).body.data).toMatchObject([{ id: owner.user.id }])
      expect((await admin.delete(`${path}/${member.user.id}`)).status).toBe(404)
    },
  )

  test(
    'a plain member can leave, but cannot add or remove others',
    verifies('team.member-may-leave'),
    async ({ app }) => {
      const { owner, member, team } = await withTeam(app)
      const path = `/teams/${team.id}/members`
      await owner.put(`${path}/${member.user.id}`)
      for (const refuse of [
        () => member.delete(`${path}/${owner.user.id}`),
        () => member.put(`${path}/${owner.user.id}`),
        () => member.put(`${path}/${member.user.id}`),
      ]) {
        expect(await app.unchanged(refuse)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
      expect((await member.delete(`${path}/${member.user.id}`)).status).toBe(204)
      expect((await owner.get(path)).body.data).toMatchObject([{ id: owner.user.id }])
    },
  )

  test('only members of the workspace can be in its teams', async ({ app }) => {
    const { owner, team } = await withTeam(app)
    const stranger = await app.person()
    const response = await app.unchanged(() => owner.put(`/teams/${team.id}/members/${stranger.user.id}`))
    expect(response).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  })

  test('a member who leaves the workspace leaves its teams', async ({ app }) => {
    const { owner, member, team } = await withTeam(app)
    await owner.put(`/teams/${team.id}/members/${member.user.id}`)
    await owner.delete(`/workspaces/me/members/${member.user.id}`)
    expect((await owner.get(`/teams/${team.id}/members`)).body.data).toMatchObject([{ id: owner.user.id }])
  })
})
