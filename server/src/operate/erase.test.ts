import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { archiveScene } from '../../test/archive-scene.ts'
import { addPasskey, rowsWith } from '../../test/erasing.ts'
import { type TestApp, type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { runCommand } from '../../test/operate.ts'
import { Sql, sql } from '../db/sql.ts'
import { addIdentity } from '../login/methods.ts'
import { eraseListed } from './erase.ts'
import { listErasures } from './erasures.ts'

const name = 'Zoë "Zed" Quillfeather'
const erase = (app: TestApp, email: string, confirm = email) =>
  runCommand(app, ['erase-person', '--email', email, '--confirm', confirm])

/** A workspace in which a person has left traces in as many tables as possible. */
async function tracedPerson(app: TestApp) {
  const scene = await archiveScene(app)
  const { owner, issue, team, project } = scene
  const zoe = await app.person(name)
  await app.ctx.db.run(
    sql`update users set email = ${zoe.user.email.replace('person', 'zoe')} where id = ${zoe.user.id}`,
  )
  zoe.user.email = zoe.user.email.replace('person', 'zoe')
  const { body: invitation } = await owner.post('/workspaces/me/invitations', { email: zoe.user.email, role: 'admin' })
  await zoe.post('/invitations/accept', { token: invitation.token })
  const inside = within(zoe, scene.id)
  await owner.put(`/teams/${team.id}/members/${zoe.user.id}`)
  const at = `@[${name}](${zoe.user.id})`
  const other = `@[Bo](${owner.user.id})`
  const made = async (by: TestPerson, path: string, body: object) => {
    const { status, body: created } = await by.post(path, body)
    expect({ path, status }).toEqual({ path, status: 201 })
    return created
  }
  const theirs = await made(inside, '/issues', {
    title: 'By Zoë',
    team_id: team.id,
    description: `${at}\n${other} ${at}`,
  })
  const comment = await made(inside, '/comments', {
    target_type: 'issue',
    target_id: issue.id,
    text: `${other} I am ${at}`,
  })
  await made(owner, '/comments', { target_type: 'issue', target_id: theirs.id, text: `${at} typed by hand: ${name}` })
  await owner.put(`/issues/${issue.id}`, { assignee_id: zoe.user.id })
  await owner.put(`/projects/${project.id}`, { lead_id: zoe.user.id })
  const personal = await made(inside, '/issues', { title: `Diary of ${name}`, personal: true })
  const personalProject = await made(inside, '/projects', { title: `Plans of ${name}`, personal: true })
  const agent = await made(inside, '/agents/personal', { name: 'Helper', instructions: `You work for ${name}` })
  await inside.put(`/issues/${personal.id}`, { delegate_id: agent.id })
  const view = await made(inside, '/views', { name: 'Mine', query: 'status=todo' })
  const token = await made(inside, '/personal-tokens', { name: 'Script', scopes: ['read'] })
  await made(inside, '/workspaces/me/invitations', { email: 'friend@example.com', role: 'member' })
  await owner.post('/workspaces/me/invitations', { email: zoe.user.email, role: 'member' })
  const session = await made(scene.robot as never, '/agent-sessions', { issue_id: theirs.id })
  await scene.robot.post(`/agent-sessions/${session.id}/activities`, {
    content: { type: 'response', body: `Done for ${at}, ${other}` },
  })
  await inside.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'prompt', body: `Thanks, ${at}` } })
  await addIdentity(app.ctx.db, app.clock.now(), {
    userId: zoe.user.id,
    providerId: 'company',
    issuer: 'https://company.example.com',
    subject: zoe.user.id,
    email: zoe.user.email,
  })
  await addPasskey(app, zoe.user.id)
  const { db, clock } = app.ctx
  const now = clock.now()
  await db.run(sql`
    insert into mails (id, kind, user_id, address, data, message_id, state, attempts, next_at, created_at)
    values (${`mail_${zoe.user.id}`}, 'security', ${zoe.user.id}, ${zoe.user.email}, '{}', 'a', 'sent', 1, ${now}, ${now}),
      (${`mail_${owner.user.id}`}, 'security', ${owner.user.id}, null,
        ${JSON.stringify({ event: 'break_glass', name: zoe.user.email })}::jsonb, 'b', 'sent', 1, ${now}, ${now})`)
  await db.run(sql`
    insert into imports (id, workspace_id, creator_id, source, state, mapping, created_at, updated_at)
    values (${`imp_${zoe.user.id}`}, ${scene.id}, ${owner.user.id}, 'csv', 'done',
      ${JSON.stringify({ users: { [zoe.user.email]: zoe.user.id, [name]: zoe.user.id } })}::jsonb, ${now}, ${now})`)
  return { ...scene, zoe: inside, theirs, comment, personal, personalProject, agent, view, token, session }
}

