import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { createAccessToken, createGrant } from '../login/grants.ts'
import { transact } from '../unit-of-work.ts'
import { createDemo } from './create.ts'
import { disableDemo } from './disable.ts'
import { demoLogin } from './login.ts'

const signIn = async (app: TestApp) => {
  const { body } = await app.anonymous.post('/auth/sign-in', demoLogin)
  const person = app.anonymous.with({ authorization: `Bearer ${body.token}` })
  const [workspace] = (await person.get('/auth/me')).body.workspaces
  return person.with({ 'x-workspace-id': workspace.id })
}

test('fills an empty database', verifies('config.demo-on-empty-database'), async ({ startApp }) => {
  const app = await startApp()
  expect(await createDemo(app.ctx)).toBe(true)
  const ada = await signIn(app)
  expect((await ada.get('/workspaces/me/members')).body.data).toHaveLength(5)
  expect((await ada.get('/teams')).body.data.map(({ key }: { key: string }) => key).sort()).toEqual([
    'DES',
    'ENG',
    'SUP',
  ])
  const { data: projects } = (await ada.get('/projects')).body
  expect(projects).toHaveLength(2)
  for (const { progress, member_ids } of projects) expect(progress !== null && member_ids.length > 0).toBe(true)

  const { data: issues } = (await ada.get('/issues?limit=100')).body
  expect(issues.length).toBeGreaterThanOrEqual(60)
  const some = (field: string) => issues.filter((issue: Record<string, unknown[]>) => issue[field]?.length).length
  expect(some('blocks_ids')).toBe(5)
  expect(some('label_ids')).toBeGreaterThan(20)
  expect(some('parent_id')).toBeGreaterThan(3)
  expect(new Set(issues.map(({ status }: { status: string }) => status)).size).toBe(6)
  const [pause] = (await ada.get('/issues?query=pause+a+subscription+from')).body.data
  const { data: thread } = (await ada.get(`/comments?target_type=issue&target_id=${pause.id}`)).body
  expect(thread.map((comment: { parent_comment_id: string }) => comment.parent_comment_id)).toEqual([
    null,
    thread[0].id,
    thread[0].id,
  ])
  const agesInDays = [issues.at(-1), issues[0]].map(
    ({ created_at }) => (app.clock.now().getTime() - Date.parse(created_at)) / (24 * 3_600_000),
  )
  expect(agesInDays[0]).toBeGreaterThan(40)
  expect(agesInDays[1]).toBeLessThan(2)
  expect(issues.every(({ created_at }: { created_at: string }) => created_at <= app.clock.now().toISOString())).toBe(
    true,
  )
})

test('does not change a database in use', verifies('config.demo-not-on-used-database'), async ({ startApp }) => {
  const app = await startApp()
  await app.person()
  await app.unchanged(async () => expect(await createDemo(app.ctx)).toBe(false))

  const again = await startApp()
  await createDemo(again.ctx)
  await again.unchanged(async () => expect(await createDemo(again.ctx)).toBe(false))
})

test('recreates a demo that was interrupted', async ({ startApp }) => {
  const app = await startApp()
  await createDemo(app.ctx)
  const rows = async () =>
    app.ctx.db.row(sql`
      select (select count(*) from deliveries) as deliveries, (select count(*) from events) as events,
        (select count(*) from agent_sessions) as sessions, (select count(*) from settings) as settings`)
  const before = await rows()
  await app.ctx.db.run(sql`update settings set value = 'started' where name = 'demo'`)
  expect(await createDemo(app.ctx)).toBe(true)
  expect(await rows()).toEqual(before)
  expect(await app.ctx.db.rows(sql`select 1 from workspaces`)).toHaveLength(1)
  expect(await app.ctx.db.rows(sql`select 1 from users`)).toHaveLength(8)
})

