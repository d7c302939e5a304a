import { describe, expect } from 'vitest'
import { type TestWorkspace, test, verifies, within } from '../../test/harness.ts'

const invite = async (workspace: TestWorkspace, email: string, role = 'member') =>
  (await workspace.owner.post('/workspaces/me/invitations', { email, role })).body as {
    token: string
    invitation: { id: string }
  }

describe('inviting', () => {
  test('returns the token to the manager', verifies('workspace.invitation-201'), async ({ app }) => {
    const { admin } = await app.workspace()
    const { status, body } = await admin.post('/workspaces/me/invitations', {
      email: 'New@Example.com',
      role: 'member',
    })
    expect(status).toBe(201)
    expect(body.invitation).toMatchObject({ email: 'new@example.com', role: 'member', invited_by: admin.user.id })
    expect(Buffer.from(body.token, 'base64url')).toHaveLength(32)
    expect((await admin.get('/workspaces/me/invitations')).body.data).toEqual([body.invitation])
    expect(await app.everything()).not.toContain(body.token)
  })

  test('accepts the three roles only', verifies('workspace.invitation-role-values'), async ({ app }) => {
    const { owner } = await app.workspace()
    for (const role of ['owner', 'admin', 'member']) {
      expect((await owner.post('/workspaces/me/invitations', { email: 'a@b.example', role })).status).toBe(201)
    }
    for (const role of ['guest', 'Owner', '', null]) {
      const response = await app.unchanged(() =>
        owner.post('/workspaces/me/invitations', { email: 'a@b.example', role }),
      )
      expect(response).toMatchObject({ status: 422, body: { details: { role: 'must be owner, admin or member' } } })
    }
  })

  test('only an owner can invite an owner', verifies('workspace.admin-cannot-invite-owner'), async ({ app }) => {
    const { admin } = await app.workspace()
    const body = { email: 'boss@example.com', role: 'owner' }
    expect(await app.unchanged(() => admin.post('/workspaces/me/invitations', body))).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    })
    expect((await admin.post('/workspaces/me/invitations', { ...body, role: 'admin' })).status).toBe(201)
  })

  test('a plain member can neither invite, list nor withdraw', async ({ app }) => {
    const workspace = await app.workspace()
    const { invitation } = await invite(workspace, 'new@example.com')
    for (const refused of [
      () => workspace.member.post('/workspaces/me/invitations', { email: 'a@b.example', role: 'member' }),
      () => workspace.member.get('/workspaces/me/invitations'),
      () => workspace.member.delete(`/workspaces/me/invitations/${invitation.id}`),
    ]) {
      expect(await app.unchanged(refused)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
  })
})

describe('accepting', () => {
  test('creates a membership with the invited role', verifies('workspace.invitation-accept'), async ({ app }) => {
    const workspace = await app.workspace()
    for (const role of ['owner', 'admin', 'member']) {
      const person = await app.person()
      const { token } = await invite(workspace, person.user.email, role)
      expect(await person.post('/invitations/accept', { token })).toMatchObject({
        status: 200,
        body: { role, workspace: { id: workspace.id } },
      })
      expect((await person.get('/auth/me')).body.workspaces).toMatchObject([{ id: workspace.id, role }])
    }
  })

  test('works once', verifies('workspace.invitation-single-use'), async ({ app }) => {
    const workspace = await app.workspace()
    const [first, second] = [await app.person(), await app.person()]
    const { token } = await invite(workspace, first.user.email)
    expect((await first.post('/invitations/accept', { token })).status).toBe(200)
    const again = await app.unchanged(() => second.post('/invitations/accept', { token }))
    expect(again).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  })

  test('works for 7 days and not longer', verifies('workspace.invitation-single-use'), async ({ app }) => {
    const workspace = await app.workspace()
    const [inTime, late] = [await app.person(), await app.person()]
    const tokens = [await invite(workspace, inTime.user.email), await invite(workspace, late.user.email)]
    app.clock.advance({ days: 7, milliseconds: -1 })
    expect((await inTime.post('/invitations/accept', { token: tokens[0]?.token })).status).toBe(200)
    app.clock.advance({ milliseconds: 1 })
    const response = await app.unchanged(() => late.post('/invitations/accept', { token: tokens[1]?.token }))
    expect(response.status).toBe(404)
    expect((await workspace.owner.get('/workspaces/me/invitations')).body.data).toEqual([])
  })

  test('by a member is refused and keeps their role and the invitation', async ({ app }) => {
    const workspace = await app.workspace()
    const { token } = await invite(workspace, 'new@example.com')
    const response = await app.unchanged(() => workspace.owner.post('/invitations/accept', { token }))
    expect(response).toMatchObject({ status: 409, body: { code: 'ALREADY_MEMBER' } })
    expect((await (await app.person()).post('/invitations/accept', { token })).status).toBe(200)
  })
})

