import { api, type Operation } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { accepted, makeScene, pathOf, type WriteName } from '../../test/calls.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { test as mailed, mailsTo, secondLogin, signInStatus, subjectsOf } from '../../test/mailed.ts'
import { asApp, programOf } from '../../test/oauth.ts'
import { sql } from '../db/sql.ts'
import { addIdentity, addPasskey, removeIdentity, removePasskey } from './methods.ts'

const isRecent = async (person: Pick<TestPerson, 'delete'>) => {
  // Refused for the only sign-in method, but not before the login was found to be recent.
  const { body } = await person.delete('/auth/password')
  return body?.code !== 'REAUTH_REQUIRED'
}

const reauth = (person: Pick<TestPerson, 'post'>, password: string) => person.post('/auth/reauth', { password })

const withIdentity = (app: TestApp, { user }: TestPerson) =>
  addIdentity(app.ctx.db, app.clock.now(), {
    userId: user.id,
    providerId: 'company',
    issuer: 'https://company.example',
    subject: user.id,
    email: 'ada@company.example',
  })

const withPasskey = (app: TestApp, { user }: TestPerson) =>
  addPasskey(app.ctx.db, app.clock.now(), {
    userId: user.id,
    name: 'Laptop',
    credentialId: `credential of ${user.id}`,
    publicKey: Buffer.from('key'),
    counter: 0,
    transports: [],
  })

const personRoutes = (Object.entries(api) as [string, Operation][]).filter(
  ([, { route }]) => route.path.startsWith('/auth/') && ['person', 'member', 'manager'].includes(route.caller),
)

describe('a route that needs a recent login', () => {
  test(
    'is refused 15 minutes after the sign-in, with the methods of the user, and changes nothing',
    verifies('reauth.required'),
    async ({ app }) => {
      const scene = await makeScene(app)
      await withPasskey(app, scene.owner)
      await withIdentity(app, scene.owner)
      const routes = (Object.entries(api) as [string, Operation][]).filter(([, { route }]) => route.recent)
      expect(routes.map(([name]) => name)).toEqual(
        expect.arrayContaining(['setPassword', 'removePassword', 'changeEmail', 'createCliLogin']),
      )
      app.clock.advance({ minutes: 15 })
      await app.unchanged(async () => {
        for (const [name, operation] of routes) {
          const { method } = operation.route
          const body = method === 'GET' ? undefined : (accepted[name as WriteName] ?? undefined)
          const refused = await scene.owner.request(method, pathOf(operation, scene.ids), body)
          expect({ name, status: refused.status, body: refused.body }).toMatchObject({
            name,
            status: 403,
            body: { code: 'REAUTH_REQUIRED', details: { methods: ['password', 'passkey', 'sso'] } },
          })
        }
      })
      // Another login of the same user is no proof for this one.
      const second = await secondLogin(app, scene.owner)
      expect([await isRecent(second), await isRecent(scene.owner)]).toEqual([true, false])
    },
  )

  test('is open until then', verifies('reauth.required'), async ({ app }) => {
    const person = await app.person()
    app.clock.advance({ minutes: 14, seconds: 59, milliseconds: 999 })
    expect(await isRecent(person)).toBe(true)
    app.clock.advance({ milliseconds: 1 })
    expect(await isRecent(person)).toBe(false)
  })

  test('is refused to a login of an earlier version', async ({ app }) => {
    const person = await app.person()
    await app.ctx.db.run(sql`update logins set proved_at = null, method = null where user_id = ${person.user.id}`)
    expect(await isRecent(person)).toBe(false)
    expect((await person.get('/auth/logins')).body.data).toMatchObject([{ method: null, current: true }])
  })
})

describe('the password', () => {
  test('makes the login recent for 15 minutes', verifies('reauth.by-password'), async ({ app }) => {
    const person = await app.person()
    const second = await secondLogin(app, person)
    app.clock.advance({ hours: 1 })
    expect(await reauth(person, person.password)).toMatchObject({ status: 204 })
    expect([await isRecent(person), await isRecent(second)]).toEqual([true, false])
    app.clock.advance({ minutes: 14, seconds: 59 })
    expect(await isRecent(person)).toBe(true)
    app.clock.advance({ seconds: 1 })
    expect(await isRecent(person)).toBe(false)
  })

  test(
    'that is wrong is refused and counts towards the limit of sign-ins',
    verifies('reauth.by-password'),
    async ({ app }) => {
      const person = await app.person()
      app.clock.advance({ hours: 1 })
      await app.unchanged(async () => {
        for (let n = 0; n < 10; n++) {
          const refused = await reauth(person, `guess ${n}`)
          expect(refused).toMatchObject({ status: 422, body: { details: { password: 'is not your password' } } })
        }
        expect((await reauth(person, person.password)).status).toBe(429)
      })
      expect(await isRecent(person)).toBe(false)
      expect(await signInStatus(app, person.user.email, person.password)).toBe(429)
      app.clock.advance({ hours: 1 })
      expect((await reauth(person, person.password)).status).toBe(204)
    },
  )

  test('of an account that has none is wrong', async ({ app }) => {
    const person = await app.person()
    await withIdentity(app, person)
    expect((await person.delete('/auth/password')).status).toBe(204)
    app.clock.advance({ hours: 1 })
    expect((await reauth(person, person.password)).status).toBe(422)
    expect((await reauth(person, '')).status).toBe(422)
    const refused = await person.put('/auth/password', { new_password: 'a new password' })
    expect(refused.body.details.methods).toEqual(['sso'])
  })
})