describe('disabling the demo', () => {
  const disable = async (app: TestApp) => {
    const lines: string[] = []
    await disableDemo(app.ctx, (line) => lines.push(line))
    return lines
  }

  test(
    'ends passwords, logins and programs of its accounts, also where the password was changed, and no others',
    verifies('demo.passwords-disabled'),
    async ({ startApp }) => {
      const app = await startApp()
      await createDemo(app.ctx)
      const ada = await signIn(app)
      const { id: adaId } = (await ada.get('/auth/me')).body.user
      const workspaceId = (await ada.get('/workspaces/me')).body.id
      const change = { current_password: demoLogin.password, new_password: 'known to me alone' }
      expect((await ada.post('/auth/password', change)).status).toBe(204)
      const program = await programOf(app, adaId, workspaceId)
      expect((await program.get('/auth/me')).status).toBe(200)
      // An account of the same domain that the demo did not create, and one with a program.
      const own = { email: 'me@demo.example', password: 'my own password', name: 'Me' }
      const mine = (await app.anonymous.post('/auth/sign-up', own)).body
      const other = await app.workspace()
      const othersProgram = await programOf(app, other.owner.user.id, other.id)

      expect(await disable(app)).toEqual([expect.stringMatching(/^Disabled 5 demo accounts/)])

      for (const client of [ada, program]) expect((await client.get('/auth/me')).status).toBe(401)
      for (const password of [demoLogin.password, change.new_password]) {
        const refused = await app.anonymous.post('/auth/sign-in', { email: demoLogin.email, password })
        expect(refused).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } })
      }
      const me = app.anonymous.with({ authorization: `Bearer ${mine.token}` })
      for (const client of [me, other.owner, othersProgram]) expect((await client.get('/auth/me')).status).toBe(200)
      expect((await app.anonymous.post('/auth/sign-in', { email: own.email, password: own.password })).status).toBe(200)

      await app.unchanged(async () => expect(await disable(app)).toEqual([]))
    },
  )

  test('leaves an instance without demo alone, even if an account has its email', async ({ startApp }) => {
    const app = await startApp()
    await app.anonymous.post('/auth/sign-up', { ...demoLogin, name: 'Ada' })
    await app.unchanged(async () => expect(await disable(app)).toEqual([]))
    expect((await app.anonymous.post('/auth/sign-in', demoLogin)).status).toBe(200)
  })

  test(
    'lets the operator create the first account of an instance that held only the demo',
    verifies('demo.passwords-disabled', 'signup.closed-off-loopback'),
    async ({ startApp }) => {
      const app = await startApp({ HOST: '0.0.0.0' })
      await createDemo(app.ctx)
      await disable(app)
      const account = (email: string) => ({ email, password: 'a password', name: 'Operator' })
      expect((await app.anonymous.post('/auth/sign-up', account('one@example.com'))).status).toBe(201)
      expect((await app.anonymous.post('/auth/sign-up', account('two@example.com'))).status).toBe(403)
    },
  )

  /** A client with the token of a program that the user connected. */
  async function programOf(app: TestApp, userId: string, workspaceId: string) {
    const { body } = await app.anonymous.post('/oauth/register', {
      client_name: 'Editor',
      redirect_uris: ['http://localhost:1/callback'],
      token_endpoint_auth_method: 'none',
    })
    const token = await transact(app.ctx, null, async (unit) => {
      const grant = { workspaceId, clientId: body.client_id, installationId: null, userId, scopes: ['read' as const] }
      return createAccessToken(unit, await createGrant(unit, grant))
    })
    return app.anonymous.with({ authorization: `Bearer ${token}` })
  }
})

describe('GET /instance', () => {
  const instance = async (app: TestApp) => (await app.anonymous.get('/instance')).body

  test('returns the demo login until its password changes', async ({ startApp }) => {
    const app = await startApp()
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(await instance(app)).toEqual({
      name: 'Baton',
      version,
      sign_up: true,
      needs_first_account: true,
      demo: null,
      has_model: false,
      mail: false,
      files: { max_bytes: 52_428_800 },
      passkeys: true,
      sso: { only: false, providers: [] },
    })
    await createDemo(app.ctx)
    expect(await instance(app)).toMatchObject({ demo: demoLogin })

    const ada = await signIn(app)
    const change = { current_password: demoLogin.password, new_password: 'known to me alone' }
    expect((await ada.post('/auth/password', change)).status).toBe(204)
    expect(await instance(app)).toMatchObject({ demo: null })
    await ada.post('/auth/password', {
      current_password: change.new_password,
      new_password: demoLogin.password,
    })
    expect(await instance(app)).toMatchObject({ demo: demoLogin })
  })

  test('returns no demo login without a demo, even if an account has its email', async ({ startApp }) => {
    const app = await startApp()
    await app.anonymous.post('/auth/sign-up', { ...demoLogin, name: 'Ada' })
    expect(await instance(app)).toMatchObject({ demo: null })
  })

  test('returns no demo login if the demo is disabled or the instance is public or on PostgreSQL', async ({
    startApp,
  }) => {
    for (const env of [
      { BATON_DEMO: '0' },
      { BATON_ROOT_URL: 'https://baton.example' },
      { BATON_DEMO: '1', DATABASE_URL: 'postgres://db.example/baton', BATON_SECRET_KEY: 'A'.repeat(43) },
    ]) {
      const app = await startApp(env)
      await createDemo(app.ctx)
      expect((await app.anonymous.post('/auth/sign-in', demoLogin)).status).toBe(200)
      expect({ env, demo: (await instance(app)).demo }).toEqual({ env, demo: null })
    }
  })

  test('returns whether sign-up is open', async ({ startApp }) => {
    const app = await startApp({ BATON_SIGNUP: 'invite' })
    expect(await instance(app)).toMatchObject({ sign_up: true })
    await app.anonymous.post('/auth/sign-up', { email: 'first@example.com', password: 'correct horse', name: 'First' })
    expect(await instance(app)).toMatchObject({ sign_up: false })
  })
})
