import * as jose from 'jose'
import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { test, verifies } from '../../test/harness.ts'
import { type Behaviour, ssoSettings, type TestIssuer } from '../../test/issuer.ts'
import { expectRefusal, SsoBrowser, ssoScene, startIssuer } from '../../test/sso.ts'
import { sql } from '../db/sql.ts'

const expired = '/sign-in?problem=sso_expired'
const failed = '/sign-in?problem=sso_failed'

test('signs in with code, PKCE, state and nonce', verifies('sso.signs-in-real-provider'), async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp)
  const visitor = browser()
  const { status, redirectTo, headers } = await visitor.begin({ next: '/inbox?unread=true#top' })
  expect(status).toBe(200)
  expect(headers.get('set-cookie')).toMatch(/^baton_sso=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
  const asked = new URL(redirectTo)
  expect(asked.origin + asked.pathname).toBe(`${issuer.url}/authorize`)
  expect(Object.fromEntries(asked.searchParams)).toEqual({
    client_id: 'baton',
    response_type: 'code',
    redirect_uri: `${app.ctx.config.rootUrl}/sso/callback/company`,
    scope: 'openid profile email',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
  const person = issuer.person({ name: 'Ada Lovelace' })
  const { status: end, location, token } = await visitor.finish(issuer.authorize(redirectTo, person))
  expect({ end, location }).toEqual({ end: 303, location: '/inbox?unread=true#top' })
  const me = await app.anonymous.get('/auth/me', { headers: { cookie: `baton_session=${token}` } })
  expect(me.body.user).toMatchObject({ display_name: 'Ada Lovelace', email: person.email })
})

test('an attempt works once', verifies('sso.attempt-single-use'), async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp)
  const visitor = browser()
  const { redirectTo } = await visitor.begin()
  const parameters = issuer.authorize(redirectTo, issuer.person())
  expect((await visitor.finish(parameters)).token).toBeDefined()
  const before = issuer.requests.length
  await expectRefusal(app, expired, () => visitor.finish(parameters))
  expect(issuer.requests).toHaveLength(before)
})

test('an attempt expires after 10 minutes', verifies('sso.attempt-expires'), async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp)
  for (const [seconds, works] of [
    [599, true],
    [600, false],
  ] as const) {
    const visitor = browser()
    const { redirectTo } = await visitor.begin()
    app.clock.advance({ seconds })
    const parameters = issuer.authorize(redirectTo, issuer.person())
    if (works) expect((await visitor.finish(parameters)).token).toBeDefined()
    else await expectRefusal(app, expired, () => visitor.finish(parameters))
  }
})

test('an attempt belongs to one browser', verifies('sso.attempt-bound-to-browser'), async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp)
  const [victim, attacker, other] = [browser(), browser(), browser()]
  const { redirectTo } = await attacker.begin()
  const parameters = issuer.authorize(redirectTo, issuer.person())
  await expectRefusal(app, expired, () => victim.finish(parameters))
  await other.begin()
  await expectRefusal(app, expired, () => other.finish(parameters))
  expect((await attacker.finish(parameters)).token).toBeDefined()
})

test('two tabs of one browser can sign in', async ({ startApp }) => {
  const { issuer, browser } = await ssoScene(startApp)
  const visitor = browser()
  const [first, second] = [await visitor.begin(), await visitor.begin()]
  const person = issuer.person()
  expect((await visitor.finish(issuer.authorize(first.redirectTo, person))).token).toBeDefined()
  expect((await visitor.finish(issuer.authorize(second.redirectTo, person))).token).toBeDefined()
})

test(
  'refuses the code of one provider at the callback of another',
  verifies('sso.mix-up-provider'),
  async ({ startApp }) => {
    const [a, b] = [await startIssuer(), await startIssuer()]
    const app = await startApp(ssoSettings({ issuer: a, sign_up: 'yes' }, { issuer: b, sign_up: 'yes' }))
    for (const issuer of [a, b]) issuer.now = () => app.clock.now()
    const visitor = new SsoBrowser(app)
    const { redirectTo } = await visitor.begin({}, 'company')
    const parameters = a.authorize(redirectTo, a.person())
    await expectRefusal(app, failed, () => visitor.finish(parameters, 'company-2'))
    expect([...a.requests, ...b.requests].filter((path) => path === '/token')).toEqual([])
  },
)

test('checks the issuer of the response', verifies('sso.response-iss-checked'), async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp)
  issuer.behaviour = { metadata: { authorization_response_iss_parameter_supported: true } }
  const attempt = async (change: (parameters: URLSearchParams) => void) => {
    const visitor = browser()
    const { redirectTo } = await visitor.begin()
    const parameters = issuer.authorize(redirectTo, issuer.person())
    change(parameters)
    return visitor.finish(parameters)
  }
  await expectRefusal(app, failed, () => attempt((parameters) => parameters.delete('iss')))
  await expectRefusal(app, failed, () => attempt((parameters) => parameters.set('iss', 'https://evil.example')))
  expect(issuer.requests).not.toContain('/token')
  expect((await attempt(() => {})).token).toBeDefined()
})

