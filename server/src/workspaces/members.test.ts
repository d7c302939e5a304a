import { describe, expect } from 'vitest'
import { test, verifies, verifiesOnPostgres } from '../../test/harness.ts'

const member = (person: { user: { id: string } }) => `/workspaces/me/members/${person.user.id}`

test('members are listed, newest first', verifies('workspace.members-list'), async ({ app }) => {
  const { owner, join } = await app.workspace()
  app.clock.advance({ minutes: 1 })
  const newest = await join('member')
  const { data } = (await newest.get('/workspaces/me/members')).body
  expect(data).toHaveLength(4)
  expect(data[0]).toEqual({
    id: newest.user.id,
    display_name: newest.user.display_name,
    email: newest.user.email,
    role: 'member',
    joined_at: app.clock.now().toISOString(),
  })
  expect(data.find((one: { id: string }) => one.id === owner.user.id).role).toBe('owner')
})

describe('changing a role', () => {
  test('managers can', verifies('workspace.member-patch-by-manager'), async ({ app }) => {
    const workspace = await app.workspace()
    expect(await workspace.admin.patch(member(workspace.member), { role: 'admin' })).toMatchObject({
      status: 200,
      body: { id: workspace.member.user.id, role: 'admin' },
    })
    expect((await workspace.member.patch('/workspaces/me', { name: 'Now I may' })).status).toBe(200)
    expect((await workspace.owner.patch(member(workspace.member), { role: 'member' })).body.role).toBe('member')
    expect((await workspace.member.patch('/workspaces/me', { name: 'No more' })).status).toBe(403)
  })

  test('members cannot', verifies('workspace.member-patch-non-manager-refused'), async ({ app }) => {
    const workspace = await app.workspace()
    for (const target of [workspace.member, workspace.admin]) {
      const response = await app.unchanged(() => workspace.member.patch(member(target), { role: 'member' }))
      expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
  })

  test(
    'only an owner can give or take the role owner',
    verifies('workspace.admin-cannot-make-owner'),
    async ({ app }) => {
      const workspace = await app.workspace()
      for (const [target, role] of [
        [workspace.member, 'owner'],
        [workspace.admin, 'owner'],
        [workspace.owner, 'member'],
      ] as const) {
        const response = await app.unchanged(() => workspace.admin.patch(member(target), { role }))
        expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
      const removal = await app.unchanged(() => workspace.admin.delete(member(workspace.owner)))
      expect(removal).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      expect((await workspace.owner.patch(member(workspace.admin), { role: 'owner' })).body.role).toBe('owner')
    },
  )

  test('the last owner cannot step down', verifies('workspace.last-owner-cannot-step-down'), async ({ app }) => {
    const { owner, join } = await app.workspace()
    const response = await app.unchanged(() => owner.patch(member(owner), { role: 'admin' }))
    expect(response).toMatchObject({ status: 409, body: { code: 'LAST_OWNER' } })
    expect((await owner.patch(member(owner), { role: 'owner' })).status).toBe(200)
    await join('owner')
    expect((await owner.patch(member(owner), { role: 'admin' })).status).toBe(200)
  })

  test('answers 404 for a person who is not a member', async ({ app }) => {
    const { owner } = await app.workspace()
    const stranger = await app.person()
    for (const refused of [
      () => owner.patch(member(stranger), { role: 'admin' }),
      () => owner.delete(member(stranger)),
    ]) {
      expect(await app.unchanged(refused)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
  })
})

describe('removing', () => {
  test(
    'managers can remove a member, who loses access',
    verifies('workspace.member-delete-by-manager', 'workspace.removed-member-loses-access'),
    async ({ app }) => {
      const workspace = await app.workspace()
      expect((await workspace.admin.delete(member(workspace.member))).status).toBe(204)
      expect(await workspace.member.get('/teams')).toMatchObject({
        status: 403,
        body: { code: 'WORKSPACE_ACCESS_DENIED' },
      })
      expect((await workspace.owner.get('/workspaces/me/members')).body.data).toHaveLength(2)
    },
  )

  test(
    'a member can leave but cannot remove others',
    verifies('workspace.member-delete-non-manager-refused'),
    async ({ app }) => {
      const workspace = await app.workspace()
      const response = await app.unchanged(() => workspace.member.delete(member(workspace.admin)))
      expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      expect((await workspace.member.delete(member(workspace.member))).status).toBe(204)
      expect((await workspace.member.get('/teams')).status).toBe(403)
    },
  )

  test(
    'the last owner cannot be removed',
    verifies('workspace.last-owner-cannot-leave', 'workspace.non-last-owner-can-leave'),
    async ({ app }) => {
      const { owner, join } = await app.workspace()
      const response = await app.unchanged(() => owner.delete(member(owner)))
      expect(response).toMatchObject({ status: 409, body: { code: 'LAST_OWNER' } })
      expect((await owner.get('/workspaces/me')).status).toBe(200)
      const second = await join('owner')
      expect((await second.delete(member(owner))).status).toBe(204)
      expect((await second.delete(member(second))).status).toBe(409)
    },
  )

  test(
    'of two owners who leave concurrently, one is refused',
    verifiesOnPostgres('workspace.last-owner-cannot-leave'),
    async ({ app }) => {
      for (let round = 0; round < 5; round++) {
        const { owner, admin, join } = await app.workspace()
        const second = await join('owner')
        const answers = await Promise.all([owner.delete(member(owner)), second.delete(member(second))])
        expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
        const { data } = (await admin.get('/workspaces/me/members')).body
        expect(data.filter(({ role }: { role: string }) => role === 'owner')).toHaveLength(1)
      }
    },
  )
})
