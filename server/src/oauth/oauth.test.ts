import * as foreign from 'oauth4webapi'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import {
  asApp,
  askConsent,
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
  app.nobody.post('/oauth/revoke', undefined, {
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

describe('authorize', () => {
  test.for<[string, Record<string, string | undefined>]>([
    ['no client', { client_id: undefined }],
    ['an unknown client', { client_id: 'cli_nobody' }],
    ['no redirect_uri', { redirect_uri: undefined }],
    ['another redirect_uri', { redirect_uri: 'https://evil.example.com/' }],
    ['a slash more', { redirect_uri: `${redirectUri}/` }],
    ['a query more', { redirect_uri: `${redirectUri}?x=1` }],
    ['a path more', { redirect_uri: `${redirectUri}/../evil` }],
    ['another port', { redirect_uri: 'https://robots.example.com:444/callback' }],
    ['another case', { redirect_uri: redirectUri.toUpperCase() }],
    ['a user', { redirect_uri: 'https://robots.example.com@evil.example.com/callback' }],
    [
      'a wrong redirect_uri and nothing else right',
      { redirect_uri: 'https://evil.example.com/', code_challenge: undefined, scope: 'admin' },
    ],
  ])(
    'shows a page and never redirects for %s',
    verifies(
      'oauth.unknown-client-is-400-page',
      'oauth.redirect-uri-mismatch-is-400-page',
      'oauth.redirect-uri-checked-before-rest',
    ),
    async ([, change], { app }) => {
      const { owner, client } = await scene(app)
      const refused = await app.unchanged(() => authorize(owner, client.client_id, change))
      expect(refused.status).toBe(400)
      expect(refused.headers.get('location')).toBeNull()
      expect(refused.body).toContain('cannot be completed')
    },
  )

  test.for<[string, string, Record<string, string | undefined>]>([
    ['response_type token', 'unsupported_response_type', { response_type: 'token' }],
    ['no response_type', 'unsupported_response_type', { response_type: undefined }],
    ['no challenge', 'invalid_request', { code_challenge: undefined }],
    ['a short challenge', 'invalid_request', { code_challenge: 'abc' }],
    ['the method plain', 'invalid_request', { code_challenge_method: 'plain' }],
    ['no method', 'invalid_request', { code_challenge_method: undefined }],
    ['no challenge and admin', 'invalid_request', { code_challenge: undefined, scope: 'admin' }],
    ['no actor and a scope outside', 'invalid_request', { actor: undefined, scope: 'write everything' }],
    ['no actor', 'invalid_request', { actor: undefined }],
    ['actor user', 'invalid_request', { actor: 'user' }],
    ['no actor and an app scope', 'invalid_scope', { actor: undefined, scope: 'app:assignable' }],
    ['admin', 'invalid_scope', { scope: 'read admin' }],
    ['a scope nobody knows', 'invalid_scope', { scope: 'read,everything' }],
  ])(
    'refuses %s by redirect with %s',
    verifies(
      'oauth.response-type-not-code-refused',
      'oauth.unsupported-response-type',
      'oauth.pkce-missing-is-invalid-request',
      'oauth.pkce-method-not-s256-is-invalid-request',
      'oauth.pkce-checked-before-scope',
      'oauth.actor-checked-before-scope',
      'oauth.actor-not-app-is-invalid-request',
      'oauth.app-scope-without-actor-app-is-invalid-scope',
      'oauth.admin-scope-is-invalid-scope',
      'oauth.refusal-parameters',
    ),
    async ([, error, change], { app }) => {
      const { owner, client } = await scene(app)
      const refused = await app.unchanged(() => authorize(owner, client.client_id, change))
      expect(refused.status).toBe(302)
      const url = new URL(refused.headers.get('location') ?? '')
      expect(url.origin + url.pathname).toBe(redirectUri)
      expect(Object.fromEntries(url.searchParams)).toEqual({
        error,
        error_description: expect.any(String),
        state: 'a state',
        iss: app.ctx.config.rootUrl,
      })
    },
  )

  test(
    'refuses a scope outside the manifest, and keeps a query of the redirect address',
    verifies('oauth.scope-outside-manifest-is-invalid-scope'),
    async ({ app }) => {
      const { owner, client } = await scene(app, ['read'])
      const { headers } = await authorize(owner, client.client_id, {
        scope: 'write',
        redirect_uri: `${redirectUri}?tenant=1`,
      })
      const { searchParams } = new URL(headers.get('location') ?? '')
      expect([searchParams.get('tenant'), searchParams.get('error')]).toEqual(['1', 'invalid_scope'])
    },
  )

  test(
    'leads to sign-in, or to consent, with scopes apart by spaces or commas and anything unknown ignored',
    verifies(
      'oauth.not-signed-in-goes-to-sign-in',
      'oauth.signed-in-goes-to-consent',
      'oauth.scope-separators',
      'oauth.unknown-parameters-ignored',
    ),
    async ({ app }) => {
      const { owner, client } = await scene(app)
      const nobody = await app.unchanged(() => authorize(app.nobody, client.client_id, { resource: 'x' }))
      expect(nobody.status).toBe(302)
      const signIn = new URL(nobody.headers.get('location') ?? '')
      expect(signIn.origin + signIn.pathname).toBe(`${app.ctx.config.appUrl}/sign-in`)
      const next = new URL(signIn.searchParams.get('next') ?? '')
      expect(next.searchParams.get('client_id')).toBe(client.client_id)
      expect(next.origin + next.pathname).toBe(`${app.ctx.config.baseUrl}/oauth/authorize`)
      for (const scope of ['read write', 'read,write', 'read, write']) {
        const { headers, status } = await authorize(owner, client.client_id, { scope, resource: 'x' })
        expect(status).toBe(302)
        const url = new URL(headers.get('location') ?? '')
        expect(url.origin + url.pathname).toBe(`${app.ctx.config.appUrl}/oauth/consent`)
        const { body } = await owner.get(`/oauth/requests/${url.searchParams.get('request')}`)
        expect(body.scopes).toEqual(['read', 'write'])
      }
    },
  )
})

describe('consent', () => {
  test(
    'shows what is asked for to the person who began it, and says whether they may',
    verifies('oauth.consent-request-shape', 'oauth.can-approve', 'oauth.request-bound-to-person'),
    async ({ app }) => {
      const { id: workspaceId, owner, admin, member, client, team } = await scene(app)
      const elsewhere = await app.workspace()
      for (const [person, mayApprove] of [
        [owner, true],
        [admin, true],
        [member, false],
      ] as const) {
        const id = await askConsent(person, client.client_id)
        expect((await person.get(`/oauth/requests/${id}`)).body).toEqual({
          id,
          app: {
            id: client.app.id,
            name: 'Robot',
            description: null,
            icon: `${app.ctx.config.baseUrl}/agent-apps/${client.app.id}/icon`,
          },
          client_name: 'Robot',
          developer: { name: 'Robots Inc', url: 'https://robots.example.com' },
          scopes: ['read', 'write'],
          teams: [{ id: team.id, key: 'ENG', name: 'Engineering' }],
          workspaces: [{ id: workspaceId, name: 'Acme' }],
          redirect_host: 'robots.example.com',
          webhook: null,
          installed: null,
          can_approve: mayApprove,
        })
        const others = [owner, admin, member, elsewhere.owner].filter((other) => other !== person)
        for (const other of others) {
          expect((await other.get(`/oauth/requests/${id}`)).status).toBe(404)
          const refused = await app.unchanged(() => other.post(`/oauth/requests/${id}/approve`, { all_teams: true }))
          expect(refused.status).toBe(404)
        }
      }
      const id = await askConsent(elsewhere.owner, client.client_id)
      expect((await elsewhere.owner.get(`/oauth/requests/${id}`)).body).toMatchObject({ teams: [], can_approve: false })
    },
  )

  test('shows what the app will be told of and where, and how it is installed already', async ({ app }) => {
    const { owner, member, client, team } = await scene(app)
    const manifest = (webhook: object, scopes = ['read', 'write']) => ({
      schemaVersion: '1.0.0',
      name: 'Robot',
      description: 'Mends what is broken.',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: [redirectUri], scopes },
      webhook,
    })
    const replace = (...parts: Parameters<typeof manifest>) =>
      owner.put(`/agent-apps/${client.app.id}`, manifest(...parts))
    const shown = async (person = owner) =>
      (await person.get(`/oauth/requests/${await askConsent(person, client.client_id, { scope: 'read' })}`)).body

    const webhook = { url: 'https://hooks.robots.example.com:8443/baton?key=1', resource_types: ['Issue'] }
    await replace(webhook)
    const told = {
      host: 'hooks.robots.example.com:8443',
      resource_types: ['Issue'],
      always: ['AgentSessionEvent', 'PermissionChange', 'OAuthApp'],
    }
    expect(await shown()).toMatchObject({
      app: { description: 'Mends what is broken.' },
      webhook: told,
      installed: null,
    })
    const elsewhere = await app.workspace()
    await consent(owner, client.client_id, { team_ids: [team.id] })
    const installed = { all_teams: false, team_ids: [team.id], scopes: ['read', 'write'] }
    expect(await shown()).toMatchObject({ webhook: told, installed })
    expect(await shown(member)).toMatchObject({ webhook: told, installed, can_approve: false })
    // Nobody else learns where it is installed, or where its events go.
    expect(await shown(elsewhere.owner)).toMatchObject({ webhook: null, installed: null, teams: [], workspaces: [] })

    await replace({ ...webhook, enabled: false }, ['read'])
    expect(await shown()).toMatchObject({ webhook: null, installed: { ...installed, scopes: ['read'] } })
    const { body } = await owner.get('/installations')
    await owner.delete(`/installations/${body.data[0].id}`)
    expect(await shown()).toMatchObject({ webhook: null, installed: null })
  })

  test(
    'is given by managers of the app’s workspace alone',
    verifies('oauth.approve-by-member-forbidden', 'installation.only-in-developer-workspace'),
    async ({ app }) => {
      const { owner, member, client } = await scene(app)
      const elsewhere = await app.workspace()
      for (const person of [member, elsewhere.owner]) {
        const id = await askConsent(person, client.client_id)
        const refused = await app.unchanged(() => person.post(`/oauth/requests/${id}/approve`, { all_teams: true }))
        expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
      expect((await owner.get('/installations')).body.data).toEqual([])
    },
  )

  test(
    'installs the app for the chosen teams and returns with a code and the state',
    verifies(
      'oauth.approve-all-teams',
      'oauth.approve-selected-teams',
      'oauth.approve-redirect-has-code-and-state',
      'installation.created-by-approval',
      'installation.fields',
      'installation.id-format',
      'installation.get-one',
      'installation.app-user-name-is-app-name',
    ),
    async ({ app }) => {
      for (const all of [true, false]) {
        const { id: workspaceId, owner, admin, member, client, team } = await scene(app)
        const decision = all ? { all_teams: true } : { team_ids: [team.id] }
        const { url } = await consent(admin, client.client_id, decision)
        expect(url.origin + url.pathname).toBe(redirectUri)
        expect(Object.fromEntries(url.searchParams)).toEqual({
          code: expect.any(String),
          state: 'a state',
          iss: app.ctx.config.rootUrl,
        })
        const { data } = (await member.get('/installations')).body
        expect(data).toEqual([
          {
            id: expect.stringMatching(/^ins_[0-9a-hjkmnp-tv-z]{26}$/),
            workspace_id: workspaceId,
            app_id: client.app.id,
            app_user_id: data[0].app_user.id,
            app: { id: client.app.id, name: 'Robot' },
            app_user: { id: expect.stringMatching(/^usr_/), display_name: 'Robot' },
            all_teams: all,
            team_ids: all ? [] : [team.id],
            scopes: ['read', 'write'],
            installed_by: admin.user.id,
            created_at: app.clock.now().toISOString(),
            updated_at: app.clock.now().toISOString(),
          },
        ])
        expect((await member.get(`/installations/${data[0].id}`)).body).toEqual(data[0])
        expect((await owner.get('/audit-log?action=installation.approved')).body.data).toHaveLength(1)
      }
    },
  )

  test('needs exactly one choice of teams', verifies('installation.coverage-exactly-one'), async ({ app }) => {
    const { owner, client, team } = await scene(app)
    const elsewhere = await scene(app)
    const id = await askConsent(owner, client.client_id)
    for (const decision of [
      {},
      { all_teams: true, team_ids: [team.id] },
      { team_ids: [] },
      { all_teams: false },
      { team_ids: ['team_x'] },
      { team_ids: [team.id, elsewhere.team.id] },
      { all_teams: true, workspace_id: owner.workspaceId },
    ]) {
      const refused = await app.unchanged(() => owner.post(`/oauth/requests/${id}/approve`, decision))
      expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
    }
  })

  test('can be denied', verifies('oauth.deny'), async ({ app }) => {
    const { owner, member, client } = await scene(app)
    for (const person of [owner, member]) {
      const id = await askConsent(person, client.client_id)
      const { status, body } = await person.post(`/oauth/requests/${id}/deny`)
      expect(status).toBe(200)
      const { searchParams } = new URL(body.redirect_to)
      expect([searchParams.get('error'), searchParams.get('state')]).toEqual(['access_denied', 'a state'])
      expect(searchParams.get('code')).toBeNull()
      expect((await person.post(`/oauth/requests/${id}/approve`, { all_teams: true })).status).toBe(404)
    }
    expect((await owner.get('/installations')).body.data).toEqual([])
  })

  test('is asked for ten minutes', verifies('oauth.consent-request-expires'), async ({ app }) => {
    const { owner, client } = await scene(app)
    const [early, late] = [await askConsent(owner, client.client_id), await askConsent(owner, client.client_id)]
    app.clock.advance({ minutes: 10, milliseconds: -1 })
    expect((await owner.post(`/oauth/requests/${early}/approve`, { all_teams: true })).status).toBe(200)
    app.clock.advance({ milliseconds: 1 })
    const refused = await app.unchanged(() => owner.post(`/oauth/requests/${late}/approve`, { all_teams: true }))
    expect(refused.status).toBe(404)
  })
})

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
    'works once; when it comes again, what it brought is over',
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
      expect((await asApp(app, at.id, first.body.access_token).get('/workspaces/me')).status).toBe(401)
    },
  )

  test('lives a minute', verifies('oauth.code-expires'), async ({ app }) => {
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
    'is bound to client, address and verifier',
    verifies('oauth.code-bound-to-client', 'oauth.code-bound-to-redirect-uri', 'oauth.code-bound-to-challenge'),
    async ({ app }) => {
      const at = await scene(app)
      const other = await scene(app)
      const grant = () => consent(at.owner, at.client.client_id, { all_teams: true })
      const invalid = { status: 400, body: { error: 'invalid_grant' } }
      const stolen = await grant()
      expect(await exchange(app, at, stolen, secretOf(other))).toMatchObject(invalid)
      // It was not theirs to use up.
      expect((await exchange(app, at, stolen)).status).toBe(200)
      expect(await exchange(app, at, await grant(), { redirect_uri: `${redirectUri}?tenant=1` })).toMatchObject(invalid)
      expect(await exchange(app, at, { ...(await grant()), verifier: pkce().verifier })).toMatchObject(invalid)
      const { code } = await grant()
      const bare = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...secretOf(at) }
      expect((await token(app, bare)).status).toBe(400)
    },
  )

  test('goes to one of many who come at once', async ({ app }) => {
    const at = await scene(app)
    const granted = await consent(at.owner, at.client.client_id, { all_teams: true })
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(app, at, granted)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(answers.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(9)
  })
})

