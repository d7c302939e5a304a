import { expect } from 'vitest'
import { type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { runCommand } from '../../test/operate.ts'
import { sql } from '../db/sql.ts'

const signIn = (person: TestPerson, email: string, password: string) =>
  person.post('/auth/sign-in', { email, password })

test('creates an account and a workspace whose owner signs in with the password shown', {
  ...verifies('admin.create-owner'),
}, async ({ startApp }) => {
  const app = await startApp({ BATON_SIGNUP: 'invite' })
  // Sign-up is closed from the first account on.
  await app.ctx.db.run(sql`
    insert into users (id, user_kind, display_name, email, created_at)
    values ('usr_first', 'human', 'First', 'first@example.com', ${app.clock.now()})`)
  const invited = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
  expect((await app.anonymous.post('/auth/sign-up', invited)).status).toBe(403)

  const args = ['create-owner', '--email', 'Ann@Example.com', '--name', ' Ann ', '--workspace', 'Acme']
  const { exit, json, text } = await runCommand(app, args)
  expect(exit).toBe(0)
  expect(json).toMatchObject({ email: 'ann@example.com', workspace_id: expect.stringMatching(/^wsp_/) })
  expect(json.password).toMatch(/^[\w-]{20}$/)
  expect(text.join('\n')).toContain(json.password)
  const { body } = await app.anonymous.post('/auth/sign-in', { email: 'ann@example.com', password: json.password })
  const ann = app.anonymous.with({ authorization: `Bearer ${body.token}`, 'x-workspace-id': json.workspace_id })
  expect((await ann.get('/auth/me')).body).toMatchObject({
    user: { display_name: 'Ann' },
    workspaces: [{ id: json.workspace_id, name: 'Acme', role: 'owner' }],
  })
  expect((await ann.post('/teams', { name: 'Engineering', key: 'ENG' })).status).toBe(201)
  const agents = await app.ctx.db.rows(sql`select 1 from inside_agents where workspace_id = ${json.workspace_id}`)
  expect(agents).toHaveLength(1)

  const again = await app.unchanged(() => runCommand(app, args))
  expect(again).toMatchObject({ exit: 3, json: { error: 'ann@example.com has an account already.' } })
})

test('takes the password from stdin and does not print it', verifies('admin.create-owner'), async ({ app }) => {
  const args = ['create-owner', '--email', 'bea@example.com', '--name', 'Bea', '--workspace', 'B', '--password-stdin']
  const answer = await runCommand(app, args, 'from a pipe')
  expect(answer).toMatchObject({ exit: 0, json: { password: null } })
  expect(JSON.stringify(answer)).not.toContain('from a pipe')
  const login = await app.anonymous.post('/auth/sign-in', { email: 'bea@example.com', password: 'from a pipe' })
  expect(login.status).toBe(200)
})

test(
  'checks e-mail address, names, role and password by the rules of the API',
  verifies('admin.exit-codes'),
  async ({ app }) => {
    const create = (email: string, name: string, workspace: string) => [
      'create-owner',
      '--email',
      email,
      '--name',
      name,
      '--workspace',
      workspace,
    ]
    const long = 'x'.repeat(201)
    const { owner, member } = await app.workspace()
    for (const [args, password, problem] of [
      [create('cleo', 'Cleo', 'C'), undefined, 'email must be an e-mail address'],
      [create('cleo@example.com', ' ', 'C'), undefined, 'name must'],
      [create('cleo@example.com', 'Cleo', long), undefined, 'workspace'],
      [create('cleo@example.com', 'Cleo', 'C'), 'x'.repeat(7), 'password'],
      [create('cleo@example.com', 'Cleo', 'C'), long, 'password'],
      [
        ['set-role', '--workspace', owner.workspaceId, '--email', member.user.email, '--role', 'king'],
        undefined,
        'role',
      ],
    ] as [string[], string | undefined, string][]) {
      const refused = await app.unchanged(() => runCommand(app, args, password))
      expect(refused).toMatchObject({ exit: 2, json: { error: expect.stringContaining(problem) } })
    }
  },
)

test(
  'a reset ends the password, logins, grants and tokens at once',
  verifies('admin.reset-password'),
  async ({ app }) => {
    const { member, owner, id } = await app.workspace()
    const { body: personal } = await member.post('/personal-tokens', { name: 'Script', scopes: ['read'] })
    const [withToken, untouched] = [personal.token, owner.token].map((token) =>
      app.anonymous.with({ authorization: `Bearer ${token}`, 'x-workspace-id': id }),
    ) as [TestPerson, TestPerson]
    const grant = await app.ctx.db.row<{ id: string }>(sql`
    insert into grants (id, workspace_id, client_id, user_id, scopes, created_at, expires_at)
    values ('grt_reset', ${id}, 'cli_x', ${member.user.id}, '{read}', ${app.clock.now()}, ${new Date('2100-01-01')})
    returning id`)
    expect(grant).toBeDefined()
    expect((await withToken.get('/issues')).status).toBe(200)
    expect((await member.get('/issues')).status).toBe(200)

    const { exit, json } = await runCommand(app, ['reset-password', '--email', member.user.email.toUpperCase()])
    expect(exit).toBe(0)
    for (const client of [withToken, member]) expect((await client.get('/issues')).status).toBe(401)
    const ended = await app.ctx.db.row<{ ended: boolean }>(sql`
    select ended_at is not null as ended from grants where id = 'grt_reset'`)
    expect(ended).toEqual({ ended: true })
    expect((await signIn(member, member.user.email, member.password)).status).toBe(401)
    expect((await signIn(member, member.user.email, json.password)).status).toBe(200)
    expect((await untouched.get('/issues')).status).toBe(200)
    expect((await owner.get('/audit-log?action=operator.password_reset')).body.data).toMatchObject([
      { actor: null, subject_id: member.user.id },
    ])
    const unknown = await app.unchanged(() => runCommand(app, ['reset-password', '--email', 'no@example.com']))
    expect(unknown).toMatchObject({ exit: 3 })
  },
)

test(
  'with single sign-on only, the break-glass account alone gets a password',
  verifies('admin.reset-password'),
  async ({ startApp }) => {
    const app = await startApp()
    const [ann, ops] = [await app.person(), await app.person()]
    app.ctx.config.sso = { ...app.ctx.config.sso, only: true, breakGlass: ops.user.email }
    const reset = (email: string) => runCommand(app, ['reset-password', '--email', email])
    expect(await app.unchanged(() => reset(ann.user.email))).toMatchObject({ exit: 3 })
    const args = ['create-owner', '--email', 'new@example.com', '--name', 'New', '--workspace', 'New']
    expect(await app.unchanged(() => runCommand(app, args))).toMatchObject({ exit: 3 })
    const { exit, json } = await reset(ops.user.email)
    expect(exit).toBe(0)
    expect((await signIn(ops, ops.user.email, json.password)).status).toBe(200)
  },
)

test('changes a role without actor, and keeps the last owner', verifies('admin.set-role'), async ({ app }) => {
  const { id, owner, member } = await app.workspace()
  const set = (person: TestPerson, role: string, workspace = id) =>
    runCommand(app, ['set-role', '--workspace', workspace, '--email', person.user.email, '--role', role])
  expect(await app.unchanged(() => set(owner, 'admin'))).toMatchObject({ exit: 3, json: { error: expect.any(String) } })
  expect(await set(member, 'owner')).toMatchObject({ exit: 0, json: { from: 'member', to: 'owner' } })
  expect(await set(owner, 'member')).toMatchObject({ exit: 0 })
  expect(await app.unchanged(() => set(owner, 'member'))).toMatchObject({ exit: 0 })
  expect(await app.unchanged(() => set(member, 'member'))).toMatchObject({ exit: 3 })
  expect((await within(member, id).get('/audit-log?action=operator.role_changed')).body.data).toMatchObject([
    { actor: null, subject_id: owner.user.id, details: { from: 'owner', to: 'member' } },
    { actor: null, subject_id: member.user.id, details: { from: 'member', to: 'owner' } },
  ])
  const stranger = await app.person()
  expect(await app.unchanged(() => set(stranger, 'admin'))).toMatchObject({ exit: 3 })
  expect(await app.unchanged(() => set(member, 'admin', 'wsp_none'))).toMatchObject({ exit: 3 })
})
