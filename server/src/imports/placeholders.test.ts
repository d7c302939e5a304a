import { programLimits } from '@baton/protocol'
import { expect } from 'vitest'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { importAll, issueCalled, linearCsv, linearRow } from '../../test/imports.ts'
import { sql } from '../db/sql.ts'
import { userColumns } from '../db/user-references.ts'

async function withPlaceholder(app: TestApp, owner: TestPerson) {
  const rows = [linearRow({ Title: 'Theirs', Creator: 'Grace Hopper', Assignee: 'Grace Hopper' })]
  await importAll(app, owner, 'linear', linearCsv(rows))
  const { data } = (await owner.get('/placeholders')).body
  expect(data).toMatchObject([{ display_name: 'Grace Hopper', sources: ['linear'] }])
  return data[0].id as string
}

test(
  'members are found by e-mail in any letter case, and no one joins',
  verifies('import.users-by-email'),
  async ({ app }) => {
    const { owner, member } = await app.workspace()
    const stranger = await app.person()
    const rows = [
      linearRow({ Title: 'One', Creator: member.user.email.toUpperCase(), Assignee: owner.user.email }),
      linearRow({ Title: 'Two', Creator: stranger.user.email, Assignee: 'Ada' }),
    ]
    const members = async () => (await owner.get('/workspaces/me/members')).body.data.length
    const before = await members()
    await importAll(app, owner, 'linear', linearCsv(rows), { users: { Ada: member.user.id } })
    expect(await issueCalled(owner, 'One')).toMatchObject({ reporter_id: member.user.id, assignee_id: owner.user.id })
    const two = await issueCalled(owner, 'Two')
    expect(two.assignee_id).toBe(member.user.id)
    expect(two.reporter_id).not.toBe(stranger.user.id)
    expect(await members()).toBe(before)
    expect((await stranger.with({ 'x-workspace-id': owner.workspaceId }).get('/issues')).status).toBe(403)
  },
)

test('a placeholder is only a name', verifies('import.placeholder'), async ({ app }) => {
  const { owner, member } = await app.workspace()
  const id = await withPlaceholder(app, owner)
  const issue = await issueCalled(owner, 'Theirs')
  expect(issue).toMatchObject({ reporter_id: id, assignee_id: id })
  const stored = await app.ctx.db.row<{ email: string; password_hash: null }>(
    sql`select email, password_hash from users where id = ${id}`,
  )
  const email = stored?.email as string
  expect(stored).toEqual({ email: `${id}@placeholder.invalid`, password_hash: null })
  const { body: team } = await owner.post('/teams', { name: 'Other', key: 'OTH' })
  await app.unchanged(async () => {
    for (const path of ['/workspaces/me/members', '/users/select', '/agents', `/teams/${issue.team_id}/members`])
      expect(JSON.stringify((await owner.get(path)).body)).not.toContain(id)
    for (const address of [email, email.toUpperCase(), 'new@Placeholder.Invalid']) {
      const signUp = { email: address, password: 'a long password', name: 'Grace' }
      expect((await app.anonymous.post('/auth/sign-up', signUp)).body).toMatchObject({ code: 'VALIDATION_ERROR' })
      expect((await owner.post('/workspaces/me/invitations', { email: address, role: 'member' })).status).toBe(422)
    }
    expect((await app.anonymous.post('/auth/sign-in', { email, password: '' })).status).toBeGreaterThanOrEqual(400)
    expect((await app.anonymous.post('/auth/sign-in', { email, password: 'correct horse' })).status).toBe(401)
    // No call can set one.
    expect((await owner.post('/issues', { title: 'x', assignee_id: id })).status).toBe(422)
    expect((await owner.put(`/teams/${team.id}/members/${id}`)).status).toBe(404)
  })
  await owner.put(`/teams/${issue.team_id}/members/${member.user.id}`)
  const robot = await app.installed(owner, { scopes: ['read', 'app:assignable'], webhook: 'http://localhost:9' })
  const { body: delegated } = await member.put(`/issues/${issue.id}`, { delegate_id: robot.userId })
  expect(delegated).toMatchObject({ delegate_id: robot.userId, assignee_id: member.user.id })
})

