import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
let number = 0
const newcomer = () => ({ ...ann, email: `newcomer-${++number}@example.com` })

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
        expect((await app.anonymous.get('/auth/me', { headers })).body.user).toEqual(user)
      }
    },
  )

  const refused: [what: string, headers: Record<string, string>, ...ids: RequirementId[]][] = [
    ['none', {}, 'login.missing-token-401'],
    ['an unknown one', { authorization: `Bearer psn_${'a'.repeat(43)}` }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['of another scheme', { authorization: 'Basic YTpi' }],
    ['without a scheme', { authorization: 'psn_abc' }],
    ['an unknown cookie', { cookie: `baton_session=psn_${'a'.repeat(43)}` }],
    ['of no kind we know', { authorization: 'Bearer ghp_something' }],
  ]
  for (const [what, headers, ...ids] of refused) {
    test(
      `${what} answers 401 with a challenge`,
      verifies('login.401-www-authenticate-bearer', ...ids),
      async ({ app }) => {
        const response = await app.anonymous.get('/auth/me', { headers })
        expect(response).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED', details: {} } })
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="\w+"/)
      },
    )
  }

  test('is not the id of anything', verifies('http.id-is-never-a-secret'), async ({ app }) => {
    const { owner, id } = await app.workspace()
    for (const token of [id, owner.user.id, `psn_${owner.user.id}`]) {
      const response = await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })
      expect(response).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    }
  })

  test(
    'is valid for 30 days after its last use',
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
    (await app.anonymous.post('/auth/sign-up', newcomer())).headers.get('set-cookie') ?? ''

  test('is HttpOnly and SameSite=Lax', verifies('login.cookie-httponly-lax'), async ({ app }) => {
    const cookie = await cookieOf(app)
    expect(cookie).toMatch(/^baton_session=psn_[\w-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
  })

  test('is renewed together with the login', verifies('login.token-lifetime'), async ({ app }) => {
    const { token } = await app.person()
    const browser = app.anonymous.with({ cookie: `baton_session=${token}` })
    expect((await browser.get('/auth/me')).headers.get('set-cookie')).toBeNull()
    app.clock.advance({ days: 29 })
    const renewed = (await browser.get('/auth/me')).headers.get('set-cookie')
    expect(renewed).toContain(`baton_session=${token}; Path=/; Max-Age=2592000`)
    app.clock.advance({ days: 29 })
    const bearer = app.anonymous.with({ authorization: `Bearer ${token}` })
    expect((await bearer.get('/auth/me')).headers.get('set-cookie')).toBeNull()
  })

  test('is Secure where the service is https', verifies('login.cookie-secure-on-https'), async ({ startApp }) => {
    const app = await startApp({ BATON_ROOT_URL: 'https://baton.example', BATON_SIGNUP: 'open' })
    expect(await cookieOf(app)).toMatch(/; Secure$/)
  })

  const foreign: [what: string, headers: Record<string, string>, ...ids: RequirementId[]][] = [
    ['nothing', {}, 'login.csrf-no-origin-refused'],
    ['another origin', { origin: 'https://evil.example' }, 'login.csrf-foreign-origin-refused'],
    ['another port', { origin: 'http://localhost:3001' }, 'login.csrf-foreign-origin-refused'],
    ['another scheme', { origin: 'https://127.0.0.1:3000' }, 'login.csrf-foreign-origin-refused'],
    ['our port elsewhere', { origin: 'http://evil.example:3000' }, 'login.csrf-foreign-origin-refused'],
    ['no origin', { origin: 'null' }, 'login.csrf-foreign-origin-refused'],
    [
      'another origin that lies',
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      'login.csrf-foreign-origin-refused',
    ],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }, 'login.csrf-cross-site-fetch-refused'],
    ['a same-site fetch', { 'sec-fetch-site': 'same-site' }, 'login.csrf-cross-site-fetch-refused'],
  ]
  for (const [what, headers, ...ids] of foreign) {
    test(`refuses a write with ${what}`, verifies(...ids), async ({ app }) => {
      const { token } = await app.person()
      const browser = app.anonymous.with({ cookie: `baton_session=${token}`, ...headers })
      const response = await app.unchanged(() => browser.post('/workspaces', { name: 'Forged' }))
      expect(response).toMatchObject({ status: 403, body: { code: 'CSRF_REFUSED' } })
      const { rootUrl } = app.ctx.config
      expect(response.body.message).toMatch(`This instance expects its pages at ${rootUrl}.`)
      expect(response.body.message).toMatch('the operator sets BATON_ROOT_URL')
    })
  }

  test('refuses sign-up and sign-in by a page of another origin, before an account is half-way usable', async ({
    app,
  }) => {
    const { user } = await app.person()
    const page = app.anonymous.with({ origin: 'http://192.168.1.5:3000' })
    const newcomer = { email: 'newcomer@example.com', password: 'a password', name: 'New' }
    for (const [path, body] of [
      ['/auth/sign-up', newcomer],
      ['/auth/sign-in', { email: user.email, password: newcomer.password }],
    ] as const) {
      const response = await app.unchanged(() => page.post(path, body))
      expect(response).toMatchObject({ status: 403, body: { code: 'CSRF_REFUSED' } })
      expect(response.body.message).toContain(app.ctx.config.rootUrl)
      expect(response.headers.get('set-cookie')).toBeNull()
    }
    const { rootUrl } = app.ctx.config
    const own = app.anonymous.with({ origin: rootUrl.replace('localhost', '127.0.0.1') })
    expect((await own.post('/auth/sign-up', newcomer)).status).toBe(201)
  })

  test(
    'accepts writes from our own origin, and any read',
    verifies(
      'login.csrf-same-origin-accepted',
      'login.csrf-sec-fetch-site-accepted',
      'login.csrf-read-exempt',
      'login.csrf-bearer-exempt',
    ),
    async ({ app }) => {
      const { token } = await app.person()
      const browser = app.anonymous.with({ cookie: `baton_session=${token}` })
      const { rootUrl } = app.ctx.config
      for (const origin of [
        rootUrl,
        rootUrl.replace('localhost', '127.0.0.1'),
        rootUrl.replace('localhost', '[::1]'),
      ]) {
        expect((await browser.post('/workspaces', { name: 'One' }, { headers: { origin } })).status).toBe(201)
      }
      const sameOrigin = { 'sec-fetch-site': 'same-origin' }
      expect((await browser.post('/workspaces', { name: 'Two' }, { headers: sameOrigin })).status).toBe(201)
      expect((await browser.get('/auth/me')).status).toBe(200)
      expect((await browser.get('/auth/me', { headers: { origin: 'https://evil.example' } })).status).toBe(200)
      const bearer = app.anonymous.with({ authorization: `Bearer ${token}` })
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
