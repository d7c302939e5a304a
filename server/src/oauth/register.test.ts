import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { askConsent, authorize, pkce, token } from '../../test/oauth.ts'

describe('a program of a person', () => {
  const loopback = 'http://127.0.0.1:4000/callback'
  const register = (app: TestApp, metadata: object = {}) =>
    app.anonymous.post('/oauth/register', { client_name: 'Editor', redirect_uris: [loopback], ...metadata })

  test(
    'registers itself without a secret',
    verifies(
      'oauth.register-public-client',
      'oauth.register-plain-http-redirect-refused',
      'oauth.unknown-parameters-ignored',
    ),
    async ({ startApp }) => {
      const app = await startApp({ BATON_ROOT_URL: 'https://baton.example' })
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
      const refused = await app.unchanged(() => register(app))
      expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
      expect(Object.keys(refused.body).sort()).toEqual(['error', 'error_description'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      const local = await startApp()
      for (let made = 0; made < 21; made++) expect((await register(local)).status).toBe(201)
    },
  )

  test(
    'acts as the person in the chosen workspace, except on routes that need a login',
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

      const program = app.anonymous.with({ authorization: `Bearer ${answer.body.access_token}` })
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

test('a new password ends the grants of the person’s programs', async ({ startApp }) => {
  const app = await startApp()
  const { id, owner } = await app.workspace()
  const uri = 'http://127.0.0.1:4000/callback'
  const { body: program } = await app.anonymous.post('/oauth/register', { redirect_uris: [uri] })
  const { verifier, challenge } = pkce()
  const change = { redirect_uri: uri, actor: undefined, code_challenge: challenge }
  const request = await askConsent(owner, program.client_id, change)
  const { body } = await owner.post(`/oauth/requests/${request}/approve`, { workspace_id: id })
  const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', code, redirect_uri: uri, code_verifier: verifier }
  const { body: tokens } = await token(app, { ...form, client_id: program.client_id })
  const client = app.anonymous.with({ authorization: `Bearer ${tokens.access_token}` })
  expect((await client.get('/workspaces/me')).status).toBe(200)
  const passwords = { current_password: owner.password, new_password: 'another password' }
  expect((await owner.post('/auth/password', passwords)).status).toBe(204)
  expect((await client.get('/workspaces/me')).status).toBe(401)
  const again = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: program.client_id }
  expect((await token(app, again)).status).toBe(400)
})
