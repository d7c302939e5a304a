import { describe, expect } from 'vitest'
import { test, verifies, within } from '../../test/harness.ts'

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