describe('refuses an ID token', () => {
  const seconds = (issuer: TestIssuer) => Math.floor(issuer.now().getTime() / 1000)
  const cases: [what: string, behaviour: Behaviour, ...ids: RequirementId[]][] = [
    ['with another nonce', { claims: { nonce: 'another' } }, 'sso.wrong-nonce'],
    ['without a nonce', { claims: { nonce: undefined } }, 'sso.wrong-nonce'],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }, 'sso.wrong-issuer-or-audience'],
    ['for another audience', { claims: { aud: 'another' } }, 'sso.wrong-issuer-or-audience'],
    ['for several audiences', { claims: { aud: ['baton', 'another'] } }, 'sso.wrong-issuer-or-audience'],
    ['issued to another client', { claims: { azp: 'another' } }, 'sso.wrong-issuer-or-audience'],
    [
      'that has expired',
      { idToken: (claims, issuer) => issuer.sign({ ...claims, exp: seconds(issuer) - 31 }) },
      'sso.wrong-issuer-or-audience',
    ],
    ['without a signature', { idToken: (claims, issuer) => issuer.unsigned(claims) }, 'sso.alg-none-refused'],
    [
      'without a signature, from an issuer that announces it',
      {
        metadata: { id_token_signing_alg_values_supported: ['ES256', 'none'] },
        idToken: (claims, issuer) => issuer.unsigned(claims),
      },
      'sso.alg-none-refused',
    ],
    [
      'signed with another key',
      {
        idToken: async (claims, issuer) =>
          issuer.sign(claims, { key: (await jose.generateKeyPair('ES256')).privateKey }),
      },
      'sso.wrong-key-refused',
    ],
    [
      'signed with the client secret',
      {
        metadata: { id_token_signing_alg_values_supported: ['ES256', 'HS256'] },
        idToken: (claims, issuer) =>
          issuer.sign(claims, { key: new TextEncoder().encode(issuer.clientSecret) as never, alg: 'HS256' }),
      },
      'sso.wrong-key-refused',
    ],
    ['without a subject', { claims: { sub: undefined } }],
    ['with a subject of 256 characters', { claims: { sub: 's'.repeat(256) } }],
  ]
  for (const [what, behaviour, ...ids] of cases) {
    test(what, verifies(...ids), async ({ startApp }) => {
      const { app, issuer, browser } = await ssoScene(startApp)
      issuer.behaviour = behaviour
      await expectRefusal(app, failed, () => browser().signIn(issuer, issuer.person()))
      expect(issuer.requests).toContain('/token')
    })
  }
})

test('refuses a code that was redeemed', verifies('sso.code-reused'), async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp)
  const visitor = browser()
  const first = issuer.authorize((await visitor.begin()).redirectTo, issuer.person())
  expect((await visitor.finish(first)).token).toBeDefined()
  const { redirectTo } = await visitor.begin()
  const again = new URLSearchParams({ ...Object.fromEntries(first), state: stateOf(redirectTo) })
  await expectRefusal(app, failed, () => visitor.finish(again))
})

const stateOf = (redirectTo: string) => new URL(redirectTo).searchParams.get('state') ?? ''

test(
  'reads UserInfo for a missing e-mail, of the same subject only',
  verifies('sso.userinfo-subject-match'),
  async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const person = issuer.person()
    const { email, email_verified, sub } = person
    issuer.behaviour = {
      claims: { email: undefined, email_verified: undefined },
      userInfo: { sub: 'another', email, email_verified },
    }
    await expectRefusal(app, failed, () => browser().signIn(issuer, person))
    issuer.behaviour.userInfo = { sub, email, email_verified }
    const { token } = await browser().signIn(issuer, person)
    const me = await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })
    expect(me.body.user.email).toBe(email)
    issuer.behaviour = {}
    issuer.requests.length = 0
    await browser().signIn(issuer, issuer.person())
    expect(issuer.requests).not.toContain('/userinfo')
  },
)

