import * as jose from 'jose'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import type { TestIssuer } from '../../test/issuer.ts'
import { SsoBrowser, ssoScene } from '../../test/sso.ts'

const isIn = async (app: TestApp, token: string | undefined) =>
  (await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })).status === 200

test('an SSO login ends after login_hours, also in use', verifies('sso.login-hours'), async ({ startApp }) => {
  const { app, issuer, browser } = await ssoScene(startApp, { allowed_domains: ['example.com'], login_hours: 2 })
  const { token } = await browser().signIn(issuer, issuer.person())
  app.clock.advance({ minutes: 119, seconds: 59 })
  expect(await isIn(app, token)).toBe(true)
  app.clock.advance({ seconds: 1 })
  expect(await isIn(app, token)).toBe(false)
})

/** Sends a message of the provider as a form. */
const send = (app: TestApp, token: string | null) =>
  app.anonymous.postRoot('/sso/back-channel/company', undefined, {
    raw: token === null ? '' : `logout_token=${encodeURIComponent(token)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

test('the provider ends logins by sid or by subject', verifies('sso.back-channel-logout'), async ({ startApp }) => {
  const { app, issuer } = await ssoScene(startApp)
  const [ada, bob] = [issuer.person(), issuer.person()]
  const signIn = async (person: typeof ada, sid: string) => {
    issuer.behaviour = { claims: { sid } }
    return (await new SsoBrowser(app).signIn(issuer, person)).token
  }
  const logins = [await signIn(ada, 'laptop'), await signIn(ada, 'phone'), await signIn(bob, 'other')]
  const alive = () => Promise.all(logins.map((token) => isIn(app, token)))
  const bySid = await send(app, await issuer.sign(issuer.logoutClaims({ sub: ada.sub, sid: 'laptop' })))
  expect(bySid).toMatchObject({ status: 200, body: {} })
  expect(bySid.headers.get('cache-control')).toBe('no-store')
  expect(await alive()).toEqual([false, true, true])
  expect((await send(app, await issuer.sign(issuer.logoutClaims({ sub: ada.sub })))).status).toBe(200)
  expect(await alive()).toEqual([false, false, true])
})

describe('refuses a logout token', () => {
  const ago = (issuer: TestIssuer, seconds: number) => Math.floor(issuer.now().getTime() / 1000) - seconds
  const cases: [what: string, token: (issuer: TestIssuer, sub: string) => Promise<string> | string | null][] = [
    ['that is missing', () => null],
    ['that is no token', () => 'hello'],
    ['without a signature', (issuer, sub) => issuer.unsigned(issuer.logoutClaims({ sub }))],
    [
      'signed with another key',
      async (issuer, sub) =>
        issuer.sign(issuer.logoutClaims({ sub }), { key: (await jose.generateKeyPair('ES256')).privateKey }),
    ],
    [
      'signed with the client secret',
      (issuer, sub) =>
        issuer.sign(issuer.logoutClaims({ sub }), {
          key: new TextEncoder().encode(issuer.clientSecret) as never,
          alg: 'HS256',
        }),
    ],
    ['of another issuer', (issuer, sub) => issuer.sign(issuer.logoutClaims({ sub, iss: 'https://evil.example' }))],
    ['for another audience', (issuer, sub) => issuer.sign(issuer.logoutClaims({ sub, aud: 'another' }))],
    [
      'older than 5 minutes',
      (issuer, sub) => issuer.sign(issuer.logoutClaims({ sub, iat: ago(issuer, 301), exp: undefined })),
    ],
    ['without iat', (issuer, sub) => issuer.sign(issuer.logoutClaims({ sub, iat: undefined }))],
    ['with a nonce', (issuer, sub) => issuer.sign(issuer.logoutClaims({ sub, nonce: 'x' }))],
    ['without events', (issuer, sub) => issuer.sign(issuer.logoutClaims({ sub, events: undefined }))],
    ['with another event', (issuer, sub) => issuer.sign(issuer.logoutClaims({ sub, events: { other: {} } }))],
    ['without jti', (issuer, sub) => issuer.sign(issuer.logoutClaims({ sub, jti: undefined }))],
    ['without sub and sid', (issuer) => issuer.sign(issuer.logoutClaims())],
  ]
  for (const [what, token] of cases) {
    test(what, verifies('sso.back-channel-hostile'), async ({ startApp }) => {
      const { app, issuer, browser } = await ssoScene(startApp)
      const person = issuer.person()
      const login = (await browser().signIn(issuer, person)).token
      const sent = await token(issuer, person.sub)
      const response = await app.unchanged(() => send(app, sent))
      expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
      expect(await isIn(app, login)).toBe(true)
    })
  }

  test('that was used before', verifies('sso.back-channel-hostile'), async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const person = issuer.person()
    await browser().signIn(issuer, person)
    // At the limit of its age, it works once.
    const token = await issuer.sign(issuer.logoutClaims({ sub: person.sub, iat: ago(issuer, 300) }))
    expect((await send(app, token)).status).toBe(200)
    const login = (await browser().signIn(issuer, person)).token
    expect((await app.unchanged(() => send(app, token))).status).toBe(400)
    expect(await isIn(app, login)).toBe(true)
  })

  test('of an unknown provider, with 404', async ({ startApp }) => {
    const { app } = await ssoScene(startApp)
    const response = await app.unchanged(() =>
      app.anonymous.postRoot('/sso/back-channel/unknown', undefined, {
        raw: 'logout_token=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    )
    expect(response.status).toBe(404)
  })
})
