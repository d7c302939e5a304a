import { describe, expect } from 'vitest'
import { type TestApp, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
let number = 0
const newcomer = () => ({ ...ann, email: `newcomer-${++number}@example.com` })

describe('sign up', () => {
  test('creates an account and a login', verifies('login.sign-up-201', 'login.token-prefix-psn'), async ({ app }) => {
    const { status, body } = await app.nobody.post('/auth/sign-up', { ...ann, email: 'Ann@Example.com' })
    expect(status).toBe(201)
    expect(body.user).toEqual({
      id: expect.stringMatching(/^usr_/),
      display_name: 'Ann',
      email: 'ann@example.com',
      user_kind: 'human',
      agent_kind: null,
    })
    expect(body.token).toMatch(/^psn_[\w-]{43}$/)
  })

  test('needs every field', verifies('login.sign-up-missing-field-422'), async ({ app }) => {
    for (const field of ['email', 'password', 'name']) {
      const response = await app.unchanged(() =>
        app.nobody.post('/auth/sign-up', { ...newcomer(), [field]: undefined }),
      )
      expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(response.body.details).toEqual({ [field]: 'is required' })
    }
  })

  test.for([
    [7, 422],
    [8, 201],
    [200, 201],
    [201, 422],
  ])('a password of %i characters answers %i', verifies('login.password-length'), async ([length, status], { app }) => {
    const response = await app.nobody.post('/auth/sign-up', { ...newcomer(), password: 'x'.repeat(length as number) })
    expect(response.status).toBe(status)
    if (status === 422) expect(Object.keys(response.body.details)).toEqual(['password'])
  })

  test('an e-mail is one account, whatever its letter case', async ({ app }) => {
    const person = newcomer()
    await app.nobody.post('/auth/sign-up', person)
    const again = await app.unchanged(() =>
      app.nobody.post('/auth/sign-up', { ...person, email: person.email.toUpperCase() }),
    )
    expect(again).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
    expect(again.body.details).toEqual({ email: 'has an account already; sign in instead' })
  })

  test('an e-mail must be one', async ({ app }) => {
    for (const email of [
      '',
      'ann',
      'ann@',
      '@example.com',
      'a b@example.com',
      `${'a'.repeat(250)}@b.example`,
      5,
      null,
    ]) {
      const response = await app.unchanged(() => app.nobody.post('/auth/sign-up', { ...ann, email }))
      expect(response).toMatchObject({ status: 422, body: { details: { email: 'must be an e-mail address' } } })
    }
  })

  test('by invitation only, but for the first account', verifies('login.signup-invite-mode'), async ({ startApp }) => {
    const app = await startApp({ BATON_SIGNUP: 'invite' })
    const first = await app.nobody.post('/auth/sign-up', newcomer())
    expect(first.status).toBe(201)
    const invited = newcomer()
    const refused = await app.unchanged(() => app.nobody.post('/auth/sign-up', invited))
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })

    const owner = app.nobody.with({ authorization: `Bearer ${first.body.token}` })
    const { id } = (await owner.post('/workspaces', { name: 'Acme' })).body
    const inWorkspace = owner.with({ 'x-workspace-id': id })
    await inWorkspace.post('/workspaces/me/invitations', { email: invited.email, role: 'member' })
    expect((await app.unchanged(() => app.nobody.post('/auth/sign-up', newcomer()))).status).toBe(403)
    expect((await app.nobody.post('/auth/sign-up', invited)).status).toBe(201)

    const late = newcomer()
    await inWorkspace.post('/workspaces/me/invitations', { email: late.email, role: 'member' })
    app.clock.advance({ days: 7 })
    expect((await app.nobody.post('/auth/sign-up', late)).status).toBe(403)
  })
})

test('sign-ups from one network are limited where strangers can reach the service', async ({ startApp }) => {
  const app = await startApp({
    BATON_ROOT_URL: 'https://baton.example',
    BATON_SIGNUP: 'open',
    BATON_TRUST_PROXY: '127.0.0.1',
  })
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  for (let i = 0; i < 60; i++) {
    const response = await app.nobody.post('/auth/sign-up', newcomer(), from(`2001:db8:1:2::${i}`))
    expect(response.status).toBe(201)
  }
  const refused = await app.unchanged(() => app.nobody.post('/auth/sign-up', newcomer(), from('2001:db8:1:2:ffff::1')))
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
  expect((await app.nobody.post('/auth/sign-up', newcomer(), from('2001:db8:1:3::1'))).status).toBe(201)
})

