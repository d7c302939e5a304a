import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { test, verifies } from '../../test/harness.ts'
import { askConsent, authorize, consent, redirectUri, oauthScene as scene } from '../../test/oauth.ts'

describe('authorize', () => {
  const shownOnAPage: [what: string, change: Record<string, string | undefined>, ...ids: RequirementId[]][] = [
    ['no client', { client_id: undefined }, 'oauth.unknown-client-is-400-page'],
    ['an unknown client', { client_id: 'cli_nobody' }, 'oauth.unknown-client-is-400-page'],
    ['no redirect_uri', { redirect_uri: undefined }, 'oauth.redirect-uri-mismatch-is-400-page'],
    ['another redirect_uri', { redirect_uri: 'https://evil.example.com/' }, 'oauth.redirect-uri-mismatch-is-400-page'],
    ['a slash more', { redirect_uri: `${redirectUri}/` }, 'oauth.redirect-uri-mismatch-is-400-page'],
    ['a query more', { redirect_uri: `${redirectUri}?x=1` }, 'oauth.redirect-uri-mismatch-is-400-page'],
    ['a path more', { redirect_uri: `${redirectUri}/../evil` }, 'oauth.redirect-uri-mismatch-is-400-page'],
    [
      'another port',
      { redirect_uri: 'https://robots.example.com:444/callback' },
      'oauth.redirect-uri-mismatch-is-400-page',
    ],
    ['another case', { redirect_uri: redirectUri.toUpperCase() }, 'oauth.redirect-uri-mismatch-is-400-page'],
    [
      'a user',
      { redirect_uri: 'https://robots.example.com@evil.example.com/callback' },
      'oauth.redirect-uri-mismatch-is-400-page',
    ],
    [
      'a wrong redirect_uri and nothing else right',
      { redirect_uri: 'https://evil.example.com/', code_challenge: undefined, scope: 'admin' },
      'oauth.redirect-uri-checked-before-rest',
    ],
  ]
  for (const [what, change, ...ids] of shownOnAPage) {
    test(`shows a page and never redirects for ${what}`, verifies(...ids), async ({ app }) => {
      const { owner, client } = await scene(app)
      const refused = await app.unchanged(() => authorize(owner, client.client_id, change))
      expect(refused.status).toBe(400)
      expect(refused.headers.get('location')).toBeNull()
      expect(refused.body).toContain('cannot be completed')
    })
  }

  const refused: [what: string, error: string, change: Record<string, string | undefined>, ...ids: RequirementId[]][] =
    [
      [
        'response_type token',
        'unsupported_response_type',
        { response_type: 'token' },
        'oauth.response-type-not-code-refused',
        'oauth.unsupported-response-type',
      ],
      [
        'no response_type',
        'unsupported_response_type',
        { response_type: undefined },
        'oauth.response-type-not-code-refused',
        'oauth.unsupported-response-type',
      ],
      ['no challenge', 'invalid_request', { code_challenge: undefined }, 'oauth.pkce-missing-is-invalid-request'],
      ['a short challenge', 'invalid_request', { code_challenge: 'abc' }],
      [
        'the method plain',
        'invalid_request',
        { code_challenge_method: 'plain' },
        'oauth.pkce-method-not-s256-is-invalid-request',
      ],
      [
        'no method',
        'invalid_request',
        { code_challenge_method: undefined },
        'oauth.pkce-method-not-s256-is-invalid-request',
      ],
      [
        'no challenge and admin',
        'invalid_request',
        { code_challenge: undefined, scope: 'admin' },
        'oauth.pkce-checked-before-scope',
      ],
      [
        'no actor and a scope outside',
        'invalid_request',
        { actor: undefined, scope: 'write everything' },
        'oauth.actor-checked-before-scope',
      ],
      ['no actor', 'invalid_request', { actor: undefined }, 'oauth.actor-not-app-is-invalid-request'],
      ['actor user', 'invalid_request', { actor: 'user' }, 'oauth.actor-not-app-is-invalid-request'],
      [
        'no actor and an app scope',
        'invalid_scope',
        { actor: undefined, scope: 'app:assignable' },
        'oauth.app-scope-without-actor-app-is-invalid-scope',
      ],
      ['admin', 'invalid_scope', { scope: 'read admin' }, 'oauth.admin-scope-is-invalid-scope'],
      ['an unknown scope', 'invalid_scope', { scope: 'read,everything' }],
    ]
  for (const [what, error, change, ...ids] of refused) {
    test(`refuses ${what} by redirect with ${error}`, verifies('oauth.refusal-parameters', ...ids), async ({ app }) => {
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
    })
  }

  test('refuses repeated, invalid and too long parameters, and ignores unknown ones', async ({ app }) => {
    const { owner, client } = await scene(app)
    const authorizeWith = (more: string) =>
      owner.get(
        `/oauth/authorize?${new URLSearchParams({ redirect_uri: redirectUri, client_id: client.client_id })}&${more}`,
      )
    for (const more of [`redirect_uri=${redirectUri}`, `client_id=${client.client_id}`]) {
      const page = await app.unchanged(() => authorizeWith(more))
      expect([page.status, page.headers.get('location')], more).toEqual([400, null])
    }
    for (const client_id of ['\0', 'x'.repeat(5000)]) {
      const page = await app.unchanged(() => authorize(owner, client_id))
      expect(page.body).toContain('cannot be completed')
    }
    for (const more of ['state=a&state=b', 'state=%00', `state=${'x'.repeat(5000)}`, 'scope=a&scope=b']) {
      const back = new URL((await app.unchanged(() => authorizeWith(more))).headers.get('location') ?? '')
      expect([back.origin + back.pathname, back.searchParams.get('error')]).toEqual([redirectUri, 'invalid_request'])
      expect(back.searchParams.get('state')).toBeNull()
      const rule = more.length > 4096 ? 'must have at most 4096 characters' : 'must be sent once, as text'
      expect(back.searchParams.get('error_description')).toBe(`${more.split('=')[0]} ${rule}.`)
    }
    const longest = await authorize(owner, client.client_id, { state: 'x'.repeat(4096) })
    expect(longest.headers.get('location')).toContain('/oauth/consent')
    const { headers } = await authorize(owner, client.client_id, { resource: 'a' })
    expect(headers.get('location')).toContain('/oauth/consent')
  })

  test(
    'refuses a scope outside the manifest, and keeps the query of the redirect URI',
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

  test('separates scopes by spaces and commas only, not by tabs or line breaks', async ({ app }) => {
    const { owner, client } = await scene(app)
    for (const scope of ['read\twrite', 'read\nwrite', 'read\u00a0write']) {
      const { headers } = await app.unchanged(() => authorize(owner, client.client_id, { scope }))
      expect(new URL(headers.get('location') ?? '').searchParams.get('error')).toBe('invalid_scope')
    }
  })

  test(
    'redirects to sign-in or to consent, accepts spaces and commas between scopes, ignores unknown parameters',
    verifies(
      'oauth.not-signed-in-goes-to-sign-in',
      'oauth.signed-in-goes-to-consent',
      'oauth.scope-separators',
      'oauth.unknown-parameters-ignored',
    ),
    async ({ app }) => {
      const { owner, client } = await scene(app)
      const anonymous = await app.unchanged(() => authorize(app.anonymous, client.client_id, { resource: 'x' }))
      expect(anonymous.status).toBe(302)
      const signIn = new URL(anonymous.headers.get('location') ?? '')
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
    'shows the request only to the person who began it, and whether they can approve',
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
          compat: null,
          can_approve: mayApprove,
        })
        const others = [owner, admin, member, elsewhere.owner].filter((other) => other !== person)
        for (const other of others) {
          expect((await other.get(`/oauth/requests/${id}`)).status).toBe(404)
          for (const decide of [
            () => other.post(`/oauth/requests/${id}/approve`, { all_teams: true }),
            () => other.post(`/oauth/requests/${id}/deny`),
          ]) {
            expect((await app.unchanged(decide)).status).toBe(404)
          }
        }
        expect((await person.post(`/oauth/requests/${id}/deny`)).status).toBe(200)
      }
      const id = await askConsent(elsewhere.owner, client.client_id)
      expect((await elsewhere.owner.get(`/oauth/requests/${id}`)).body).toMatchObject({ teams: [], can_approve: false })
    },
  )

  test('shows the webhook and its resource types, and the current installation', async ({ app }) => {
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
    const shownWebhook = {
      host: 'hooks.robots.example.com:8443',
      resource_types: ['Issue'],
      always: ['AgentSessionEvent', 'PermissionChange', 'OAuthApp'],
    }
    expect(await shown()).toMatchObject({
      app: { description: 'Mends what is broken.' },
      webhook: shownWebhook,
      installed: null,
    })
    const elsewhere = await app.workspace()
    await consent(owner, client.client_id, { team_ids: [team.id] })
    const installed = { all_teams: false, team_ids: [team.id], scopes: ['read', 'write'] }
    expect(await shown()).toMatchObject({ webhook: shownWebhook, installed })
    expect(await shown(member)).toMatchObject({ webhook: shownWebhook, installed, can_approve: false })
    // People outside the workspace see neither the webhook nor the installation.
    expect(await shown(elsewhere.owner)).toMatchObject({ webhook: null, installed: null, teams: [], workspaces: [] })

    await replace({ ...webhook, enabled: false }, ['read'])
    expect(await shown()).toMatchObject({ webhook: null, installed: { ...installed, scopes: ['read'] } })
    const { body } = await owner.get('/installations')
    await owner.delete(`/installations/${body.data[0].id}`)
    expect(await shown()).toMatchObject({ webhook: null, installed: null })
  })

  test(
    'can be given only by managers of the app’s workspace',
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

  test('needs either all teams or some teams', verifies('installation.coverage-exactly-one'), async ({ app }) => {
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

  test('expires after 10 minutes', verifies('oauth.consent-request-expires'), async ({ app }) => {
    const { owner, client } = await scene(app)
    const [early, late] = [await askConsent(owner, client.client_id), await askConsent(owner, client.client_id)]
    app.clock.advance({ minutes: 10, milliseconds: -1 })
    expect((await owner.post(`/oauth/requests/${early}/approve`, { all_teams: true })).status).toBe(200)
    app.clock.advance({ milliseconds: 1 })
    const refused = await app.unchanged(() => owner.post(`/oauth/requests/${late}/approve`, { all_teams: true }))
    expect(refused.status).toBe(404)
  })
})

test('consent uses the manifest as it is when the request is decided', async ({ app }) => {
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