test('members read the names of placeholders by id', async ({ app }) => {
  const { owner, member } = await app.workspace()
  const { owner: stranger } = await app.workspace()
  const id = await withPlaceholder(app, owner)
  const names = (caller: typeof owner, ...ids: string[]) => caller.get(`/users/names?ids=${ids.join(',')}`)
  const { display_name } = (await owner.get('/placeholders')).body.data[0]
  const both = await names(member, id, owner.user.id)
  expect(both).toMatchObject({ status: 200, body: { data: [{ id, display_name }] } })
  expect((await names(stranger, id)).body).toEqual({ data: [] })
  const many = (count: number) => Array.from({ length: count }, () => id)
  expect((await names(member, ...many(programLimits.namesAtOnce))).body.data.length).toBe(1)
  for (const ids of [many(programLimits.namesAtOnce + 1), [''], ['usr_nobody'], [`${id}'`]])
    expect(await names(member, ...ids)).toMatchObject({ status: 422, body: { details: { ids: expect.any(String) } } })
})

test('assigning a placeholder moves every reference', verifies('import.placeholder-assign'), async ({ app }) => {
  const { owner, member, id: workspaceId } = await app.workspace()
  const { owner: stranger } = await app.workspace()
  const outsider = await app.person()
  const id = await withPlaceholder(app, owner)
  const issue = await issueCalled(owner, 'Theirs')
  const github = [
    {
      number: 1,
      title: 'Talk',
      url: 'https://github.com/acme/shop/issues/1',
      state: 'OPEN',
      author: { login: 'grace' },
      comments: [{ id: 'c1', body: 'Hm', author: { login: 'grace' }, createdAt: '2024-01-01T00:00:00Z' }],
    },
  ]
  await importAll(app, owner, 'github', JSON.stringify(github))
  await owner.put(`/issues/${issue.id}`, { assignee_id: owner.user.id })
  await app.unchanged(async () => {
    expect((await stranger.post(`/placeholders/${id}/assign`, { user_id: stranger.user.id })).status).toBe(404)
    expect((await owner.post(`/placeholders/${member.user.id}/assign`, { user_id: owner.user.id })).status).toBe(404)
    for (const user_id of [outsider.user.id, id, 'usr_nobody'])
      expect(await owner.post(`/placeholders/${id}/assign`, { user_id })).toMatchObject({
        status: 422,
        body: { details: { user_id: expect.any(String) } },
      })
  })
  const events = async () =>
    (await app.ctx.db.rows(sql`select id from events where workspace_id = ${workspaceId}`)).length
  const before = await events()
  const { data: placeholders } = (await owner.get('/placeholders')).body
  expect(placeholders.length).toBe(2)
  for (const placeholder of placeholders) {
    const { status, body } = await owner.post(`/placeholders/${placeholder.id}/assign`, { user_id: member.user.id })
    expect({ status, body }).toMatchObject({ status: 200, body: { user_id: member.user.id } })
    expect(body.references).toBeGreaterThan(1)
    // Nothing in the database names it any more, except the audit log and events of the past.
    const rest = JSON.parse(await app.everything()).filter(({ row }: { row: string }) => row.includes(placeholder.id))
    expect(['audit_entries', 'events']).toEqual(expect.arrayContaining(rest.map(({ name }: { name: string }) => name)))
  }
  expect(await events()).toBe(before)
  expect((await owner.get(`/issues/${issue.id}`)).body.reporter_id).toBe(member.user.id)
  const talk = await issueCalled(owner, 'Talk')
  expect((await owner.get(`/comments?target_type=issue&target_id=${talk.id}`)).body.data).toMatchObject([
    { author_id: member.user.id },
  ])
  expect((await owner.get(`/issues/${issue.id}/history`)).body.data[0].changes.assignee_id.from).toBe(member.user.id)
  expect((await owner.get('/audit-log?action=placeholder.assigned')).body.data).toMatchObject([
    { details: { user_id: member.user.id } },
    {},
  ])
  // A later import knows the member.
  await importAll(app, owner, 'linear', linearCsv([linearRow({ Title: 'Later', Creator: 'Grace Hopper' })]))
  expect((await issueCalled(owner, 'Later')).reporter_id).toBe(member.user.id)
})

test(
  'the columns that refer to users are found in the catalogue',
  verifies('import.placeholder-assign'),
  async ({ app }) => {
    const found = (await userColumns(app.ctx.db)).map(({ table, column }) => `${table}.${column}`)
    expect(found).toEqual(
      expect.arrayContaining([
        'issues.reporter_id',
        'issues.assignee_id',
        'comments.author_id',
        'projects.lead_id',
        'project_members.user_id',
        'reactions.user_id',
        'issue_changes.actor_id',
        'files.uploader_id',
      ]),
    )
    expect(found.length).toBeGreaterThan(30)
  },
)