describe('sign in', () => {
  test('answers the person and a token', verifies('login.sign-in-200'), async ({ app }) => {
    const person = newcomer()
    const { body: account } = await app.nobody.post('/auth/sign-up', person)
    const { email, password } = person
    const { status, body } = await app.nobody.post('/auth/sign-in', { email: email.toUpperCase(), password })
    expect(status).toBe(200)
    expect(body.user).toEqual(account.user)
    expect(body.token).not.toBe(account.token)
    const me = await app.nobody.get('/auth/me', { headers: { authorization: `Bearer ${body.token}` } })
    expect(me.body.user).toEqual(account.user)
  })

  test(
    'a wrong password and an unknown e-mail answer alike',
    verifies('login.sign-in-wrong-password-401', 'login.sign-in-unknown-email-same-text'),
    async ({ app }) => {
      const { user } = await app.person()
      const wrong = await app.nobody.post('/auth/sign-in', { email: user.email, password: 'something else' })
      const unknown = await app.nobody.post('/auth/sign-in', {
        email: 'nobody@example.com',
        password: 'something else',
      })
      expect(wrong).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS', details: {} } })
      expect(unknown.status).toBe(401)
      expect(unknown.body).toEqual(wrong.body)
    },
  )

  test('and take the same time', verifies('login.sign-in-unknown-email-same-time'), async ({ app }) => {
    const time = async (email: string) => {
      const started = performance.now()
      await app.nobody.post('/auth/sign-in', { email, password: 'something else' })
      return performance.now() - started
    }
    const known: number[] = []
    const unknown: number[] = []
    // In turns, so that noise meets both. Without the hash an answer comes twenty times as fast.
    for (let i = 0; i < 7; i++) {
      known.push(await time((await app.person()).user.email))
      unknown.push(await time(`nobody-${i}@example.com`))
    }
    const median = (times: number[]) => times.sort((a, b) => a - b)[3] as number
    expect(median(unknown) / median(known)).toBeGreaterThan(0.3)
    expect(median(unknown) / median(known)).toBeLessThan(3)
  })
})

