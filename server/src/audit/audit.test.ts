import { expect } from 'vitest'
import { test } from '../../test/harness.ts'
import { minimal } from '../../test/manifest.ts'

test('every change of access is recorded with actor, action and subject', async ({ app }) => {
  const { id, owner, admin, member } = await app.workspace()
  const { body: team } = await admin.post('/teams', { name: 'Engineering', key: 'ENG' })
  await admin.patch(`/teams/${team.id}`, { guidance: 'Write tests.' })
  await admin.put(`/teams/${team.id}/members/${member.user.id}`)
  await admin.delete(`/teams/${team.id}/members/${member.user.id}`)
  await owner.patch(`/workspaces/me/members/${member.user.id}`, { role: 'admin' })
  await owner.patch('/workspaces/me', { name: 'Acme Ltd' })
  const invited = await owner.post('/workspaces/me/invitations', { email: 'new@example.com', role: 'member' })
  await owner.delete(`/workspaces/me/invitations/${invited.body.invitation.id}`)
  await owner.delete(`/workspaces/me/members/${member.user.id}`)

  const entries = (await admin.get('/audit-log')).body.data.map(
    (entry: { action: string; actor: { id: string }; subject_id: string; details: unknown }) => [
      entry.action,
      entry.actor.id,
      entry.subject_id,
      entry.details,
    ],
  )
  expect(entries.slice(0, 9)).toEqual([
    ['member.removed', owner.user.id, member.user.id, { role: 'admin' }],
    ['invitation.withdrawn', owner.user.id, invited.body.invitation.id, { email: 'new@example.com', role: 'member' }],
    ['invitation.created', owner.user.id, invited.body.invitation.id, { email: 'new@example.com', role: 'member' }],
    ['workspace.updated', owner.user.id, id, { fields: ['name'], changes: { name: { from: 'Acme', to: 'Acme Ltd' } } }],
    ['member.role_changed', owner.user.id, member.user.id, { from: 'member', to: 'admin' }],
    ['team.member_removed', admin.user.id, team.id, { user_id: member.user.id }],
    ['team.member_added', admin.user.id, team.id, { user_id: member.user.id }],
    ['team.updated', admin.user.id, team.id, { fields: ['guidance'], changes: expect.any(Object) }],
    ['team.created', admin.user.id, team.id, { name: 'Engineering', key: 'ENG' }],
  ])
  const joined = (await admin.get('/audit-log?action=member.joined')).body.data
  expect(joined.map((entry: { subject_id: string }) => entry.subject_id)).toEqual([member.user.id, admin.user.id])
  expect(entries.at(-1)).toEqual(['workspace.created', owner.user.id, id, { name: 'Acme' }])
})

test('says what a new manifest of an app changes', async ({ app }) => {
  const { owner } = await app.workspace()
  const { body: registered } = await owner.post('/agent-apps', minimal)
  await owner.put(`/agent-apps/${registered.app.id}`, { ...minimal, name: 'Second' })
  const [entry] = (await owner.get('/audit-log?action=app.updated')).body.data
  expect(entry.details).toMatchObject({ changes: { name: { from: minimal.name, to: 'Second' } } })
  expect(Object.keys(entry.details.changes)).not.toContain('scopes')
})

test('only managers of the workspace can read the audit log', async ({ app }) => {
  const { member } = await app.workspace()
  expect(await member.get('/audit-log')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  const other = await app.workspace()
  const { data } = (await other.owner.get('/audit-log')).body
  expect(data.every((entry: { subject_id: string }) => entry.subject_id !== member.user.id)).toBe(true)
})