test('deletes invitations that the removed or demoted issuer could no longer create', async ({ app }) => {
  const { owner, admin, join } = await app.workspace()
  const second = await join('owner')
  const issue = async (issuer: typeof admin, role: string) =>
    (await issuer.post('/workspaces/me/invitations', { email: 'me@example.com', role })).body.token
  const tokens = [await issue(admin, 'admin'), await issue(second, 'owner')]
  const stays = await issue(second, 'admin')
  await owner.delete(`/workspaces/me/members/${admin.user.id}`)
  await owner.patch(`/workspaces/me/members/${second.user.id}`, { role: 'admin' })
  const person = await app.person()
  for (const token of tokens) expect((await person.post('/invitations/accept', { token })).status).toBe(404)
  expect((await person.post('/invitations/accept', { token: stays })).status).toBe(200)
})

describe('withdrawing', () => {
  test('ends the invitation', async ({ app }) => {
    const workspace = await app.workspace()
    const { invitation, token } = await invite(workspace, 'new@example.com')
    expect((await workspace.admin.delete(`/workspaces/me/invitations/${invitation.id}`)).status).toBe(204)
    expect((await (await app.person()).post('/invitations/accept', { token })).status).toBe(404)
  })

  test('of another workspace is refused', async ({ app }) => {
    const workspace = await app.workspace()
    const { invitation } = await invite(workspace, 'new@example.com')
    const stranger = within((await app.workspace()).owner, (await app.workspace()).id)
    const elsewhere = (await app.workspace()).owner
    expect((await app.unchanged(() => elsewhere.delete(`/workspaces/me/invitations/${invitation.id}`))).status).toBe(
      404,
    )
    expect((await app.unchanged(() => stranger.delete(`/workspaces/me/invitations/${invitation.id}`))).status).toBe(403)
  })
})

describe('inviting to teams', () => {
  test('adds the person to those teams that still exist', async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: first } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const { body: gone } = await owner.post('/teams', { name: 'Design', key: 'DES' })
    const { body } = await owner.post('/workspaces/me/invitations', {
      email: 'new@example.com',
      role: 'member',
      team_ids: [gone.id, first.id, first.id],
    })
    expect(body.invitation.team_ids).toEqual([first.id, gone.id].sort())
    expect((await owner.delete(`/teams/${gone.id}`)).status).toBe(204)
    const newcomer = await app.person()
    expect((await newcomer.post('/invitations/accept', { token: body.token })).status).toBe(200)
    const { data } = (await owner.get(`/teams/${first.id}/members`)).body
    expect(data.map(({ id }: { id: string }) => id)).toContain(newcomer.user.id)
  })

  test('refuses teams of another workspace and more than 50, and stores nothing', async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: foreign } = await (await app.workspace()).owner.post('/teams', { name: 'Theirs', key: 'ENG' })
    const ids = Array.from({ length: 51 }, (_, at) => `team_${at}`)
    for (const team_ids of [[foreign.id], ids, 'ENG']) {
      const refused = await app.unchanged(() =>
        owner.post('/workspaces/me/invitations', { email: 'new@example.com', role: 'member', team_ids }),
      )
      expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(refused.body.details)[0]).toMatch(/^team_ids/)
    }
  })
})

describe('previewing', () => {
  test('shows workspace, inviter and teams to anyone with the token, and uses nothing up', async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const { body } = await owner.post('/workspaces/me/invitations', {
      email: 'new@example.com',
      role: 'admin',
      team_ids: [team.id],
    })
    const preview = await app.unchanged(() => app.anonymous.post('/invitations/preview', { token: body.token }))
    expect(preview).toMatchObject({ status: 200 })
    expect(preview.body).toEqual({
      workspace: { name: 'Acme' },
      inviter: { name: owner.user.display_name },
      email: 'new@example.com',
      role: 'admin',
      teams: [{ key: 'ENG', name: 'Engineering' }],
      expires_at: body.invitation.expires_at,
    })
  })

  test('gives the same answer for unknown, used, withdrawn and expired tokens', async ({ app }) => {
    const workspace = await app.workspace()
    const used = await invite(workspace, 'used@example.com')
    const withdrawn = await invite(workspace, 'withdrawn@example.com')
    const expired = await invite(workspace, 'expired@example.com')
    await (await app.person()).post('/invitations/accept', { token: used.token })
    await workspace.owner.delete(`/workspaces/me/invitations/${withdrawn.invitation.id}`)
    app.clock.advance({ days: 7 })
    const answers = await Promise.all(
      ['unknown', used.token, withdrawn.token, expired.token].map((token) =>
        app.anonymous.post('/invitations/preview', { token }),
      ),
    )
    for (const { status, body } of answers) {
      expect(status).toBe(404)
      expect(body).toEqual(answers[0]?.body)
    }
  })

  test('is limited per network', async ({ app }) => {
    app.clock.advance({ hours: 1 })
    const preview = () => app.anonymous.post('/invitations/preview', { token: 'guess' })
    for (let at = 0; at < 60; at++) expect((await preview()).status).toBe(404)
    expect((await preview()).status).toBe(429)
  })
})