describe('the token endpoint refuses', () => {
  test(
    'wrong clients',
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
    'what it does not understand',
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
      expect(await app.nobody.post('/oauth/token', undefined, { raw: twice, headers: form })).toMatchObject(invalid)
      expect(await app.nobody.post('/oauth/token', { grant_type: 'refresh_token' })).toMatchObject(invalid)
      expect(await app.nobody.post('/oauth/token')).toMatchObject(invalid)
    },
  )
})

describe('a refresh', () => {
  test(
    'answers new tokens, and the old one is over',
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
    'of an old token after more than a minute ends the grant',
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

  test('goes to exactly one of fifty', verifies('oauth.refresh-parallel-one-wins'), async ({ app }) => {
    const { tokens, ...at } = await installed(app)
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(app, at, tokens.refresh_token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status, body } of answers) {
      if (status !== 200) expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' })
    }
  })

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
    'is possible for 90 days, and for a year in all',
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
    'ends the grant and lets access tokens live on',
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

  test('that races a refresh leaves nothing that works', async ({ app }) => {
    for (let round = 0; round < 5; round++) {
      const { tokens, ...at } = await installed(app)
      const form = { token: tokens.refresh_token, ...secretOf(at) }
      const [refreshed] = await Promise.all([refresh(app, at, tokens.refresh_token), revoke(app, form)])
      const last = refreshed.body.refresh_token ?? tokens.refresh_token
      expect((await refresh(app, at, last)).status).toBe(400)
    }
  })
})