describe('the last sign-in method', () => {
  test('cannot be removed, whichever it is', verifies('account.last-sign-in-method'), async ({ app }) => {
    const [ada, bob, eve] = [await app.person(), await app.person(), await app.person()]
    const last = { status: 409, body: { code: 'LAST_SIGN_IN_METHOD' } }
    expect(await app.unchanged(() => ada.delete('/auth/password'))).toMatchObject(last)

    const identity = await withIdentity(app, bob)
    const passkey = await withPasskey(app, eve)
    for (const person of [bob, eve]) expect((await person.delete('/auth/password')).status).toBe(204)
    await app.unchanged(async () => {
      const gone = { code: 'LAST_SIGN_IN_METHOD' }
      await expect(app.ctx.db.tx((tx) => removeIdentity(tx, bob.user.id, identity))).rejects.toMatchObject(gone)
      await expect(app.ctx.db.tx((tx) => removePasskey(tx, eve.user.id, passkey))).rejects.toMatchObject(gone)
      expect(await bob.delete('/auth/password')).toMatchObject({ status: 404 })
    })
    // A user without a password may set one later; then the other method can be removed.
    expect((await bob.put('/auth/password', { new_password: 'a new password' })).status).toBe(204)
    expect((await bob.get('/auth/account')).body).toMatchObject({ has_password: true, identities: [{ id: identity }] })
    await app.ctx.db.tx((tx) => removeIdentity(tx, bob.user.id, identity))
    expect(await signInStatus(app, bob.user.email, 'a new password')).toBe(200)
  })
})

test(
  'routes of the account refuse the tokens of apps and programs',
  verifies('account.session-only'),
  async ({ app }) => {
    const scene = await makeScene(app)
    const program = asApp(app, scene.id, await programOf(app, scene.member, scene.id))
    expect(personRoutes.length).toBeGreaterThan(15)
    await app.unchanged(async () => {
      for (const [name, operation] of personRoutes) {
        const { method } = operation.route
        const body = method === 'GET' ? undefined : (accepted[name as WriteName] ?? undefined)
        for (const client of [scene.robot, program]) {
          const refused = await client.request(method, pathOf(operation, scene.ids), body)
          expect({ name, status: refused.status, code: refused.body?.code }).toEqual({
            name,
            status: 403,
            code: 'SESSION_ONLY_ROUTE',
          })
        }
      }
    })
  },
)

test('the account shows its sign-in methods', verifies('account.read'), async ({ app }) => {
  const [ada, eve] = [await app.person(), await app.person()]
  const identity = await withIdentity(app, ada)
  await withPasskey(app, ada)
  await withPasskey(app, eve)
  const now = app.clock.now()
  await app.ctx.db.run(sql`
    update users set email_verified_at = ${now}, pending_email = 'next@example.com', mail_problem = '550 unknown user',
      password_hash = null, time_zone = 'Asia/Tokyo'
    where id = ${ada.user.id}`)
  expect((await ada.get('/auth/account')).body).toEqual({
    display_name: ada.user.display_name,
    email: ada.user.email,
    email_verified: true,
    pending_email: 'next@example.com',
    has_password: false,
    time_zone: 'Asia/Tokyo',
    mail_problem: '550 unknown user',
    identities: [{ id: identity, provider_id: 'company', email: 'ada@company.example', created_at: now.toISOString() }],
    passkeys: 1,
  })
})

mailed(
  'a changed, set or removed password queues one security mail each',
  verifies('account.security-mail'),
  async ({ app, mailServer }) => {
    const person = await app.person()
    await withIdentity(app, person)
    const { email } = person.user
    const refused = { current_password: 'a guess', new_password: 'a new password' }
    await app.unchanged(() => person.post('/auth/password', refused))
    expect(await mailsTo(app, mailServer, email)).toEqual([])
    await person.post('/auth/password', { current_password: person.password, new_password: 'a new password' })
    await person.put('/auth/password', { new_password: 'another password' })
    await person.delete('/auth/password')
    // Several connections send them, in any order.
    expect(subjectsOf(await mailsTo(app, mailServer, email)).sort()).toEqual([
      'A sign-in method was removed',
      'Your password was changed',
      'Your password was changed',
    ])
  },
)

test('setting another password ends the other logins, the first password ends none', async ({ app }) => {
  const person = await app.person()
  const second = await secondLogin(app, person)
  expect((await person.put('/auth/password', { new_password: 'a new password' })).status).toBe(204)
  expect([(await person.get('/auth/me')).status, (await second.get('/auth/me')).status]).toEqual([200, 401])

  await withIdentity(app, person)
  const third = await secondLogin(app, { ...person, password: 'a new password' } as TestPerson)
  expect((await person.delete('/auth/password')).status).toBe(204)
  expect((await person.put('/auth/password', { new_password: 'the first one' })).status).toBe(204)
  expect((await third.get('/auth/me')).status).toBe(200)
})
