import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import {
  asApp,
  authorize,
  consent,
  exchange,
  pkce,
  redirectUri,
  type Scene,
  oauthScene as scene,
  secretOf,
  token,
} from '../../test/oauth.ts'
import { sweep } from '../housekeeping.ts'

const revoke = (app: TestApp, form: Record<string, string>, headers: Record<string, string> = {}) =>
  app.anonymous.post('/oauth/revoke', undefined, {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

const refresh = (app: TestApp, at: Scene, refreshToken: string) =>
  token(app, { grant_type: 'refresh_token', refresh_token: refreshToken, ...secretOf(at) })

async function installed(app: TestApp, scopes?: string[]) {
  const at = await scene(app, scopes)
  const granted = await consent(at.owner, at.client.client_id, { all_teams: true })
  return { ...at, tokens: (await exchange(app, at, granted)).body }
}

describe('a code', () => {
  test(
    'is exchanged for tokens that act as the app',
    verifies(
      'oauth.token-post-auth',
      'oauth.token-basic-auth',
      'oauth.token-response-shape',
      'oauth.access-token-prefix',
      'oauth.refresh-token-prefix',
      'oauth.token-no-store',
    ),
    async ({ app }) => {
      for (const basic of [false, true]) {
        const at = await scene(app)
        const granted = await consent(at.owner, at.client.client_id, { all_teams: true })
        const form = {
          grant_type: 'authorization_code',
          code: granted.code,
          redirect_uri: redirectUri,
          code_verifier: granted.verifier,
          surprise: 'ignored',
        }
        const { client_id, client_secret } = secretOf(at)
        const credentials = Buffer.from(`${client_id}:${client_secret}`).toString('base64')
        const answer = basic
          ? await token(app, form, { authorization: `Basic ${credentials}` })
          : await token(app, { ...form, ...secretOf(at) })
        expect(answer.status).toBe(200)
        expect(answer.headers.get('cache-control')).toBe('no-store')
        const [installation] = (await at.owner.get('/installations')).body.data
        expect(answer.body).toEqual({
          access_token: expect.stringMatching(/^svc_at_[\w-]{43}$/),
          token_type: 'Bearer',
          expires_in: 3600,
          refresh_token: expect.stringMatching(/^prt_[\w-]{43}$/),
          scope: 'read write',
          actor: 'app',
          installation_id: installation.id,
          app_user_id: installation.app_user_id,
          workspace_id: at.id,
        })
      }
    },
  )

  test(
    'works once; a replay ends the grant and its tokens',
    verifies('oauth.code-single-use', 'oauth.code-replay-ends-grant'),
    async ({ app }) => {
      const at = await scene(app)
      const granted = await consent(at.owner, at.client.client_id, { all_teams: true })
      const first = await exchange(app, at, granted)
      expect(first.status).toBe(200)
      expect(await exchange(app, at, granted)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
      expect(await refresh(app, at, first.body.refresh_token)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
      const stolen = () => asApp(app, at.id, first.body.access_token).get('/workspaces/me')
      expect(await stolen()).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      await at.owner.delete(`/installations/${first.body.installation_id}`)
      expect(await stolen()).toMatchObject({ status: 401, body: { code: 'INSTALLATION_REVOKED' } })
    },
  )

  test('expires after 60 seconds', verifies('oauth.code-expires'), async ({ app }) => {
    const at = await scene(app)
    const grant = () => consent(at.owner, at.client.client_id, { all_teams: true })
    const late = await grant()
    app.clock.advance({ seconds: 60 })
    expect(await exchange(app, at, late)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const inTime = await grant()
    app.clock.advance({ seconds: 60, milliseconds: -1 })
    expect((await exchange(app, at, inTime)).status).toBe(200)
  })

  test(
    'is bound to client, redirect URI and verifier',
    verifies('oauth.code-bound-to-client', 'oauth.code-bound-to-redirect-uri', 'oauth.code-bound-to-challenge'),
    async ({ app }) => {
      const at = await scene(app)
      const other = await scene(app)
      const grant = () => consent(at.owner, at.client.client_id, { all_teams: true })
      const invalid = { status: 400, body: { error: 'invalid_grant' } }
      const stolen = await grant()
      expect(await exchange(app, at, stolen, secretOf(other))).toMatchObject(invalid)
      // An attempt by another client does not use up the code.
      expect((await exchange(app, at, stolen)).status).toBe(200)
      expect(await exchange(app, at, await grant(), { redirect_uri: `${redirectUri}?tenant=1` })).toMatchObject(invalid)
      expect(await exchange(app, at, { ...(await grant()), verifier: pkce().verifier })).toMatchObject(invalid)
      const { code } = await grant()
      const bare = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...secretOf(at) }
      expect((await token(app, bare)).status).toBe(400)
    },
  )

  test('works for exactly one of several concurrent requests', async ({ app }) => {
    const at = await scene(app)
    const granted = await consent(at.owner, at.client.client_id, { all_teams: true })
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(app, at, granted)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
  })
})

describe('the token endpoint refuses', () => {
  test(
    'unknown clients and wrong secrets',
    verifies('oauth.token-wrong-secret', 'oauth.token-without-client-authentication', 'oauth.token-error-shape'),
    async ({ app }) => {
      const at = await scene(app)
      const { client_id, client_secret } = secretOf(at)
      const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
      const form = { grant_type: 'refresh_token', refresh_token: 'prt_x' }
      const ways: [Record<string, string>, Record<string, string>][] = [
        [{ ...form, client_id, client_secret: 'svc_sk_wrong' }, {}],
        [{ ...form, client_id }, {}],
        [form, {}],
        [{ ...form, client_id: 'cli_nobody', client_secret }, {}],
        [form, basic(`${client_id}:wrong`)],
        [form, basic(`${client_id}:`)],
        [form, basic('nonsense')],
        [form, { authorization: 'Bearer x' }],
      ]
      for (const [fields, headers] of ways) {
        const refused = await token(app, fields, headers)
        expect(refused).toMatchObject({
          status: 401,
          body: { error: 'invalid_client', error_description: expect.any(String) },
        })
        expect(refused.headers.get('www-authenticate')).toMatch(/^Basic/)
        expect(refused.headers.get('cache-control')).toBe('no-store')
      }
    },
  )

  test(
    'malformed requests and unknown grant types',
    verifies('oauth.token-unsupported-grant-type', 'oauth.token-error-shape'),
    async ({ app }) => {
      const at = await scene(app)
      for (const [fields, error] of [
        [{ grant_type: 'password' }, 'unsupported_grant_type'],
        [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
        [{}, 'invalid_request'],
        [{ grant_type: 'refresh_token' }, 'invalid_request'],
        [{ grant_type: 'authorization_code', code: 'x' }, 'invalid_request'],
      ] as [Record<string, string>, string][]) {
        expect(await token(app, { ...fields, ...secretOf(at) })).toMatchObject({ status: 400, body: { error } })
      }
      const twice = `grant_type=refresh_token&grant_type=password&${new URLSearchParams(secretOf(at))}`
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const invalid = { status: 400, body: { error: 'invalid_request' } }
      expect(await app.anonymous.post('/oauth/token', undefined, { raw: twice, headers: form })).toMatchObject(invalid)
      expect(await app.anonymous.post('/oauth/token', { grant_type: 'refresh_token' })).toMatchObject(invalid)
      expect(await app.anonymous.post('/oauth/token')).toMatchObject(invalid)
    },
  )
})

describe('a refresh', () => {
  test(
    'returns new tokens and ends the old refresh token',
    verifies('oauth.refresh-rotates', 'oauth.refresh-old-token-refused', 'oauth.refresh-early-replay-keeps-grant'),
    async ({ app }) => {
      const { tokens, ...at } = await installed(app)
      const second = await refresh(app, at, tokens.refresh_token)
      expect(second).toMatchObject({
        status: 200,
        body: { installation_id: tokens.installation_id, scope: 'read write' },
      })
      expect(second.body.access_token).not.toBe(tokens.access_token)
      expect(second.body.refresh_token).not.toBe(tokens.refresh_token)
      app.clock.advance({ seconds: 60 })
      expect(await refresh(app, at, tokens.refresh_token)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
      expect((await refresh(app, at, second.body.refresh_token)).status).toBe(200)
    },
  )

  test(
    'with a rotated token more than 60 seconds later ends the grant',
    verifies('oauth.refresh-late-replay-ends-grant'),
    async ({ app }) => {
      const { tokens, ...at } = await installed(app)
      const { body: second } = await refresh(app, at, tokens.refresh_token)
      app.clock.advance({ seconds: 60, milliseconds: 1 })
      for (const old of [tokens, second]) {
        expect(await refresh(app, at, old.refresh_token)).toMatchObject({
          status: 400,
          body: { error: 'invalid_grant' },
        })
      }
    },
  )

  test(
    'succeeds for exactly one of 50 concurrent requests',
    verifies('oauth.refresh-parallel-one-wins'),
    async ({ app }) => {
      const { tokens, ...at } = await installed(app)
      const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(app, at, tokens.refresh_token)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      for (const { status, body } of answers) {
        if (status !== 200) expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' })
      }
    },
  )

  test('by another client is refused', async ({ app }) => {
    const { tokens, ...at } = await installed(app)
    const other = await scene(app)
    expect(await refresh(app, other, tokens.refresh_token)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect((await refresh(app, at, tokens.refresh_token)).status).toBe(200)
  })

  test(
    'works for 90 days per token, and for one year per grant',
    verifies('oauth.refresh-token-lifetime', 'oauth.grant-lifetime'),
    async ({ startApp }) => {
      const app = await startApp()
      const { tokens, ...at } = await installed(app)
      app.clock.advance({ days: 90, milliseconds: -1 })
      let current = (await refresh(app, at, tokens.refresh_token)).body
      app.clock.advance({ days: 90 })
      await sweep(app.ctx)
      expect((await refresh(app, at, current.refresh_token)).status).toBe(400)

      const fresh = await installed(app)
      current = fresh.tokens
      for (let quarter = 0; quarter < 4; quarter++) {
        app.clock.advance({ days: 89 })
        const next = await refresh(app, fresh, current.refresh_token)
        expect(next.status).toBe(200)
        current = next.body
      }
      app.clock.advance({ days: 9, milliseconds: -1 })
      current = (await refresh(app, fresh, current.refresh_token)).body
      app.clock.advance({ milliseconds: 1 })
      expect(await refresh(app, fresh, current.refresh_token)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    },
  )
})

describe('a revocation', () => {
  test(
    'ends the grant and keeps access tokens until they expire',
    verifies(
      'oauth.revoke-ends-grant',
      'oauth.revoke-keeps-access-tokens',
      'oauth.revoke-client-by-basic',
      'oauth.revoke-client-by-form',
      'oauth.revoke-token-type-hint',
      'oauth.revoke-unknown-token',
      'oauth.revoke-wrong-secret',
    ),
    async ({ app }) => {
      for (const way of ['basic', 'form', 'client_id alone'] as const) {
        const { tokens, ...at } = await installed(app)
        const { client_id, client_secret } = secretOf(at)
        const credentials = Buffer.from(`${client_id}:${client_secret}`).toString('base64')
        const headers: Record<string, string> = way === 'basic' ? { authorization: `Basic ${credentials}` } : {}
        const own: Record<string, string> =
          way === 'basic' ? {} : way === 'form' ? { client_id, client_secret } : { client_id }
        for (const unknown of ['prt_nothing', tokens.access_token]) {
          expect(await revoke(app, { token: unknown, ...own }, headers)).toMatchObject({ status: 200, body: {} })
        }
        const wrong = { token: tokens.refresh_token, client_id, client_secret: 'wrong' }
        expect(await revoke(app, wrong)).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
        const second = (await refresh(app, at, tokens.refresh_token)).body
        expect(second.refresh_token).toMatch(/^prt_/)
        const hint = { token_type_hint: 'refresh_token', surprise: 'x' }
        const ended = await revoke(app, { token: second.refresh_token, ...hint, ...own }, headers)
        expect(ended).toMatchObject({ status: 200, body: {} })
        expect(await refresh(app, at, second.refresh_token)).toMatchObject({
          status: 400,
          body: { error: 'invalid_grant' },
        })
        expect((await asApp(app, at.id, second.access_token).get('/workspaces/me')).status).toBe(200)
        app.clock.advance({ hours: 1 })
        const expired = await asApp(app, at.id, second.access_token).get('/workspaces/me')
        expect(expired).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
        expect(expired.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/)
      }
    },
  )

  test('concurrent with a refresh leaves no working refresh token', async ({ app }) => {
    for (let round = 0; round < 5; round++) {
      const { tokens, ...at } = await installed(app)
      const form = { token: tokens.refresh_token, ...secretOf(at) }
      const [refreshed] = await Promise.all([refresh(app, at, tokens.refresh_token), revoke(app, form)])
      const last = refreshed.body.refresh_token ?? tokens.refresh_token
      expect((await refresh(app, at, last)).status).toBe(400)
    }
  })
})

test('refuses a token in the query', async ({ app }) => {
  const { tokens, id } = await installed(app)
  const bare = app.anonymous.with({ 'x-workspace-id': id })
  for (const path of ['/workspaces/me', '/issues', '/auth/me']) {
    const refused = await bare.get(`${path}?access_token=${tokens.access_token}`)
    expect(refused).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect(JSON.stringify(refused.body)).not.toContain(tokens.access_token)
  }
})

test(
  'an access token expires after one hour',
  verifies('oauth.access-token-expires', 'oauth.401-www-authenticate'),
  async ({ app }) => {
    const { tokens, id } = await installed(app)
    const client = asApp(app, id, tokens.access_token)
    app.clock.advance({ hours: 1, milliseconds: -1 })
    expect((await client.get('/workspaces/me')).status).toBe(200)
    app.clock.advance({ milliseconds: 1 })
    const expired = await client.get('/workspaces/me')
    expect(expired).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect(expired.headers.get('www-authenticate')).toContain('error=')
  },
)

test(
  'the old client secret is refused after rotation',
  verifies('app.rotate-client-secret', 'app.rotated-client-secret-stops'),
  async ({ app }) => {
    const { tokens, ...at } = await installed(app)
    const { body } = await at.owner.post(`/agent-apps/${at.client.app.id}/secret`)
    expect(await refresh(app, at, tokens.refresh_token)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
    const renewed = { ...at, client: { ...at.client, client_secret: body.client_secret } }
    expect((await refresh(app, renewed, tokens.refresh_token)).status).toBe(200)
  },
)

test('secrets, codes and tokens are not stored in clear', verifies('oauth.tokens-stored-hashed'), async ({ app }) => {
  const { tokens, client } = await installed(app)
  const stored = await app.everything()
  for (const secret of [tokens.access_token, tokens.refresh_token, client.client_secret, client.webhook_secret]) {
    expect(stored).not.toContain(secret)
  }
  expect(stored).not.toMatch(/svc_(at|sk|ac)_|prt_[\w-]{43}|pwhsec_/)
})

test(
  'unknown parameters are ignored, known ones must be sent once',
  verifies('oauth.unknown-parameters-ignored'),
  async ({ app }) => {
    const { tokens, ...at } = await installed(app)
    const post = (path: string, fields: [string, string][]) =>
      app.anonymous.post(path, undefined, {
        raw: new URLSearchParams([...Object.entries(secretOf(at)), ...fields]).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    const known: [string, string][] = [
      ['grant_type', 'refresh_token'],
      ['refresh_token', tokens.refresh_token],
    ]
    const twice = await app.unchanged(() => post('/oauth/token', [...known, ['grant_type', 'refresh_token']]))
    expect(twice).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    const unknown: [string, string][] = [
      ['resource', 'a'],
      ['resource', 'b'],
    ]
    const { status, body } = await post('/oauth/token?resource=c', [...known, ...unknown])
    expect(status).toBe(200)
    const revoked = await post('/oauth/revoke?resource=c', [['token', body.refresh_token], ...unknown])
    expect(revoked.status).toBe(200)
    expect((await refresh(app, at, body.refresh_token)).status).toBe(400)
    const program = { redirect_uris: ['http://127.0.0.1/cb'] }
    expect((await app.anonymous.post('/oauth/register?resource=c', program)).status).toBe(201)
  },
)

test('malformed credentials, redirect URIs and forms get the right error and store nothing', async ({ app }) => {
  const at = await scene(app)
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  for (const credentials of ['a\0b:c', '%00:c', '%E0%A4%A:c']) {
    for (const call of [token, revoke]) {
      const refused = await call(app, { grant_type: 'refresh_token', token: 'x' }, basic(credentials))
      expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    }
  }
  for (const uri of ['https://例え.jp/cb', 'https://e.com/é', 'http://127.0.0.1:99999/cb']) {
    const refused = await app.unchanged(() => app.anonymous.post('/oauth/register', { redirect_uris: [uri] }))
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } })
  }
  const { body: program } = await app.anonymous.post('/oauth/register', { redirect_uris: ['http://127.0.0.1/cb'] })
  const port = { redirect_uri: 'http://127.0.0.1:99999/cb', actor: undefined }
  expect((await app.unchanged(() => authorize(at.owner, program.client_id, port))).status).toBe(400)
  const form = { raw: 'title=a&title=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const other = await app.unchanged(() => at.owner.post('/issues', undefined, form))
  expect(other).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
})