test('a token in the address is no token', async ({ app }) => {
  const { tokens, id } = await installed(app)
  const bare = app.nobody.with({ 'x-workspace-id': id })
  for (const path of ['/workspaces/me', '/issues', '/auth/me']) {
    const refused = await bare.get(`${path}?access_token=${tokens.access_token}`)
    expect(refused).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect(JSON.stringify(refused.body)).not.toContain(tokens.access_token)
  }
})

test(
  'an access token lives an hour',
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
  'a rotated client secret stops at once',
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

test(
  'secrets, codes and tokens are nowhere in the database',
  verifies('oauth.tokens-stored-hashed'),
  async ({ app }) => {
    const { tokens, client } = await installed(app)
    const stored = await app.everything()
    for (const secret of [tokens.access_token, tokens.refresh_token, client.client_secret, client.webhook_secret]) {
      expect(stored).not.toContain(secret)
    }
    expect(stored).not.toMatch(/svc_(at|sk|ac)_|prt_[\w-]{43}|pwhsec_/)
  },
)

describe('what is strange', () => {
  test('is refused in the right words, and stores nothing', async ({ app }) => {
    const at = await scene(app)
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
    for (const credentials of ['a\0b:c', '%00:c', '%E0%A4%A:c']) {
      for (const call of [token, revoke]) {
        const refused = await call(app, { grant_type: 'refresh_token', token: 'x' }, basic(credentials))
        expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
      }
    }
    for (const uri of ['https://例え.jp/cb', 'https://e.com/é', 'http://127.0.0.1:99999/cb']) {
      const refused = await app.unchanged(() => app.nobody.post('/oauth/register', { redirect_uris: [uri] }))
      expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } })
    }
    const { body: program } = await app.nobody.post('/oauth/register', { redirect_uris: ['http://127.0.0.1/cb'] })
    const port = { redirect_uri: 'http://127.0.0.1:99999/cb', actor: undefined }
    expect((await app.unchanged(() => authorize(at.owner, program.client_id, port))).status).toBe(400)
    const form = { raw: 'title=a&title=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    const other = await app.unchanged(() => at.owner.post('/issues', undefined, form))
    expect(other).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
  })

  test('that the manifest changed since is seen before consent', async ({ app }) => {
    const { owner, client } = await scene(app)
    const manifest = {
      schemaVersion: '1.0.0',
      name: 'Robot',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: [redirectUri], scopes: ['read'] },
    }
    const [narrowed, moved] = [await askConsent(owner, client.client_id), await askConsent(owner, client.client_id)]
    await owner.put(`/agent-apps/${client.app.id}`, manifest)
    expect((await owner.get(`/oauth/requests/${narrowed}`)).body.scopes).toEqual(['read'])
    await owner.post(`/oauth/requests/${narrowed}/approve`, { all_teams: true })
    expect((await owner.get('/installations')).body.data[0].scopes).toEqual(['read'])
    const elsewhere = { ...manifest, oauth: { ...manifest.oauth, redirect_uris: ['https://robots.example.com/new'] } }
    await owner.put(`/agent-apps/${client.app.id}`, elsewhere)
    const refused = await app.unchanged(() => owner.post(`/oauth/requests/${moved}/approve`, { all_teams: true }))
    expect(refused.status).toBe(404)
    await owner.delete(`/agent-apps/${client.app.id}`)
    expect((await owner.get('/installations')).body.data).toEqual([])
  })

  test('a new password ends what programs of the person were given', async ({ startApp }) => {
    const app = await startApp()
    const { id, owner } = await app.workspace()
    const uri = 'http://127.0.0.1:4000/callback'
    const { body: program } = await app.nobody.post('/oauth/register', { redirect_uris: [uri] })
    const { verifier, challenge } = pkce()
    const change = { redirect_uri: uri, actor: undefined, code_challenge: challenge }
    const request = await askConsent(owner, program.client_id, change)
    const { body } = await owner.post(`/oauth/requests/${request}/approve`, { workspace_id: id })
    const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
    const form = { grant_type: 'authorization_code', code, redirect_uri: uri, code_verifier: verifier }
    const { body: tokens } = await token(app, { ...form, client_id: program.client_id })
    const client = app.nobody.with({ authorization: `Bearer ${tokens.access_token}` })
    expect((await client.get('/workspaces/me')).status).toBe(200)
    const passwords = { current_password: owner.password, new_password: 'another password' }
    expect((await owner.post('/auth/password', passwords)).status).toBe(204)
    expect((await client.get('/workspaces/me')).status).toBe(401)
    const again = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: program.client_id }
    expect((await token(app, again)).status).toBe(400)
  })
})