test('no table holds name or address afterwards, apart from events and typed texts', {
  ...verifies('safety.erase-person'),
}, async ({ startApp }) => {
  const app = await startApp()
  const scene = await tracedPerson(app)
  const { zoe, owner } = scene
  const { db } = app.ctx
  const { email, id } = zoe.user
  const before = await rowsWith(db, [name, email])
  for (const table of [
    'users',
    'audit_entries',
    'comments',
    'issues',
    'mails',
    'imports',
    'agent_activities',
    'sso_identities',
    'invitations',
  ]) {
    expect(Object.keys(before)).toContain(table)
  }

  const { exit, json, text } = await erase(app, email)
  expect({ exit, json }).toMatchObject({
    exit: 0,
    json: { user_id: id, counts: { memberships: 1, personal_agents: 1, personal_issues: 1 } },
  })
  expect(text.join('\n')).toContain(json.events_until.slice(0, 10))

  const left = await rowsWith(db, [name, email])
  const free = ['events', 'deliveries', 'attempts']
  const typed = Object.entries(left).filter(([table]) => !free.includes(table))
  // What the owner typed by hand beside the mention stays.
  expect(typed.map(([table, rows]) => [table, rows.length])).toEqual([['comments', 1]])
  expect(typed[0]?.[1][0]).toContain(`@[Deleted person](${id}) typed by hand`)
  for (const table of [
    'sso_identities',
    'passkeys',
    'personal_tokens',
    'logins',
    'mails',
    'inbox_entries',
    'memberships',
  ]) {
    const rows = await db.rows(sql`select 1 from ${new Sql(table, [])} where user_id = ${id}`)
    expect({ table, rows }).toEqual({ table, rows: [] })
  }
  for (const gone of [scene.personal.id, scene.personalProject.id, scene.view.id, scene.agent.id]) {
    expect(await rowsWith(db, [`"id": "${gone}"`])).toEqual({})
  }
  expect(await db.rows(sql`select display_name, email, password_hash from users where id = ${id}`)).toEqual([
    { display_name: 'Deleted person', email: `erased-${id}@invalid`, password_hash: null },
  ])
  // The mention of another person in the same line is unchanged.
  const comment = (await owner.get(`/comments/${scene.comment.id}`)).body
  expect(comment.text).toBe(`@[Bo](${owner.user.id}) I am @[Deleted person](${id})`)
  expect((await owner.get('/audit-log?action=operator.person_erased')).body.data).toMatchObject([
    { actor: null, subject_id: id },
  ])
})

test('shared work stays under "Deleted person", and every answer is valid', {
  ...verifies('safety.erase-keeps-work'),
}, async ({ app }) => {
  const { zoe, owner, member, theirs, comment, session, project, issue, robot } = await tracedPerson(app)
  await zoe.put(`/issues/${theirs.id}`, { priority: 'high' })
  await erase(app, zoe.user.email)
  const shown = { id: zoe.user.id, name: 'Deleted person' }
  expect((await member.get(`/issues/${theirs.id}`)).body).toMatchObject({ title: 'By Zoë', reporter_id: zoe.user.id })
  expect((await member.get(`/comments/${comment.id}`)).body).toMatchObject({ author_id: zoe.user.id })
  expect((await member.get(`/users/names?ids=${zoe.user.id}`)).body.data).toEqual([
    { id: zoe.user.id, display_name: 'Deleted person' },
  ])
  expect(JSON.stringify((await member.get(`/issues/${theirs.id}/history`)).body)).toContain(
    JSON.stringify(shown).slice(1, 40),
  )
  expect((await member.get(`/agent-sessions/${session.id}`)).status).toBe(200)
  expect((await member.get(`/agent-sessions/${session.id}/activities`)).body.data).toHaveLength(2)
  // The contract of the API is checked with each call.
  for (const path of [
    '/issues?limit=100',
    '/projects',
    `/projects/${project.id}`,
    `/issues/${issue.id}`,
    `/comments?target_type=issue&target_id=${theirs.id}`,
    `/comments?target_type=issue&target_id=${issue.id}`,
    '/workspaces/me/members',
    '/workspaces/me/invitations',
    '/agent-sessions',
    '/agents',
    '/users/select',
    '/views',
    '/inbox',
    '/inbox/threads',
    '/audit-log?limit=100',
    '/audit-log/export',
    '/issues.csv',
  ]) {
    expect({ path, status: (await owner.get(path)).status }).toEqual({ path, status: 200 })
  }
  expect((await robot.get(`/issues/${theirs.id}`)).status).toBe(200)
  expect((await owner.get(`/issues/${issue.id}`)).body.assignee_id).toBeNull()
})

