import { hash } from '@node-rs/argon2'
import { describe, expect } from 'vitest'
import { processorMs } from '../../../conformance/times.ts'
import { type TestApp, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'

const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
let number = 0
const newcomer = () => ({ ...ann, email: `newcomer-${++number}@example.com` })

describe('sign in', () => {
  test('answers the person and a token', verifies('login.sign-in-200'), async ({ app }) => {
    const person = newcomer()
    const { body: account } = await app.anonymous.post('/auth/sign-up', person)
    const { email, password } = person
    const { status, body } = await app.anonymous.post('/auth/sign-in', { email: email.toUpperCase(), password })
    expect(status).toBe(200)
    expect(body.user).toEqual(account.user)
    expect(body.token).not.toBe(account.token)
    const me = await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${body.token}` } })
    expect(me.body.user).toEqual(account.user)
  })

  test(
    'a wrong password and an unknown e-mail get the same response',
    verifies('login.sign-in-wrong-password-401', 'login.sign-in-unknown-email-same-text'),
    async ({ app }) => {
      const { user } = await app.person()
      const signIn = (password: string) => app.anonymous.post('/auth/sign-in', { email: user.email, password })
      const wrong = await signIn('something else')
      for (const impossible of ['', 'x'.repeat(201)]) expect((await signIn(impossible)).body).toEqual(wrong.body)
      const unknown = await app.anonymous.post('/auth/sign-in', {
        email: 'nobody@example.com',
        password: 'something else',
      })
      expect(wrong).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS', details: {} } })
      expect(unknown.status).toBe(401)
      expect(unknown.body).toEqual(wrong.body)
    },
  )

  test(
    'a wrong password and an unknown e-mail take the same time',
    verifies('login.sign-in-unknown-email-same-time'),
    async ({ app }) => {
      const time = (email: string) =>
        processorMs(() => app.anonymous.post('/auth/sign-in', { email, password: 'something else' }))
      const known: number[] = []
      const unknown: number[] = []
      // Alternating, so that noise affects both. Without hashing, a response would be twenty times as fast.
      for (let i = 0; i < 7; i++) {
        known.push(await time((await app.person()).user.email))
        unknown.push(await time(`nobody-${i}@example.com`))
      }
      const median = (times: number[]) => times.sort((a, b) => a - b)[3] as number
      expect(median(unknown) / median(known)).toBeGreaterThan(0.3)
      expect(median(unknown) / median(known)).toBeLessThan(3)
    },
  )
})

describe('guessing', () => {
  const attempt = (app: TestApp, email: string, password = 'a guess', headers = {}) =>
    app.anonymous.post('/auth/sign-in', { email, password }, { headers })

  test(
    'is limited per e-mail, expires, and does not count the right password',
    verifies('login.sign-in-limited-per-email', 'login.sign-in-429-code-and-retry-after'),
    async ({ startApp }) => {
      const app = await startApp()
      const { user, password } = await app.person()
      for (let i = 0; i < 20; i++) expect((await attempt(app, user.email, password)).status).toBe(200)
      for (let i = 0; i < 10; i++) expect((await attempt(app, user.email)).status).toBe(401)
      const refused = await attempt(app, user.email, password)
      expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBe(60)
      expect((await attempt(app, (await app.person()).user.email, password)).status).toBe(200)
      app.clock.advance({ seconds: seconds - 1 })
      expect((await attempt(app, user.email, password)).status).toBe(429)
      app.clock.advance({ seconds: 1 })
      expect((await attempt(app, user.email, password)).status).toBe(200)
    },
  )

  test('is limited for a password change too', async ({ startApp }) => {
    const app = await startApp()
    const person = await app.person()
    const guess = { current_password: 'a guess', new_password: 'a new password' }
    for (let i = 0; i < 10; i++) expect((await person.post('/auth/password', guess)).status).toBe(422)
    expect((await person.post('/auth/password', guess)).status).toBe(429)
    expect((await attempt(app, person.user.email, person.password)).status).toBe(429)
  })

  test(
    'is limited per address, which no header can change',
    verifies('login.sign-in-limited-per-address', 'config.trust-proxy'),
    async ({ startApp }) => {
      const app = await startApp()
      for (let i = 0; i < 60; i++) {
        const response = await attempt(app, `guess-${i}@example.com`, 'a guess', {
          'x-forwarded-for': `198.51.100.${i}`,
        })
        expect(response.status).toBe(401)
      }
      const refused = await attempt(app, 'guess-60@example.com', 'a guess', { 'x-forwarded-for': '203.0.113.9' })
      expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
    },
  )

  test(
    'behind a trusted proxy counts the address that the proxy names',
    verifies('config.trust-proxy'),
    async ({ startApp }) => {
      const app = await startApp({ BATON_TRUST_PROXY: '127.0.0.0/8' })
      const from = (address: string) => ({ 'x-forwarded-for': address })
      for (let i = 0; i < 60; i++) await attempt(app, `guess-${i}@example.com`, 'a guess', from('198.51.100.1'))
      expect((await attempt(app, 'guess-60@example.com', 'a guess', from('198.51.100.1'))).status).toBe(429)
      expect((await attempt(app, 'guess-60@example.com', 'a guess', from('198.51.100.2'))).status).toBe(401)
    },
  )
})

describe('guessing from several networks', () => {
  /** Each call comes from the address given. */
  const attemptsOn = (app: TestApp) => (from: string, email: string, password: string) =>
    app.anonymous.post('/auth/sign-in', { email, password }, { headers: { 'x-forwarded-for': from } })
  const behindProxy = { BATON_TRUST_PROXY: '127.0.0.0/8' }
  const stranger = (i: number) => `198.51.${Math.floor(i / 250)}.${(i % 250) + 1}`
  const home = '203.0.113.7'

  test(
    'a stranger cannot keep the owner out, whether the network of the owner is known or not',
    verifies('login.sign-in-limited-per-email'),
    async ({ startApp }) => {
      const app = await startApp(behindProxy)
      const attempt = attemptsOn(app)
      const { user, password } = await app.person()
      for (let i = 0; i < 10; i++) expect((await attempt(stranger(0), user.email, 'a guess')).status).toBe(401)
      expect((await attempt(stranger(0), user.email, password)).status).toBe(429)
      expect((await attempt(home, user.email, password)).status).toBe(200)
      expect((await attempt(stranger(0), user.email, password)).status).toBe(429)
    },
  )

  test(
    'fifty failures elsewhere lock new networks, and spare those of the last 30 days',
    verifies('login.sign-in-limited-per-email', 'login.sign-in-429-code-and-retry-after'),
    async ({ startApp }) => {
      const app = await startApp(behindProxy)
      const attempt = attemptsOn(app)
      const { user, password } = await app.person()
      const former = '203.0.113.8'
      expect((await attempt(former, user.email, password)).status).toBe(200)
      app.clock.advance({ milliseconds: 1 })
      expect((await attempt(home, user.email, password)).status).toBe(200)
      app.clock.advance({ days: 30 })
      for (let i = 0; i < 50; i++) expect((await attempt(stranger(i), user.email, 'a guess')).status).toBe(401)
      const refused = await attempt(stranger(50), user.email, 'a guess')
      expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
      expect(Number(refused.headers.get('retry-after'))).toBe(72)
      // The right password is refused too: the response must not reveal that it is right.
      expect((await attempt(stranger(51), user.email, password)).status).toBe(429)
      // One millisecond more than 30 days ago, and 30 days ago.
      expect((await attempt(former, user.email, password)).status).toBe(429)
      for (let i = 0; i < 10; i++) expect((await attempt(home, user.email, 'a typo')).status).toBe(401)
      expect((await attempt(home, user.email, password)).status).toBe(429)
      app.clock.advance({ seconds: 71 })
      expect((await attempt(stranger(52), user.email, 'a guess')).status).toBe(429)
      app.clock.advance({ seconds: 1 })
      expect((await attempt(home, user.email, password)).status).toBe(200)
      expect((await attempt(stranger(53), user.email, 'a guess')).status).toBe(401)
      expect((await attempt(stranger(54), user.email, 'a guess')).status).toBe(429)
      // Other accounts are not affected.
      expect((await attempt(stranger(55), (await app.person()).user.email, password)).status).toBe(200)
    },
  )

  test('an e-mail without an account is limited in the same way', async ({ startApp }) => {
    const app = await startApp(behindProxy)
    const attempt = attemptsOn(app)
    for (let i = 0; i < 50; i++) expect((await attempt(stranger(i), 'no@example.com', 'a guess')).status).toBe(401)
    expect((await attempt(stranger(50), 'no@example.com', 'a guess')).status).toBe(429)
  })

  test('the network of the sign-up is known, and those of the old password are forgotten', async ({ startApp }) => {
    const app = await startApp(behindProxy)
    const attempt = attemptsOn(app)
    const person = newcomer()
    const at = (from: string) => ({ headers: { 'x-forwarded-for': from } })
    const { token } = (await app.anonymous.post('/auth/sign-up', person, at(home))).body
    expect((await attempt('203.0.113.8', person.email, person.password)).status).toBe(200)
    const client = app.anonymous.with({ authorization: `Bearer ${token}` })
    const change = { current_password: person.password, new_password: 'another password' }
    for (let i = 0; i < 51; i++) await attempt(stranger(i), person.email, 'a guess')
    expect((await attempt('203.0.113.8', person.email, person.password)).status).toBe(200)
    // Failures of strangers do not keep the owner from changing the password, from any network.
    expect((await client.post('/auth/password', change, at(home))).status).toBe(204)
    expect((await attempt('203.0.113.8', person.email, 'another password')).status).toBe(429)
    expect((await attempt(home, person.email, 'another password')).status).toBe(200)
  })

  test('addresses of one IPv6 network count as one; IPv4 addresses each count', async ({ startApp }) => {
    const app = await startApp(behindProxy)
    const attempt = attemptsOn(app)
    const { user, password } = await app.person()
    for (let i = 0; i < 10; i++) await attempt(`2001:db8:0:1::${i}`, user.email, 'a guess')
    expect((await attempt('2001:db8:0:1:ffff::1', user.email, password)).status).toBe(429)
    expect((await attempt('2001:db8:0:2::1', user.email, password)).status).toBe(200)
  })

  test('stores no address, and forgets networks after 30 days', async ({ startApp }) => {
    const app = await startApp(behindProxy)
    const { user, password } = await app.person()
    await attemptsOn(app)(home, user.email, password)
    const networks = () =>
      app.ctx.db.rows<{ hash: string }>(sql`
      select encode(network_hash, 'escape') as hash from login_networks where user_id = ${user.id}`)
    expect(await networks()).toHaveLength(1)
    expect(JSON.stringify(await networks())).not.toContain(home)
    app.clock.advance({ days: 30 })
    await sweep(app.ctx)
    expect(await networks()).toHaveLength(1)
    app.clock.advance({ milliseconds: 1 })
    await sweep(app.ctx)
    expect(await networks()).toEqual([])
  })
})

describe('a password with accents', () => {
  const composed = 'caf\u00e9 au lait'
  const decomposed = 'cafe\u0301 au lait'

  test('is the same in composed and decomposed form', async ({ app }) => {
    for (const [chosen, typed] of [
      [composed, decomposed],
      [decomposed, composed],
    ] as const) {
      const { email, name } = newcomer()
      const { token } = (await app.anonymous.post('/auth/sign-up', { email, name, password: chosen })).body
      for (const password of [chosen, typed]) {
        expect((await app.anonymous.post('/auth/sign-in', { email, password })).status).toBe(200)
      }
      const other = await app.anonymous.post('/auth/sign-in', { email, password: 'cafe au lait' })
      expect(other.status).toBe(401)
      const client = app.anonymous.with({ authorization: `Bearer ${token}` })
      const change = { current_password: typed, new_password: 'another password' }
      expect((await client.post('/auth/password', change)).status).toBe(204)
    }
  })

  test('whose hash is older still works in both forms', async ({ app }) => {
    for (const stored of [composed, decomposed]) {
      const { user } = await app.person()
      await app.ctx.db.run(sql`update users set password_hash = ${await hash(stored)} where id = ${user.id}`)
      for (const password of [composed, decomposed]) {
        expect((await app.anonymous.post('/auth/sign-in', { email: user.email, password })).status).toBe(200)
      }
    }
  })
})

describe('sign out', () => {
  test(
    'ends this login and no other',
    verifies('login.sign-out-204', 'login.sign-out-ends-token', 'login.revoked-token-401'),
    async ({ app }) => {
      const person = await app.person()
      const { email, password } = { ...person.user, password: person.password }
      const other = (await app.anonymous.post('/auth/sign-in', { email, password })).body.token
      const response = await person.post('/auth/sign-out')
      expect(response.status).toBe(204)
      expect(response.headers.get('set-cookie')).toContain('baton_session=; Path=/; Max-Age=0')
      expect(await person.get('/auth/me')).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      const byCookie = await app.anonymous.get('/auth/me', { headers: { cookie: `baton_session=${person.token}` } })
      expect(byCookie).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      expect((await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${other}` } })).status).toBe(200)
    },
  )
})

