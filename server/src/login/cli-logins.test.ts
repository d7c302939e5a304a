import { describe, expect } from 'vitest'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { pkce } from '../../test/oauth.ts'
import { days, plus } from '../clock.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { startLogin } from './logins.ts'
import { addIdentity } from './methods.ts'
import { endLoginsOfIdentity, endLoginsOfSid } from './sso-accounts.ts'

const allow = (person: Pick<TestPerson, 'post'>, challenge: string, more: object = {}) =>
  person.post('/auth/cli-logins', { challenge, name: 'baton on laptop', ...more })
const exchange = (app: TestApp, code: string, verifier: string) =>
  app.anonymous.post('/auth/cli-logins/exchange', { code, verifier })
const asLogin = (app: TestApp, token: string) => app.anonymous.with({ authorization: `Bearer ${token}` })

describe('a program that a user allows', () => {
  test(
    'gets a login of the method cli, once, within 60 seconds and with its verifier',
    verifies('account.cli-login'),
    async ({ app }) => {
      const person = await app.person()
      const { challenge, verifier } = pkce()
      const { status, body } = await allow(person, challenge, { port: 41_553 })
      expect(status).toBe(201)
      expect(body.redirect_to).toBe(`http://127.0.0.1:41553/?code=${body.code}`)
      app.clock.advance({ seconds: 59, milliseconds: 999 })
      const answer = await exchange(app, body.code, verifier)
      expect(answer).toMatchObject({ status: 200, body: { user: person.user, token: expect.stringMatching(/^psn_/) } })
      expect(answer.headers.get('cache-control')).toBe('no-store')
      const login = asLogin(app, answer.body.token)
      expect((await login.get('/auth/logins')).body.data[0]).toMatchObject({
        current: true,
        method: 'cli',
        client: 'baton on laptop',
      })
      // It does not begin recent.
      expect(await login.put('/auth/password', { new_password: 'a new password' })).toMatchObject({
        body: { code: 'REAUTH_REQUIRED', details: { methods: ['password'] } },
      })
      expect((await allow(login, challenge)).body.code).toBe('REAUTH_REQUIRED')

      await app.unchanged(async () => expect((await exchange(app, body.code, verifier)).status).toBe(404))
      const late = (await allow(person, challenge)).body
      expect(late.redirect_to).toBeNull()
      app.clock.advance({ seconds: 60 })
      expect((await exchange(app, late.code, verifier)).status).toBe(404)
      const logins = await app.ctx.db.rows(sql`select 1 from logins where user_id = ${person.user.id}`)
      expect(logins).toHaveLength(2)
    },
  )

  test(
    'cannot use a code with another verifier, which also uses it up',
    verifies('account.cli-login'),
    async ({ app }) => {
      const person = await app.person()
      const { challenge, verifier } = pkce()
      const { code } = (await allow(person, challenge)).body
      expect((await exchange(app, code, pkce().verifier)).status).toBe(404)
      expect((await exchange(app, code, verifier)).status).toBe(404)
      expect((await exchange(app, `${code}x`, verifier)).status).toBe(404)
      const stored = await app.everything()
      expect(stored).not.toContain(code)
      expect((await person.get('/auth/logins')).body.data).toHaveLength(1)
    },
  )

  test('is sent to no host but 127.0.0.1', verifies('account.cli-login'), async ({ app }) => {
    const person = await app.person()
    const { challenge } = pkce()
    await app.unchanged(async () => {
      for (const port of [0, 65_536, 80.5, '80', '80@evil.example', 'evil.example', null]) {
        expect(await allow(person, challenge, { port })).toMatchObject({
          status: 422,
          body: { details: { port: expect.any(String) } },
        })
      }
      for (const wrong of ['', 'x'.repeat(42), 'x'.repeat(44), `${'x'.repeat(42)}=`]) {
        expect(await allow(person, wrong)).toMatchObject({ status: 422 })
      }
      expect(await allow(person, challenge, { host: 'evil.example' })).toMatchObject({ status: 422 })
      expect(await allow(person, challenge, { name: '' })).toMatchObject({ status: 422 })
    })
    for (const port of [1, 65_535]) {
      const { redirect_to } = (await allow(person, challenge, { port })).body
      expect(new URL(redirect_to).hostname).toBe('127.0.0.1')
    }
  })

  test(
    'needs a recent login, and ends with the login before the exchange',
    verifies('account.cli-login'),
    async ({ app }) => {
      const person = await app.person()
      const { challenge, verifier } = pkce()
      const { code } = (await allow(person, challenge)).body
      await person.post('/auth/sign-out')
      expect((await exchange(app, code, verifier)).status).toBe(404)
      const other = await app.person()
      app.clock.advance({ minutes: 15 })
      const refused = await app.unchanged(() => allow(other, challenge))
      expect(refused).toMatchObject({ status: 403, body: { code: 'REAUTH_REQUIRED' } })
    },
  )

  test('has the identity and the expiry of an SSO login', verifies('account.cli-login-inherits'), async ({ app }) => {
    const { user } = await app.person()
    const now = app.clock.now()
    const identityId = await addIdentity(app.ctx.db, now, {
      userId: user.id,
      providerId: 'company',
      issuer: 'https://company.example',
      subject: user.id,
      email: null,
    })
    const sso = async (sid: string) =>
      asLogin(
        app,
        (await startLogin(
          app.ctx.db,
          {
            userId: user.id,
            method: 'sso',
            providerId: 'company',
            identityId,
            sid,
            expiresAt: plus(now, days(7)),
            from: null,
          },
          app.clock.now(),
        )) as string,
      )
    const program = async (sid: string) => {
      const { challenge, verifier } = pkce()
      const { code } = (await allow(await sso(sid), challenge)).body
      const { token } = (await exchange(app, code, verifier)).body
      const row = await app.ctx.db.row(sql`
          select provider_id, identity_id, sid, expires_at from logins where token_hash = ${sha256(token)}`)
      expect(row).toEqual({
        provider_id: 'company',
        identity_id: identityId,
        sid,
        expires_at: plus(now, days(7)).toISOString(),
      })
      return asLogin(app, token)
    }
    const first = await program('one')
    const second = await program('two')
    const third = await program('three')
    const statuses = async () =>
      Promise.all([first, second, third].map(async (it) => (await it.get('/auth/me')).status))
    expect(await statuses()).toEqual([200, 200, 200])
    await endLoginsOfSid(app.ctx.db, 'company', 'one')
    expect(await statuses()).toEqual([401, 200, 200])
    app.clock.advance({ days: 6, hours: 23, minutes: 59 })
    expect(await statuses()).toEqual([401, 200, 200])
    app.clock.advance({ minutes: 1 })
    expect(await statuses()).toEqual([401, 401, 401])

    app.clock.advance({ days: -7 })
    const again = await program('again')
    await endLoginsOfIdentity(app.ctx.db, 'https://company.example', user.id)
    expect((await again.get('/auth/me')).status).toBe(401)
  })
})