describe('guessing', () => {
  const attempt = (app: TestApp, email: string, password = 'a guess', headers = {}) =>
    app.nobody.post('/auth/sign-in', { email, password }, { headers })

  test(
    'is limited per e-mail, forgiven with time, and a right password does not count',
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
    'is limited per address, and no header escapes that',
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

describe('sign out', () => {
  test(
    'ends this login and no other',
    verifies('login.sign-out-204', 'login.sign-out-ends-token', 'login.revoked-token-401'),
    async ({ app }) => {
      const person = await app.person()
      const { email, password } = { ...person.user, password: person.password }
      const other = (await app.nobody.post('/auth/sign-in', { email, password })).body.token
      const response = await person.post('/auth/sign-out')
      expect(response.status).toBe(204)
      expect(response.headers.get('set-cookie')).toContain('baton_session=; Path=/; Max-Age=0')
      expect(await person.get('/auth/me')).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      const byCookie = await app.nobody.get('/auth/me', { headers: { cookie: `baton_session=${person.token}` } })
      expect(byCookie).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      expect((await app.nobody.get('/auth/me', { headers: { authorization: `Bearer ${other}` } })).status).toBe(200)
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
      const signIn = (password: string) => app.nobody.post('/auth/sign-in', { email, password })
      const other = (await signIn(person.password)).body.token
      const change = { current_password: person.password, new_password: 'another password' }
      expect((await person.post('/auth/password', change)).status).toBe(204)
      expect((await person.get('/auth/me')).status).toBe(200)
      const elsewhere = await app.nobody.get('/auth/me', { headers: { authorization: `Bearer ${other}` } })
      expect(elsewhere).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      expect(await signIn(person.password)).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } })
      expect((await signIn('another password')).status).toBe(200)
    },
  )

  test(
    'ends logins that were on their way in with the old one',
    verifiesOnPostgres('login.password-ends-other-logins', 'login.password-keeps-this-login'),
    async ({ app }) => {
      for (let round = 0; round < 4; round++) {
        const person = await app.person()
        const { email } = person.user
        const change = { current_password: person.password, new_password: 'another password' }
        const [changed, ...signedIn] = await Promise.all([
          person.post('/auth/password', change),
          ...Array.from({ length: 4 }, () => app.nobody.post('/auth/sign-in', { email, password: person.password })),
        ])
        expect(changed.status).toBe(204)
        expect((await person.get('/auth/me')).status).toBe(200)
        for (const { body } of signedIn) {
          const me = await app.nobody.get('/auth/me', { headers: { authorization: `Bearer ${body.token ?? 'none'}` } })
          expect(me.status).toBe(401)
        }
      }
    },
  )

  test(
    'by two at once lets one of them win',
    verifiesOnPostgres('login.password-keeps-this-login'),
    async ({ app }) => {
      const person = await app.person()
      const { body } = await app.nobody.post('/auth/sign-in', { email: person.user.email, password: person.password })
      const other = app.nobody.with({ authorization: `Bearer ${body.token}` })
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

  test('needs the current one', verifies('login.wrong-current-password'), async ({ app }) => {
    const person = await app.person()
    const { email } = person.user
    const other = (await app.nobody.post('/auth/sign-in', { email, password: person.password })).body.token
    const response = await app.unchanged(() =>
      person.post('/auth/password', { current_password: 'not this', new_password: 'another password' }),
    )
    expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
    expect(response.body.details).toEqual({ current_password: 'is not your current password' })
    for (const token of [person.token, other]) {
      expect((await app.nobody.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
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

describe('the token', () => {
  test(
    'works as bearer and as cookie',
    verifies('login.token-works-as-bearer', 'login.token-works-as-cookie'),
    async ({ app }) => {
      const { token, user } = await app.person()
      for (const headers of [
        { authorization: `Bearer ${token}` },
        { authorization: `bearer ${token}` },
        { cookie: `other=1; baton_session=${token}` },
      ]) {
        expect((await app.nobody.get('/auth/me', { headers })).body.user).toEqual(user)
      }
    },
  )

  test.for([
    ['none', {}],
    ['an unknown one', { authorization: `Bearer psn_${'a'.repeat(43)}` }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['of another scheme', { authorization: 'Basic YTpi' }],
    ['without a scheme', { authorization: 'psn_abc' }],
    ['an unknown cookie', { cookie: `baton_session=psn_${'a'.repeat(43)}` }],
    ['of no kind we know', { authorization: 'Bearer ghp_something' }],
  ] as const)(
    '%s answers 401 with a challenge',
    verifies('login.missing-token-401', 'login.401-www-authenticate-bearer'),
    async ([, headers], { app }) => {
      const response = await app.nobody.get('/auth/me', { headers })
      expect(response).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED', details: {} } })
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="\w+"/)
    },
  )

  test('is not the id of anything', verifies('http.id-is-never-a-secret'), async ({ app }) => {
    const { owner, id } = await app.workspace()
    for (const token of [id, owner.user.id, `psn_${owner.user.id}`]) {
      const response = await app.nobody.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })
      expect(response).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    }
  })

  test(
    'lives 30 days from its last use',
    verifies('login.token-lifetime', 'login.expired-token-401'),
    async ({ app }) => {
      const person = await app.person()
      const me = async () => (await person.get('/auth/me')).status
      app.clock.advance({ days: 30 })
      expect(await me()).toBe(200)
      app.clock.advance({ days: 30 })
      expect(await me()).toBe(200)
      app.clock.advance({ days: 30, milliseconds: 1 })
      expect(await person.get('/auth/me')).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    },
  )

  test(
    'is 32 random bytes, and only its hash is stored',
    verifies('login.token-stored-as-sha256', 'http.secret-is-32-random-bytes'),
    async ({ app }) => {
      const { token } = await app.person()
      expect(Buffer.from(token.slice(4), 'base64url')).toHaveLength(32)
      const logins = await app.ctx.db.rows<{ row: string }>(sql`select to_jsonb(l)::text as row from logins l`)
      const stored = `${logins.map(({ row }) => row).join()} ${await app.everything()}`
      expect(stored).not.toContain(token)
      expect(stored).not.toContain(token.slice(4))
      expect(stored).not.toContain(Buffer.from(token).toString('hex'))
    },
  )
})

describe('the cookie', () => {
  const cookieOf = async (app: TestApp) =>
    (await app.nobody.post('/auth/sign-up', newcomer())).headers.get('set-cookie') ?? ''

  test('is HttpOnly and SameSite=Lax', verifies('login.cookie-httponly-lax'), async ({ app }) => {
    const cookie = await cookieOf(app)
    expect(cookie).toMatch(/^baton_session=psn_[\w-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
  })

  test('is sent again as the login goes on living', verifies('login.token-lifetime'), async ({ app }) => {
    const { token } = await app.person()
    const browser = app.nobody.with({ cookie: `baton_session=${token}` })
    expect((await browser.get('/auth/me')).headers.get('set-cookie')).toBeNull()
    app.clock.advance({ days: 29 })
    const renewed = (await browser.get('/auth/me')).headers.get('set-cookie')
    expect(renewed).toContain(`baton_session=${token}; Path=/; Max-Age=2592000`)
    app.clock.advance({ days: 29 })
    const bearer = app.nobody.with({ authorization: `Bearer ${token}` })
    expect((await bearer.get('/auth/me')).headers.get('set-cookie')).toBeNull()
  })

  test('is Secure where the service is https', verifies('login.cookie-secure-on-https'), async ({ startApp }) => {
    const app = await startApp({ BATON_ROOT_URL: 'https://baton.example', BATON_SIGNUP: 'open' })
    expect(await cookieOf(app)).toMatch(/; Secure$/)
  })

  test.for([
    ['nothing', {}, 'login.csrf-no-origin-refused'],
    ['another origin', { origin: 'https://evil.example' }, 'login.csrf-foreign-origin-refused'],
    ['another port', { origin: 'http://localhost:3001' }, 'login.csrf-foreign-origin-refused'],
    ['no origin', { origin: 'null' }, 'login.csrf-foreign-origin-refused'],
    [
      'another origin that lies',
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      'login.csrf-foreign-origin-refused',
    ],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }, 'login.csrf-cross-site-fetch-refused'],
    ['a same-site fetch', { 'sec-fetch-site': 'same-site' }, 'login.csrf-cross-site-fetch-refused'],
  ] as const)(
    'refuses a write that brings %s',
    verifies(
      'login.csrf-no-origin-refused',
      'login.csrf-foreign-origin-refused',
      'login.csrf-cross-site-fetch-refused',
    ),
    async ([, headers], { app }) => {
      const { token } = await app.person()
      const browser = app.nobody.with({ cookie: `baton_session=${token}`, ...headers })
      const response = await app.unchanged(() => browser.post('/workspaces', { name: 'Forged' }))
      expect(response).toMatchObject({ status: 403, body: { code: 'CSRF_REFUSED' } })
    },
  )

  test(
    'accepts a write of our own pages, and any read',
    verifies(
      'login.csrf-same-origin-accepted',
      'login.csrf-sec-fetch-site-accepted',
      'login.csrf-read-exempt',
      'login.csrf-bearer-exempt',
    ),
    async ({ app }) => {
      const { token } = await app.person()
      const browser = app.nobody.with({ cookie: `baton_session=${token}` })
      const ours = { origin: app.ctx.config.rootUrl }
      expect((await browser.post('/workspaces', { name: 'One' }, { headers: ours })).status).toBe(201)
      const sameOrigin = { 'sec-fetch-site': 'same-origin' }
      expect((await browser.post('/workspaces', { name: 'Two' }, { headers: sameOrigin })).status).toBe(201)
      expect((await browser.get('/auth/me')).status).toBe(200)
      expect((await browser.get('/auth/me', { headers: { origin: 'https://evil.example' } })).status).toBe(200)
      const bearer = app.nobody.with({ authorization: `Bearer ${token}` })
      expect((await bearer.post('/workspaces', { name: 'Three' })).status).toBe(201)
    },
  )
})

describe('GET /auth/me', () => {
  test(
    'names the person and their workspaces',
    verifies('login.me-person-user', 'login.me-person-workspaces'),
    async ({ app }) => {
      const person = await app.person('Ann')
      expect((await person.get('/auth/me')).body).toEqual({
        user: {
          id: person.user.id,
          display_name: 'Ann',
          email: person.user.email,
          user_kind: 'human',
          agent_kind: null,
        },
        workspaces: [],
      })
      const { id } = (await person.post('/workspaces', { name: 'Mine' })).body
      const other = await app.workspace('Theirs')
      const { body } = await other.owner.post('/workspaces/me/invitations', { email: person.user.email, role: 'admin' })
      await person.post('/invitations/accept', { token: body.token })
      const { workspaces } = (await person.get('/auth/me')).body
      expect(workspaces).toHaveLength(2)
      expect(workspaces).toContainEqual({ id, name: 'Mine', role: 'owner' })
      expect(workspaces).toContainEqual({ id: other.id, name: 'Theirs', role: 'admin' })
    },
  )
})