describe('metadata', () => {
  test(
    'is where clients look for it',
    verifies(
      'oauth.metadata-authorization-server',
      'oauth.metadata-protected-resource',
      'oauth.metadata-protected-resource-mcp',
    ),
    async ({ app }) => {
      const { rootUrl, baseUrl, mcpUrl } = app.ctx.config
      const server = await app.nobody.getRoot('/.well-known/oauth-authorization-server')
      expect(server).toMatchObject({ status: 200, body: { issuer: rootUrl, token_endpoint: `${baseUrl}/oauth/token` } })
      const resource = await app.nobody.getRoot('/.well-known/oauth-protected-resource')
      expect(resource).toMatchObject({ status: 200, body: { authorization_servers: [rootUrl] } })
      const mcp = await app.nobody.getRoot('/.well-known/oauth-protected-resource/mcp')
      expect(mcp).toMatchObject({ status: 200, body: { resource: mcpUrl } })
    },
  )
})

test(
  'a foreign client discovers, authorizes, exchanges, refreshes and revokes',
  verifies('oauth.token-basic-auth', 'oauth.refusal-parameters'),
  async ({ app }) => {
    const { owner, client } = await scene(app)
    const { rootUrl } = app.ctx.config
    // The service listens elsewhere in a test; what the client believes is the address that it was configured with.
    const options = {
      [foreign.allowInsecureRequests]: true,
      [foreign.customFetch]: (url: string, init: object) =>
        fetch(url.replace(rootUrl, app.rootUrl), init as RequestInit),
    }
    const issuer = new URL(rootUrl)
    const server = await foreign.processDiscoveryResponse(
      issuer,
      await foreign.discoveryRequest(issuer, { algorithm: 'oauth2', ...options }),
    )
    for (const authentication of [
      foreign.ClientSecretBasic(client.client_secret),
      foreign.ClientSecretPost(client.client_secret),
    ]) {
      const verifier = foreign.generateRandomCodeVerifier()
      const state = foreign.generateRandomState()
      const id = await askConsent(owner, client.client_id, {
        code_challenge: await foreign.calculatePKCECodeChallenge(verifier),
        state,
      })
      const { body } = await owner.post(`/oauth/requests/${id}/approve`, { all_teams: true })
      const me = { client_id: client.client_id }
      const callback = foreign.validateAuthResponse(server, me, new URL(body.redirect_to), state)
      const first = await foreign.processAuthorizationCodeResponse(
        server,
        me,
        await foreign.authorizationCodeGrantRequest(
          server,
          me,
          authentication,
          callback,
          redirectUri,
          verifier,
          options,
        ),
      )
      const second = await foreign.processRefreshTokenResponse(
        server,
        me,
        await foreign.refreshTokenGrantRequest(server, me, authentication, first.refresh_token ?? '', options),
      )
      expect(second.access_token).toMatch(/^svc_at_/)
      const gone = await foreign.revocationRequest(server, me, authentication, second.refresh_token ?? '', options)
      await foreign.processRevocationResponse(gone)
      const refused = await foreign.refreshTokenGrantRequest(
        server,
        me,
        authentication,
        second.refresh_token ?? '',
        options,
      )
      await expect(foreign.processRefreshTokenResponse(server, me, refused)).rejects.toMatchObject({
        error: 'invalid_grant',
      })
    }
  },
)