test('ends all access and frees the e-mail address', verifies('safety.erase-ends-access'), async ({ app }) => {
  const { zoe, token, id, owner } = await tracedPerson(app)
  const { email } = zoe.user
  const script = app.anonymous.with({ authorization: `Bearer ${token.token}`, 'x-workspace-id': id })
  for (const client of [zoe, script]) expect((await client.get('/issues')).status).toBe(200)
  await erase(app, email)
  for (const client of [zoe, script]) expect((await client.get('/issues')).status).toBe(401)
  for (const address of [email, `erased-${zoe.user.id}@invalid`]) {
    const login = await app.anonymous.post('/auth/sign-in', { email: address, password: zoe.password })
    expect(login.status).toBe(401)
  }
  const again = await app.anonymous.post('/auth/sign-up', { email, password: 'a new password', name: 'Another' })
  expect(again.status).toBe(201)
  expect(again.body.user.id).not.toBe(zoe.user.id)
  const other = app.anonymous.with({ authorization: `Bearer ${again.body.token}`, 'x-workspace-id': id })
  expect((await other.get('/issues')).status).toBe(403)
  expect((await owner.get('/issues')).status).toBe(200)
})

test(
  'refuses to erase the last owner, and names the workspaces',
  verifies('safety.erase-last-owner'),
  async ({ app }) => {
    const { id, owner, member } = await app.workspace('Sole')
    const refused = await app.unchanged(() => erase(app, owner.user.email))
    expect(refused).toMatchObject({ exit: 3, json: { error: expect.stringContaining(`Sole (${id})`) } })
    const self = await app.unchanged(() => owner.delete('/auth/account'))
    expect(self).toMatchObject({
      status: 409,
      body: { code: 'LAST_OWNER', details: { workspaces: [{ id, name: 'Sole' }] } },
    })
    await runCommand(app, ['set-role', '--workspace', id, '--email', member.user.email, '--role', 'owner'])
    expect(await erase(app, owner.user.email)).toMatchObject({ exit: 0 })
  },
)

test('needs the address twice, and knows it', verifies('admin.exit-codes'), async ({ app }) => {
  const { member } = await app.workspace()
  expect(await app.unchanged(() => erase(app, member.user.email, 'other@example.com'))).toMatchObject({ exit: 2 })
  expect(await app.unchanged(() => erase(app, 'no@example.com'))).toMatchObject({ exit: 3 })
})

test('a person deletes their own account with a recent login', verifies('safety.erase-person'), async ({ app }) => {
  const { owner, member } = await app.workspace()
  app.clock.advance({ minutes: 15, milliseconds: 1 })
  const refused = await app.unchanged(() => member.delete('/auth/account'))
  expect(refused).toMatchObject({ status: 403, body: { code: 'REAUTH_REQUIRED' } })
  expect((await member.post('/auth/reauth', { password: member.password })).status).toBe(204)
  const done = await member.delete('/auth/account')
  expect(done.status).toBe(204)
  expect(done.headers.get('set-cookie')).toMatch(/^[^=]+=;/)
  expect((await member.get('/auth/me')).status).toBe(401)
  expect(await rowsWith(app.ctx.db, [member.user.email])).toEqual(
    expect.not.objectContaining({ users: expect.anything() }),
  )
  expect((await owner.get('/audit-log?action=operator.person_erased')).body.data).toEqual([])
})

test('lists whom it erased beside the backups, and erases them in a database that does not know it', async ({
  startApp,
}) => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-erasures-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const app = await startApp({ BATON_BACKUP_DIR: dir })
  const { owner, admin, member, id } = await app.workspace()
  await erase(app, member.user.email)
  const file = join(dir, 'erasures.json')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    format: 1,
    erased: [{ id: member.user.id, erased_at: app.clock.now().toISOString() }],
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await app.unchanged(() => eraseListed(app.ctx, dir))).toEqual([])

  // As after a restore: the list names people whom the database has, one of them the only owner, and one it has not.
  const unknown = 'usr_00000000000000000000000000'
  const erased_at = app.clock.now().toISOString()
  await listErasures(
    dir,
    [owner.user.id, unknown, member.user.id].map((person) => ({ id: person, erased_at })),
  )
  expect(await eraseListed(app.ctx, dir)).toEqual([owner.user.id])
  expect(await rowsWith(app.ctx.db, [owner.user.email])).not.toHaveProperty('users')
  expect((await owner.get('/auth/me')).status).toBe(401)
  const roles = await app.ctx.db.rows(sql`select user_id as id, role from memberships where workspace_id = ${id}`)
  expect(roles).toEqual([{ id: admin.user.id, role: 'owner' }])
  expect(await app.ctx.db.rows(sql`select user_id as id from erasures order by 1`)).toHaveLength(3)
  expect(await app.unchanged(() => eraseListed(app.ctx, dir))).toEqual([])
})
