import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import {
  installedLinearApp,
  linearAuthorize,
  linearConsent,
  linearForm,
  linearManifest,
  linearRedirect,
  registerLinearApp,
} from '../../test/linear.ts'
import { allScopes, asApp, authorize, consent, exchange, oauthScene, pkce, programOf, token } from '../../test/oauth.ts'
import { sql } from '../db/sql.ts'

const viewer = (
  app: {
    anonymous: {
      with: (h: Record<string, string>) => { postRoot: (p: string, b: unknown) => Promise<{ status: number }> }
    }
  },
  authorization: string,
) => app.anonymous.with({ authorization }).postRoot('/linear/graphql', { query: '{viewer{id}}' })

describe('the manifest', () => {
  test(
    'takes compat with the scope read',
    verifies('linear.compat-accepted', 'linear.compat-needs-read'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const registered = await owner.post('/agent-apps', linearManifest())
      expect(registered).toMatchObject({ status: 201, body: { app: { compat: 'linear' } } })
      const { compat: _, ...plain } = linearManifest()
      expect((await owner.post('/agent-apps', plain)).body.app.compat).toBeNull()
      for (const compat of ['jira', null, true]) {
        const refused = await app.unchanged(() => owner.post('/agent-apps', linearManifest({ compat })))
        expect(refused).toMatchObject({
          status: 422,
          body: { code: 'VALIDATION_ERROR', details: { compat: 'must be "linear"' } },
        })
      }
      const oauth = { redirect_uris: [linearRedirect], scopes: ['write'] }
      const unread = await app.unchanged(() => owner.post('/agent-apps', linearManifest({ oauth })))
      expect(unread).toMatchObject({
        status: 422,
        body: { details: { 'oauth.scopes': expect.stringContaining('read') } },
      })
    },
  )

  test(
    'has https redirects only, which match http on loopback at /linear',
    verifies('linear.compat-loopback-redirects'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      for (const compat of [{}, { compat: undefined }]) {
        const oauth = { redirect_uris: ['http://localhost/cb'], scopes: ['read'] }
        const refused = await owner.post('/agent-apps', linearManifest({ oauth, ...compat }))
        expect(refused).toMatchObject({ status: 422, body: { details: { 'oauth.redirect_uris': expect.any(String) } } })
      }
      const { client_id } = await registerLinearApp(owner)
      for (const uri of ['http://localhost:3979/cb', 'http://localhost/cb', linearRedirect]) {
        expect((await linearAuthorize(owner, client_id, { redirect_uri: uri })).headers.get('location')).toContain(
          '/oauth/consent',
        )
        const ours = await authorize(owner, client_id, { redirect_uri: uri, scope: 'read' })
        expect(ours.status).toBe(uri === linearRedirect ? 302 : 400)
      }
      for (const uri of [
        'http://127.0.0.1:3979/cb',
        'http://localhost:3979/other',
        'http://localhost.evil.example/cb',
        'https://localhost:1/cb',
        'http://localhost:3979/cb#x',
        'http://user@localhost/cb',
      ]) {
        const page = await app.unchanged(() => linearAuthorize(owner, client_id, { redirect_uri: uri }))
        expect({ uri, status: page.status }).toEqual({ uri, status: 400 })
      }
      const code = await linearConsent(owner, client_id, undefined, { redirect_uri: 'http://localhost:3979/cb' })
      expect(code).not.toBe('')
    },
  )

  test('shows compat at consent', verifies('linear.compat-at-consent'), async ({ app }) => {
    const { owner, client } = await oauthScene(app)
    const { client_id } = await registerLinearApp(owner)
    const asked = await linearAuthorize(owner, client_id)
    const request = new URL(asked.headers.get('location') ?? '').searchParams.get('request')
    expect((await owner.get(`/oauth/requests/${request}`)).body.compat).toBe('linear')
    // Installed in the native way, it is the same app.
    const native = await authorize(owner, client_id, { redirect_uri: linearRedirect, scope: 'read' })
    const nativeRequest = new URL(native.headers.get('location') ?? '').searchParams.get('request')
    expect((await owner.get(`/oauth/requests/${nativeRequest}`)).body.compat).toBe('linear')
    const other = await authorize(owner, client.client_id)
    const plain = new URL(other.headers.get('location') ?? '').searchParams.get('request')
    expect((await owner.get(`/oauth/requests/${plain}`)).body.compat).toBeNull()
  })

  test('an app without compat is unknown at /linear', verifies('linear.other-app-unknown'), async ({ app }) => {
    const at = await oauthScene(app)
    const { client_id, client_secret } = at.client
    const page = await app.unchanged(() =>
      linearAuthorize(at.owner, client_id, { redirect_uri: 'https://robots.example.com/callback' }),
    )
    expect(page).toMatchObject({ status: 400, body: expect.stringContaining('not registered') })
    const refused = await linearForm(app, 'token', { grant_type: 'client_credentials', client_id, client_secret })
    expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })

  test(
    'a compat app still uses the API as every other app',
    verifies('linear.api-v1-untouched', 'linear.tokens-only-here'),
    async ({ app }) => {
      const at = await oauthScene(app)
      const { compat: _, ...rest } = linearManifest()
      const manifest = {
        ...rest,
        compat: 'linear',
        oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: allScopes },
      }
      const { body: client } = await at.owner.post('/agent-apps', manifest)
      const compat = { ...at, client }
      const tokens = (await exchange(app, compat, await consent(at.owner, client.client_id, { all_teams: true }))).body
      expect(tokens.access_token).toMatch(/^svc_at_/)
      const native = asApp(app, at.id, tokens.access_token)
      expect((await native.get('/teams')).status).toBe(200)
      const label = { name: 'By the app' }
      expect((await native.post('/labels', label)).status).toBe(201)
      expect((await viewer(app, tokens.access_token)).status).toBe(401)
      expect((await viewer(app, `Bearer ${at.owner.token}`)).status).toBe(401)
      const program = await programOf(app, at.owner, at.id)
      expect((await viewer(app, program)).status).toBe(401)
      const { token: linearToken } = await installedLinearApp(app, at.owner)
      const elsewhere = asApp(app, at.id, linearToken)
      expect((await elsewhere.get('/teams')).status).toBe(401)
      expect((await elsewhere.postRoot('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(401)
      const crossed = await token(app, {
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token,
        client_id: client.client_id,
        client_secret: client.client_secret,
      })
      expect(crossed.status).toBe(200)
      const wrong = {
        grant_type: 'refresh_token',
        refresh_token: crossed.body.refresh_token,
        client_id: client.client_id,
        client_secret: client.client_secret,
      }
      expect((await linearForm(app, 'token', wrong)).body.error).toBe('invalid_grant')
    },
  )
})

describe('authorization', () => {
  test(
    'needs neither PKCE nor state nor actor',
    verifies(
      'linear.oauth-no-pkce-no-state',
      'linear.oauth-comma-scopes',
      'linear.oauth-scope-answer',
      'linear.oauth-token-answer',
    ),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const client = await registerLinearApp(owner)
      const secrets = { client_id: client.client_id, client_secret: client.client_secret }
      const refused = await linearAuthorize(owner, client.client_id, { actor: 'user' })
      expect(refused.headers.get('location')).toContain('error=invalid_request')
      const code = await linearConsent(owner, client.client_id, undefined, {
        scope: 'write,app:assignable,app:mentionable',
      })
      const form = { grant_type: 'authorization_code', code, redirect_uri: linearRedirect, ...secrets }
      const { status, body, headers } = await linearForm(app, 'token', form)
      expect(status).toBe(200)
      expect(body).toEqual({
        access_token: expect.stringMatching(/^lin_oauth_/),
        token_type: 'Bearer',
        expires_in: 86_400,
        scope: 'read write app:assignable app:mentionable',
        refresh_token: expect.stringMatching(/^prt_/),
      })
      expect(headers.get('cache-control')).toBe('no-store')
      expect(await app.everything()).not.toContain(body.access_token)
      expect((await viewer(app, body.access_token)).status).toBe(200)
      expect((await viewer(app, `Bearer ${body.access_token}`)).status).toBe(200)
      app.clock.advance({ seconds: 86_399 })
      expect((await viewer(app, body.access_token)).status).toBe(200)
      app.clock.advance({ seconds: 1 })
      expect((await viewer(app, body.access_token)).status).toBe(401)
    },
  )

  test('enforces PKCE where it is used', verifies('linear.oauth-pkce-enforced'), async ({ app }) => {
    const { owner } = await app.workspace()
    const client = await registerLinearApp(owner)
    const secrets = { client_id: client.client_id, client_secret: client.client_secret }
    const { verifier, challenge } = pkce()
    const plain = await linearAuthorize(owner, client.client_id, {
      code_challenge: challenge,
      code_challenge_method: 'plain',
    })
    expect(plain.headers.get('location')).toContain('error=invalid_request')
    const s256 = { code_challenge: challenge, code_challenge_method: 'S256' }
    for (const code_verifier of [undefined, pkce().verifier, verifier]) {
      const code = await linearConsent(owner, client.client_id, undefined, s256)
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: linearRedirect,
        ...secrets,
        ...(code_verifier ? { code_verifier } : {}),
      }
      const { status, body } = await linearForm(app, 'token', form)
      if (code_verifier === verifier) expect(status).toBe(200)
      else expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' })
    }
  })
})