describe('an issuer that misbehaves', () => {
  const endpoints = ['openid-configuration', '/token', '/jwks'] as const
  for (const endpoint of endpoints) {
    test(`is not waited for at ${endpoint}`, verifies('sso.issuer-bounded'), async ({ startApp }) => {
      const { app, issuer, browser } = await ssoScene(startApp)
      let reached = () => {}
      const asked = new Promise<void>((resolve) => {
        reached = resolve
      })
      issuer.behaviour = { answers: { [endpoint]: () => reached() } }
      const visitor = browser()
      const late = async () => {
        await asked
        app.clock.advance({ seconds: 5 })
      }
      if (endpoint === 'openid-configuration') {
        const [{ status, body }] = await Promise.all([visitor.begin(), late()])
        expect({ status, code: body.code }).toEqual({ status: 503, code: 'NOT_READY' })
      } else {
        await expectRefusal(
          app,
          failed,
          async () => (await Promise.all([visitor.signIn(issuer, issuer.person()), late()]))[0],
        )
      }
    })

    test(`is not read beyond 1 MB at ${endpoint}`, verifies('sso.issuer-bounded'), async ({ startApp }) => {
      const { app, issuer, browser } = await ssoScene(startApp)
      const answers: Behaviour['answers'] = {
        [endpoint]: (_, response) =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ padding: 'x'.repeat(1024 * 1024) })),
      }
      issuer.behaviour = { answers }
      if (endpoint === 'openid-configuration') expect((await browser().begin()).status).toBe(503)
      else await expectRefusal(app, failed, () => browser().signIn(issuer, issuer.person()))
    })

    test(`is not followed from ${endpoint}`, verifies('sso.issuer-bounded'), async ({ startApp }) => {
      const { app, issuer, browser } = await ssoScene(startApp)
      const other = await startIssuer()
      issuer.behaviour = {
        answers: {
          [endpoint]: (request, response) => response.writeHead(302, { location: `${other.url}${request.url}` }).end(),
        },
      }
      if (endpoint === 'openid-configuration') expect((await browser().begin()).status).toBe(503)
      else await expectRefusal(app, failed, () => browser().signIn(issuer, issuer.person()))
      expect(other.requests).toEqual([])
    })
  }

  test('cannot send the browser to a script', verifies('sso.issuer-bounded'), async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    issuer.behaviour = { metadata: { authorization_endpoint: 'javascript:alert(1)' } }
    expect((await app.unchanged(() => browser().begin())).status).toBe(503)
  })
})

test('reads metadata once an hour, and keys with it', async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp)
  const reads = () => issuer.requests.filter((path) => path.includes('openid-configuration')).length
  const person = issuer.person()
  await browser().signIn(issuer, person)
  await browser().signIn(issuer, person)
  app.clock.advance({ minutes: 59 })
  await browser().signIn(issuer, person)
  expect(reads()).toBe(1)
  app.clock.advance({ minutes: 1 })
  await browser().signIn(issuer, person)
  expect(reads()).toBe(2)
})

test('fetches no picture', verifies('sso.picture-not-fetched'), async ({ startApp, receiver }) => {
  const { issuer, browser } = await ssoScene(startApp)
  issuer.behaviour = { claims: { picture: receiver.url } }
  const { token } = await browser().signIn(issuer, issuer.person())
  expect(token).toBeDefined()
  expect(receiver.received).toEqual([])
})

test('returns to a path of this instance only', verifies('sso.next-stays-here'), async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp)
  const person = issuer.person()
  for (const next of [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '\\/evil.example',
    '/.//evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    'inbox',
    '',
  ]) {
    const { location, origin, token } = await browser().signIn(issuer, person, { next })
    expect(token).toBeDefined()
    expect({ next, origin, location }).toEqual({ next, origin: app.ctx.config.rootUrl, location: '/' })
  }
  expect((await browser().signIn(issuer, person, { next: '/projects?x=1#y' })).location).toBe('/projects?x=1#y')
})

test('says that the person refused', async ({ startApp }) => {
  const { app, browser } = await ssoScene(startApp)
  const visitor = browser()
  const { redirectTo } = await visitor.begin()
  const answer = new URLSearchParams({ error: 'access_denied', state: stateOf(redirectTo) })
  await expectRefusal(app, '/sign-in?problem=sso_denied', () => visitor.finish(answer))
})

test('starts are limited for each network, and refused to other origins', async ({ startApp }) => {
  const { app, browser } = await ssoScene(startApp)
  const elsewhere = { headers: { origin: 'https://evil.example' } }
  const refused = await app.unchanged(() => app.anonymous.post('/auth/sso/company', {}, elsewhere))
  expect(refused).toMatchObject({ status: 403, body: { code: 'CSRF_REFUSED' } })
  expect((await app.unchanged(() => app.anonymous.post('/auth/sso/unknown', {}))).status).toBe(404)
  for (let i = 0; i < 60; i++) expect((await browser().begin()).status).toBe(200)
  expect(await app.unchanged(() => browser().begin())).toMatchObject({ status: 429 })
})

test('stores no secret of an attempt in clear text', async ({ startApp }) => {
  const { app, browser } = await ssoScene(startApp)
  const visitor = browser()
  const { redirectTo } = await visitor.begin({ next: '/invitations/accept#token=a-secret' })
  const row = JSON.stringify(await app.ctx.db.rows(sql`select * from sso_attempts`))
  for (const secret of [stateOf(redirectTo), visitor.cookies.get('baton_sso') as string, 'a-secret']) {
    expect(row).not.toContain(secret)
  }
})

test(
  'starts and serves passwords while an issuer is unreachable',
  verifies('sso.start-without-issuer'),
  async ({ startApp }) => {
    const app = await startApp(ssoSettings({ issuer: 'http://localhost:9' }))
    const person = await app.person()
    const signedIn = await app.anonymous.post('/auth/sign-in', { email: person.user.email, password: person.password })
    expect(signedIn.status).toBe(200)
    const started = await app.unchanged(() => app.anonymous.post('/auth/sso/company', {}))
    expect(started).toMatchObject({ status: 503, body: { code: 'NOT_READY' } })
    expect((await app.anonymous.get('/instance')).body.sso).toEqual({
      only: false,
      providers: [{ id: 'company', name: 'Company', sign_out_url: null }],
    })
  },
)