describe('a program of a person', () => {
  const loopback = 'http://127.0.0.1:4000/callback'
  const register = (app: TestApp, metadata: object = {}) =>
    app.nobody.post('/oauth/register', { client_name: 'Editor', redirect_uris: [loopback], ...metadata })

  test(
    'registers itself without a secret',
    verifies(
      'oauth.register-public-client',
      'oauth.register-plain-http-redirect-refused',
      'oauth.unknown-parameters-ignored',
    ),
    async ({ startApp }) => {
      const app = await startApp()
      const { status, body } = await register(app, {
        surprise: 1,
        redirect_uris: [loopback, 'https://editor.example/cb'],
      })
      expect(status).toBe(201)
      expect(body).toMatchObject({ client_name: 'Editor', token_endpoint_auth_method: 'none' })
      expect(body).not.toHaveProperty('client_secret')
      for (const [metadata, error] of [
        [{ redirect_uris: ['http://editor.example/cb'] }, 'invalid_redirect_uri'],
        [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
        [{ redirect_uris: ['https://u@editor.example/'] }, 'invalid_redirect_uri'],
        [{ redirect_uris: ['https://editor.example/#x'] }, 'invalid_redirect_uri'],
        [{ redirect_uris: [] }, 'invalid_redirect_uri'],
        [{ redirect_uris: 'x' }, 'invalid_redirect_uri'],
        [{ client_name: 5 }, 'invalid_client_metadata'],
        [{ token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata'],
      ] as [object, string][]) {
        expect(await app.unchanged(() => register(app, metadata))).toMatchObject({ status: 400, body: { error } })
      }
      for (let made = 1; made < 20; made++) expect((await register(app)).status).toBe(201)
      expect(await app.unchanged(() => register(app))).toMatchObject({ status: 429 })
    },
  )

  test(
    'acts as the person, in the workspace they chose, and not where a login is needed',
    verifies(
      'oauth.public-client-needs-pkce',
      'oauth.public-client-exchanges-without-secret',
      'oauth.public-client-scopes',
      'oauth.public-client-actor-app-is-unsupported-actor',
      'oauth.public-client-token-acts-as-person',
      'oauth.public-client-workspace',
      'app.session-only-person-oauth-token',
    ),
    async ({ startApp }) => {
      const app = await startApp()
      const { id, owner, member } = await app.workspace()
      const elsewhere = await app.workspace()
      const { client_id } = (await register(app)).body
      const own = { redirect_uri: 'http://127.0.0.1:51234/callback', actor: undefined }
      const errorOf = async (change: Record<string, string | undefined>) =>
        new URL(
          (await authorize(member, client_id, { ...own, ...change })).headers.get('location') ?? '',
        ).searchParams.get('error')
      expect(await errorOf({ actor: 'app' })).toBe('unsupported_actor')
      expect(await errorOf({ code_challenge: undefined })).toBe('invalid_request')
      for (const scope of ['admin', 'issues:create', 'app:assignable'])
        expect(await errorOf({ scope })).toBe('invalid_scope')

      const { verifier, challenge } = pkce()
      const request = await askConsent(member, client_id, { ...own, code_challenge: challenge })
      const { body: asking } = await member.get(`/oauth/requests/${request}`)
      expect(asking).toMatchObject({
        app: null,
        client_name: 'Editor',
        can_approve: true,
        workspaces: [{ id }],
        webhook: null,
        installed: null,
      })
      for (const decision of [{}, { all_teams: true }, { workspace_id: elsewhere.id }]) {
        const refused = await app.unchanged(() => member.post(`/oauth/requests/${request}/approve`, decision))
        expect(refused.status).toBe(422)
      }
      const { body } = await member.post(`/oauth/requests/${request}/approve`, { workspace_id: id })
      const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
      const answer = await token(app, {
        grant_type: 'authorization_code',
        code,
        client_id,
        redirect_uri: own.redirect_uri,
        code_verifier: verifier,
      })
      expect(answer.status).toBe(200)
      for (const key of ['actor', 'installation_id', 'app_user_id']) expect(answer.body).not.toHaveProperty(key)

      const program = app.nobody.with({ authorization: `Bearer ${answer.body.access_token}` })
      expect((await program.get('/auth/me')).body.user).toMatchObject({ id: member.user.id, user_kind: 'human' })
      expect((await program.get('/workspaces/me')).body.id).toBe(id)
      expect((await program.post('/issues', { title: 'By an editor' })).body.reporter_id).toBe(member.user.id)
      const other = await program.get('/workspaces/me', { headers: { 'x-workspace-id': elsewhere.id } })
      expect(other).toMatchObject({ status: 403, body: { code: 'WORKSPACE_ACCESS_DENIED' } })
      for (const [method, path, sent] of [
        ['GET', '/agent-apps'],
        ['GET', '/webhooks'],
        ['GET', '/installations'],
        ['POST', '/auth/password', { current_password: 'x', new_password: 'y'.repeat(10) }],
        ['POST', `/oauth/requests/${request}/approve`, { workspace_id: id }],
      ] as [string, string, object?][]) {
        const refused = await app.unchanged(() => program.request(method, path, sent))
        expect(refused).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
      }
      const me = (await program.get('/auth/me')).body.workspaces
      expect(me.map((workspace: { id: string }) => workspace.id)).toEqual([id])
      const lost = await program.get('/auth/me', { headers: { 'x-workspace-id': elsewhere.id } })
      expect(lost).toMatchObject({ status: 403, body: { code: 'WORKSPACE_ACCESS_DENIED' } })
      await owner.delete(`/workspaces/me/members/${member.user.id}`)
      expect((await program.get('/workspaces/me')).status).toBe(401)
      const again = { grant_type: 'refresh_token', refresh_token: answer.body.refresh_token, client_id }
      expect(await token(app, again)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    },
  )
})