describe('tokens', () => {
  test('always need the client secret', verifies('linear.oauth-secret-needed'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { tokens, client_id } = await installedLinearApp(app, owner)
    for (const grant_type of ['authorization_code', 'refresh_token', 'client_credentials']) {
      for (const secret of [{}, { client_secret: 'svc_sk_wrong' }]) {
        const form = {
          grant_type,
          client_id,
          code: 'x',
          redirect_uri: linearRedirect,
          refresh_token: tokens.refresh_token,
          ...secret,
        }
        const refused = await app.unchanged(() => linearForm(app, 'token', form))
        expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
      }
    }
  })

  test('are refreshed with rotation', verifies('linear.oauth-refresh-rotates'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { tokens, secrets } = await installedLinearApp(app, owner)
    const refresh = (refresh_token: string) =>
      linearForm(app, 'token', { grant_type: 'refresh_token', refresh_token, ...secrets })
    const next = await refresh(tokens.refresh_token)
    expect(next).toMatchObject({ status: 200, body: { access_token: expect.stringMatching(/^lin_oauth_/) } })
    expect(next.body.refresh_token).not.toBe(tokens.refresh_token)
    expect((await refresh(tokens.refresh_token)).body.error).toBe('invalid_grant')
    expect((await viewer(app, next.body.access_token)).status).toBe(200)
    app.clock.advance({ seconds: 61 })
    expect((await refresh(tokens.refresh_token)).body.error).toBe('invalid_grant')
    expect((await viewer(app, next.body.access_token)).status).toBe(401)
  })

  test(
    'are issued for the secret alone',
    verifies('linear.oauth-client-credentials', 'linear.oauth-client-credentials-not-installed'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const uninstalled = await registerLinearApp(owner)
      const ask = (client: { client_id: string; client_secret: string }, more = {}) =>
        linearForm(app, 'token', {
          grant_type: 'client_credentials',
          client_id: client.client_id,
          client_secret: client.client_secret,
          ...more,
        })
      expect(await ask(uninstalled)).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } })
      const robot = await installedLinearApp(app, owner, { scopes: ['read', 'write'] })
      expect(await ask(robot, { scope: 'read,app:assignable' })).toMatchObject({
        status: 400,
        body: { error: 'invalid_scope' },
      })
      const all = await ask(robot)
      expect(all.body).toEqual({
        access_token: expect.stringMatching(/^lin_oauth_/),
        token_type: 'Bearer',
        expires_in: 86_400,
        scope: 'read write',
      })
      const client = app.anonymous.with({ authorization: all.body.access_token })
      expect((await client.postRoot('/linear/graphql', { query: '{viewer{id}}' })).body.data.viewer.id).toBe(
        robot.viewerId,
      )
      const readOnly = app.anonymous.with({ authorization: (await ask(robot, { scope: 'read' })).body.access_token })
      const refused = await app.unchanged(() =>
        readOnly.postRoot('/linear/graphql', { query: 'mutation{issueLabelCreate(input:{name:"x"}){success}}' }),
      )
      expect(refused.body.errors[0].extensions.baton).toEqual({
        code: 'INSUFFICIENT_SCOPE',
        details: { required: 'write' },
      })
      await owner.post(`/agent-apps/${robot.app.id}/secret`)
      expect((await viewer(app, all.body.access_token)).status).toBe(401)
      expect((await viewer(app, robot.token)).status).toBe(200)
    },
  )

  test(
    'for the secret alone are limited to 30 a minute',
    verifies('linear.oauth-client-credentials-rate'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const { secrets } = await installedLinearApp(app, owner)
      const ask = () => linearForm(app, 'token', { grant_type: 'client_credentials', ...secrets })
      for (let call = 1; call <= 30; call++) expect((await ask()).status).toBe(200)
      const refused = await app.unchanged(ask)
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      app.clock.advance({ seconds: 60 })
      expect((await ask()).status).toBe(200)
    },
  )

  test('are revoked', verifies('linear.oauth-revoke-access-token'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { tokens, secrets, token: first } = await installedLinearApp(app, owner)
    const next = (
      await linearForm(app, 'token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, ...secrets })
    ).body
    expect((await linearForm(app, 'revoke', { token: first, ...secrets })).status).toBe(200)
    expect((await viewer(app, first)).status).toBe(401)
    expect((await viewer(app, next.access_token)).status).toBe(200)
    expect((await linearForm(app, 'revoke', { token: next.refresh_token, ...secrets })).status).toBe(200)
    const again = await linearForm(app, 'token', {
      grant_type: 'refresh_token',
      refresh_token: next.refresh_token,
      ...secrets,
    })
    expect(again.body.error).toBe('invalid_grant')
    expect((await linearForm(app, 'revoke', { token: 'unknown', ...secrets })).status).toBe(200)
  })

  test(
    'lose at once what the app loses',
    verifies('linear.token-acts-at-once', 'linear.compat-removed'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const a = (await owner.post('/teams', { name: 'A', key: 'AAA' })).body
      const b = (await owner.post('/teams', { name: 'B', key: 'BBB' })).body
      const robot = await installedLinearApp(app, owner, { teamIds: [a.id, b.id] })
      const issue = (await owner.post('/issues', { title: 'In B', team_id: b.id })).body
      const read = () => robot.query('query($id:String!){issue(id:$id){id}}', { id: issue.code })
      expect((await read()).body.data.issue.id).toBeTruthy()
      const {
        data: [installation],
      } = (await owner.get('/installations')).body
      await owner.patch(`/installations/${installation.id}`, { team_ids: [a.id] })
      expect((await read()).body.errors[0].extensions.baton.code).toBe('TEAM_ACCESS_DENIED')
      const manifest = linearManifest({
        name: robot.app.name,
        oauth: { redirect_uris: [linearRedirect], scopes: ['read'] },
      })
      await owner.put(`/agent-apps/${robot.app.id}`, manifest)
      const label = await app.unchanged(() => robot.query('mutation{issueLabelCreate(input:{name:"x"}){success}}'))
      expect(label.body.errors[0].extensions.baton.code).toBe('INSUFFICIENT_SCOPE')
      await owner.put(`/agent-apps/${robot.app.id}`, { ...manifest, compat: undefined })
      expect((await viewer(app, robot.token)).status).toBe(401)
      await owner.put(`/agent-apps/${robot.app.id}`, manifest)
      expect((await viewer(app, robot.token)).status).toBe(401)
      const gone = await installedLinearApp(app, owner)
      const [newest] = (await owner.get('/installations')).body.data
      await owner.delete(`/installations/${newest.id}`)
      const refused = await viewer(app, gone.token)
      expect(refused).toMatchObject({
        status: 401,
        body: { errors: [{ extensions: { baton: { code: 'INSTALLATION_REVOKED' } } }] },
      })
    },
  )

  test('are stored as hashes', async ({ app }) => {
    const { owner } = await app.workspace()
    const { token: secret } = await installedLinearApp(app, owner)
    const rows = await app.ctx.db.rows(sql`select * from access_tokens`)
    expect(JSON.stringify(rows)).not.toContain(secret)
  })
})