describe('changing the password', () => {
  test(
    'the new one works, the old one does not, and other logins end',
    verifies('login.password-204', 'login.password-ends-other-logins', 'login.password-keeps-this-login'),
    async ({ app }) => {
      const person = await app.person()
      const { email } = person.user
      const signIn = (password: string) => app.anonymous.post('/auth/sign-in', { email, password })
      const other = (await signIn(person.password)).body.token
      const change = { current_password: person.password, new_password: 'another password' }
      expect((await person.post('/auth/password', change)).status).toBe(204)
      expect((await person.get('/auth/me')).status).toBe(200)
      const elsewhere = await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${other}` } })
      expect(elsewhere).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      expect(await signIn(person.password)).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } })
      expect((await signIn('another password')).status).toBe(200)
    },
  )

  test(
    'ends logins that started with the old one at the same time',
    verifiesOnPostgres('login.password-ends-other-logins', 'login.password-keeps-this-login'),
    async ({ app }) => {
      for (let round = 0; round < 4; round++) {
        const person = await app.person()
        const { email } = person.user
        const change = { current_password: person.password, new_password: 'another password' }
        const [changed, ...signedIn] = await Promise.all([
          person.post('/auth/password', change),
          ...Array.from({ length: 4 }, () => app.anonymous.post('/auth/sign-in', { email, password: person.password })),
        ])
        expect(changed.status).toBe(204)
        expect((await person.get('/auth/me')).status).toBe(200)
        for (const { body } of signedIn) {
          const me = await app.anonymous.get('/auth/me', {
            headers: { authorization: `Bearer ${body.token ?? 'none'}` },
          })
          expect(me.status).toBe(401)
        }
      }
    },
  )

  test(
    'succeeds once when two change it at the same time',
    verifiesOnPostgres('login.password-keeps-this-login'),
    async ({ app }) => {
      const person = await app.person()
      const { body } = await app.anonymous.post('/auth/sign-in', {
        email: person.user.email,
        password: person.password,
      })
      const other = app.anonymous.with({ authorization: `Bearer ${body.token}` })
      const change = (new_password: string) => ({ current_password: person.password, new_password })
      const answers = await Promise.all([
        person.post('/auth/password', change('password one')),
        other.post('/auth/password', change('password two')),
      ])
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
      const alive = [(await person.get('/auth/me')).status, (await other.get('/auth/me')).status]
      expect(alive.sort()).toEqual([200, 401])
    },
  )

  test('requires the current one', verifies('login.wrong-current-password'), async ({ app }) => {
    const person = await app.person()
    const { email } = person.user
    const other = (await app.anonymous.post('/auth/sign-in', { email, password: person.password })).body.token
    const response = await app.unchanged(() =>
      person.post('/auth/password', { current_password: 'not this', new_password: 'another password' }),
    )
    expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
    expect(response.body.details).toEqual({ current_password: 'is not your current password' })
    for (const token of [person.token, other]) {
      expect((await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
    }
  })

  test('has the same limits as a new one', verifies('login.password-length'), async ({ app }) => {
    const person = await app.person()
    let current_password = person.password
    for (const [length, status] of [
      [7, 422],
      [201, 422],
      [8, 204],
      [200, 204],
    ] as const) {
      const new_password = 'n'.repeat(length)
      expect((await person.post('/auth/password', { current_password, new_password })).status).toBe(status)
      if (status === 204) current_password = new_password
    }
  })
})
