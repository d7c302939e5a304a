import { describe, expect } from 'vitest'
import { test, verifies, verifiesOnPostgres, within } from '../../test/harness.ts'

describe('creating', () => {
  test(
    'the creator is the owner',
    verifies('workspace.create-201', 'workspace.creator-is-owner', 'workspace.get-me'),
    async ({ app }) => {
      const person = await app.person()
      const { status, body } = await person.post('/workspaces', { name: 'Acme' })
      expect(status).toBe(201)
      expect(body).toMatchObject({ name: 'Acme', guidance: '' })
      expect((await person.get('/auth/me')).body.workspaces).toEqual([{ id: body.id, name: 'Acme', role: 'owner' }])
      expect((await within(person, body.id).get('/workspaces/me')).body).toEqual(body)
    },
  )

  test('a name is required', verifies('workspace.create-name-required'), async ({ app }) => {
    const person = await app.person()
    const { status, body } = await app.unchanged(() => person.post('/workspaces', {}))
    expect({ status, body }).toMatchObject({ status: 422, body: { details: { name: 'is required' } } })
  })

  test('a person creates at most 20', verifies('workspace.limit-per-person'), async ({ app }) => {
    const person = await app.person()
    const create = () => person.post('/workspaces', { name: 'Acme' })
    for (let made = 0; made < 20; made++) expect((await create()).status).toBe(201)
    const refused = await app.unchanged(create)
    expect(refused).toMatchObject({ status: 409, body: { code: 'WORKSPACE_LIMIT_REACHED' } })
    expect((await person.get('/auth/me')).body.workspaces).toHaveLength(20)
    // It is a limit for each person, and leaving a workspace does not lower the count.
    const [first] = (await person.get('/auth/me')).body.workspaces
    const other = await app.person()
    const asMember = within(person, first.id)
    const { token } = (await asMember.post('/workspaces/me/invitations', { email: other.user.email, role: 'owner' }))
      .body
    expect((await other.post('/invitations/accept', { token })).status).toBeLessThan(300)
    expect((await asMember.delete(`/workspaces/me/members/${person.user.id}`)).status).toBe(204)
    expect((await app.unchanged(create)).status).toBe(409)
    expect((await other.post('/workspaces', { name: 'Other' })).status).toBe(201)
  })

  test(
    'a person who creates several concurrently gets no more than 20',
    verifiesOnPostgres('workspace.limit-per-person'),
    async ({ app }) => {
      const person = await app.person()
      for (let made = 0; made < 15; made++) await person.post('/workspaces', { name: 'Acme' })
      const answers = await Promise.all(Array.from({ length: 12 }, () => person.post('/workspaces', { name: 'Acme' })))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
      expect(answers.filter(({ body }) => body.code === 'WORKSPACE_LIMIT_REACHED')).toHaveLength(7)
    },
  )

  test('X-Workspace-ID selects the workspace', verifies('workspace.get-me'), async ({ app }) => {
    const person = await app.person()
    const names = ['One', 'Two']
    for (const name of names) {
      const { body } = await person.post('/workspaces', { name })
      expect((await within(person, body.id).get('/workspaces/me')).body.name).toBe(name)
    }
  })
})

describe('changing', () => {
  test(
    'owners and admins can change name and guidance separately',
    verifies('workspace.patch-name', 'workspace.patch-guidance', 'workspace.patch-admin-allowed'),
    async ({ app }) => {
      const { owner, admin } = await app.workspace('Acme')
      expect((await owner.patch('/workspaces/me', { guidance: 'Be kind.' })).body).toMatchObject({
        name: 'Acme',
        guidance: 'Be kind.',
      })
      expect((await admin.patch('/workspaces/me', { name: 'Acme Ltd' })).body).toMatchObject({
        name: 'Acme Ltd',
        guidance: 'Be kind.',
      })
      expect((await owner.patch('/workspaces/me', { guidance: '' })).body).toMatchObject({
        name: 'Acme Ltd',
        guidance: '',
      })
    },
  )

  test(
    'is refused for a plain member',
    verifies('workspace.patch-member-refused', 'http.role-refusal-is-forbidden'),
    async ({ app }) => {
      const { member } = await app.workspace()
      const response = await app.unchanged(() => member.patch('/workspaces/me', { name: 'Mine' }))
      expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', details: {} } })
    },
  )
})

describe('the header X-Workspace-ID', () => {
  test('is required', verifies('workspace.header-missing-400'), async ({ app }) => {
    const { owner } = await app.workspace()
    const bare = app.anonymous.with({ authorization: `Bearer ${owner.token}` })
    for (const path of ['/workspaces/me', '/workspaces/me/members', '/teams', '/audit-log']) {
      expect(await bare.get(path)).toMatchObject({ status: 400, body: { code: 'WORKSPACE_REQUIRED' } })
    }
  })

  test('must name a workspace of the caller', verifies('workspace.header-not-callers-403'), async ({ app }) => {
    const { owner } = await app.workspace()
    const other = await app.workspace()
    for (const id of [other.id, 'wsp_00000000000000000000000000', 'nonsense']) {
      const stranger = within(owner, id)
      expect(await stranger.get('/teams')).toMatchObject({ status: 403, body: { code: 'WORKSPACE_ACCESS_DENIED' } })
      const write = await app.unchanged(() => stranger.post('/teams', { name: 'Spies', key: 'SPY' }))
      expect(write).toMatchObject({ status: 403, body: { code: 'WORKSPACE_ACCESS_DENIED' } })
    }
  })
})
