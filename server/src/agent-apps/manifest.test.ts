import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { minimal } from '../../test/manifest.ts'

const schemaAddress = (app: TestApp) => `${app.ctx.config.rootUrl}/.well-known/agent-app-manifest.schema.json`

/** The minimal manifest with the field at this dotted path set, or removed if the value is undefined. */
function having(path: string, value: unknown): Record<string, unknown> {
  const manifest = structuredClone(minimal) as Record<string, unknown>
  const keys = path.split('.')
  const last = keys.pop() as string
  let at = manifest
  for (const key of keys) {
    at[key] ??= {}
    at = at[key] as Record<string, unknown>
  }
  if (value === undefined) delete at[last]
  else at[last] = value
  return manifest
}

const manyUris = (count: number) => Array.from({ length: count }, (_, index) => `https://robots.example.com/${index}`)

const workspaces = new WeakMap<TestApp, ReturnType<TestApp['workspace']>>()
/** Refused calls change nothing, so all cases of a service share one workspace. */
function sharedWorkspace(app: TestApp) {
  const workspace = workspaces.get(app) ?? app.workspace()
  workspaces.set(app, workspace)
  return workspace
}

describe('a manifest is accepted', () => {
  test(
    'with only the required fields, and gets defaults for the rest',
    verifies(
      'manifest.minimal-is-accepted',
      'manifest.description-optional-is-null',
      'manifest.icon-url-optional-is-null',
      'manifest.developer-url-optional-is-null',
      'manifest.distribution-default-private',
      'manifest.webhook-enabled-default-true',
      'manifest.resource-types-default-empty',
      'app.register-response',
      'app.register-by-any-member',
      'app.record-fields',
      'app.id-format',
      'app.client-secret-prefix',
      'app.webhook-secret-prefix',
      'app.secret-randomness',
      'app.install-url-shape',
      'app.webhook-state',
    ),
    async ({ app }) => {
      const { id: workspaceId, member } = await app.workspace()
      const { status, body, headers } = await member.post('/agent-apps', minimal)
      expect(status).toBe(201)
      expect(headers.get('cache-control')).toBe('no-store')
      const now = app.clock.now().toISOString()
      expect(body.app).toEqual({
        id: expect.stringMatching(/^app_[0-9a-hjkmnp-tv-z]{26}$/),
        client_id: body.client_id,
        developer_workspace_id: workspaceId,
        owner_user_id: member.user.id,
        name: 'Robot',
        description: null,
        icon_url: null,
        developer: { name: 'Robots Inc', url: null },
        distribution: 'private',
        install_page_url: null,
        redirect_uris: minimal.oauth.redirect_uris,
        requested_scopes: ['read'],
        webhook: { enabled: true, url: minimal.webhook.url, resource_types: [], state: 'enabled' },
        listener: null,
        created_at: now,
        updated_at: now,
      })
      expect(Object.keys(body).sort()).toEqual(['app', 'client_id', 'client_secret', 'install_url', 'webhook_secret'])
      expect(body.client_secret).toMatch(/^svc_sk_[\w-]{43}$/)
      expect(body.webhook_secret).toMatch(/^pwhsec_[\w-]{43}$/)
      const second = (await member.post('/agent-apps', minimal)).body
      expect(second.client_secret).not.toBe(body.client_secret)
      expect(second.webhook_secret).not.toBe(body.webhook_secret)
      expect(second.client_id).not.toBe(body.client_id)
      const install = new URL(body.install_url)
      expect(install.origin + install.pathname).toBe(`${app.ctx.config.baseUrl}/oauth/authorize`)
      expect(Object.fromEntries(install.searchParams)).toEqual({
        actor: 'app',
        client_id: body.client_id,
        response_type: 'code',
        scope: 'read',
        code_challenge_method: 'S256',
        redirect_uri: '{redirect_uri}',
        state: '{state}',
        code_challenge: '{code_challenge}',
      })
      for (const place of ['{redirect_uri}', '{state}', '{code_challenge}']) expect(body.install_url).toContain(place)
    },
  )

  const installPage = 'https://robots.example.com/install?from=baton#start'
  const six = ['read', 'write', 'issues:create', 'comments:create', 'app:assignable', 'app:mentionable']
  test.for<[string, unknown, object]>([
    ['name', 'ab', { name: 'ab' }],
    ['name', '🚀'.repeat(80), { name: '🚀'.repeat(80) }],
    ['description', 'x'.repeat(1000), { description: 'x'.repeat(1000) }],
    ['developer.name', 'ab', { developer: { name: 'ab' } }],
    ['developer.name', 'x'.repeat(80), { developer: { name: 'x'.repeat(80) } }],
    ['developer.url', 'http://robots.example.com', { developer: { url: 'http://robots.example.com' } }],
    ['icon_url', 'https://robots.example.com/i.png', { icon_url: 'https://robots.example.com/i.png' }],
    ['distribution', 'private', { distribution: 'private' }],
    ['install_page_url', installPage, { install_page_url: installPage }],
    ['oauth.redirect_uris', manyUris(32), { redirect_uris: manyUris(32) }],
    ['oauth.scopes', six, { requested_scopes: six }],
    ['oauth.scopes', [], { requested_scopes: [] }],
    ['webhook', undefined, { webhook: { enabled: false, url: '', resource_types: [], state: 'disabled' } }],
    ['webhook.url', 'https://robots.example.com:443/', { webhook: { url: 'https://robots.example.com:443/' } }],
    ['webhook.url', 'https://robots.example.com:8443/', { webhook: { url: 'https://robots.example.com:8443/' } }],
    ['webhook.url', 'https://listen.invalid/', { webhook: { url: 'https://listen.invalid/' } }],
    ['webhook.enabled', false, { webhook: { enabled: false, state: 'disabled' } }],
    [
      'webhook.resource_types',
      ['Issue', 'Comment', 'Project'],
      { webhook: { resource_types: ['Issue', 'Comment', 'Project'] } },
    ],
  ])(
    'with %s %j',
    verifies(
      'manifest.name-limits-accepted',
      'manifest.description-max-accepted',
      'manifest.developer-name-limits-accepted',
      'manifest.distribution-default-private',
      'manifest.redirect-uris-limits-accepted',
      'manifest.scopes-all-six-accepted',
      'manifest.webhook-left-out',
      'manifest.webhook-url-ports-accepted',
      'manifest.listen-invalid-accepted',
      'manifest.resource-types-accepted',
      'install.url-button',
    ),
    async ([path, value, shown], { app }) => {
      const { owner } = await app.workspace()
      expect(await owner.post('/agent-apps', having(path, value))).toMatchObject({ status: 201, body: { app: shown } })
    },
  )

  test('with the address of its schema', verifies('manifest.schema-key-accepted'), async ({ app }) => {
    const { owner } = await app.workspace()
    expect((await owner.post('/agent-apps', having('$schema', schemaAddress(app)))).status).toBe(201)
  })
})

describe('a manifest is refused', () => {
  const bad: [path: string, value: unknown, ...fields: string[]][] = [
    ['$schema', 'https://elsewhere.example/schema.json'],
    ['$schema', 5],
    ['schemaVersion', undefined],
    ['schemaVersion', '1.0.1'],
    ['schemaVersion', 1],
    ['name', undefined],
    ['name', 'x'],
    ['name', 'x'.repeat(81)],
    ['name', '   '],
    ['name', 'MyBATONbot'],
    ['description', 'x'.repeat(1001)],
    ['icon_url', 'http://robots.example.com/i.png'],
    ['icon_url', 'https://127.0.0.1/i.png'],
    ['icon_url', 'data:image/png;base64,AAAA'],
    ['developer', undefined, 'developer.name'],
    ['developer.name', undefined],
    ['developer.name', 'x'],
    ['developer.name', 'x'.repeat(81)],
    ['developer.url', 'nonsense'],
    ['developer.url', 'ftp://robots.example.com'],
    ['developer.url', 'javascript:alert(1)'],
    ['developer.url', 'https://user@robots.example.com'],
    ['developer.surprise', 1],
    ['distribution', 'public'],
    ['distribution', 'team'],
    ['install_page_url', ''],
    ['install_page_url', null],
    ['install_page_url', 'http://robots.example.com/install'],
    ['install_page_url', 'https://elsewhere.example/install'],
    ['install_page_url', 'https://sub.robots.example.com/install'],
    ['install_page_url', 'https://robots.example.com:8443/install'],
    ['install_page_url', 'https://robots.example.com.elsewhere.example/'],
    ['install_page_url', 'https://robots.example.com@elsewhere.example/'],
    ['install_page_url', 'https://user@robots.example.com/install'],
    ['install_page_url', 'https:\\\\robots.example.com/install'],
    ['install_page_url', ' https://robots.example.com/install'],
    ['install_page_url', 'https://robots.example.com/\ninstall'],
    ['install_page_url', 'javascript:alert(1)'],
    ['install_page_url', `https://robots.example.com/${'x'.repeat(2048)}`],
    ['oauth', undefined, 'oauth.redirect_uris', 'oauth.scopes'],
    ['oauth.surprise', 1],
    ['oauth.redirect_uris', undefined],
    ['oauth.redirect_uris', []],
    ['oauth.redirect_uris', manyUris(33)],
    ['oauth.redirect_uris', ['https://a.example/', 'https://a.example/']],
    ['oauth.redirect_uris', ['https://a.example/', 'http://a.example/']],
    ['oauth.redirect_uris', ['https://u@a.example/']],
    ['oauth.redirect_uris', ['https://@a.example/']],
    ['oauth.redirect_uris', ['https://a.example/#x']],
    ['oauth.redirect_uris', ['https:a.example']],
    ['oauth.redirect_uris', ['https:\\\\a.example']],
    ['oauth.redirect_uris', [' https://a.example/']],
    ['oauth.redirect_uris', ['https://a.example/\n']],
    ['oauth.redirect_uris', ['javascript:alert(1)']],
    ['oauth.redirect_uris', ['//a.example/']],
    ['oauth.redirect_uris', [`https://a.example/${'x'.repeat(2048)}`]],
    ['oauth.scopes', undefined],
    ['oauth.scopes', ['admin']],
    ['oauth.scopes', ['read', 'everything']],
    ['oauth.scopes', ['read', 'read']],
    ['webhook.url', undefined],
    ['webhook.url', 'http://robots.example.com/'],
    ['webhook.url', 'https://robots.example.com:8080/'],
    ['webhook.url', 'https://a.localhost/'],
    ['webhook.url', 'https://127.0.0.1/'],
    ['webhook.url', 'https://10.0.0.1/'],
    ['webhook.url', 'https://[::1]/'],
    ['webhook.url', 'https://user@robots.example.com/'],
    ['webhook.url', 'https://@robots.example.com/'],
    ['webhook.enabled', 'yes'],
    ['webhook.surprise', 1],
    ['webhook.resource_types', ['AgentSessionEvent']],
    ['webhook.resource_types', ['PermissionChange']],
    ['webhook.resource_types', ['OAuthApp']],
    ['webhook.resource_types', ['Ping']],
    ['webhook.resource_types', ['Issue', 'Label']],
    ['surprise', 1],
  ]
  test.for(bad)(
    'with %s %j, when registered and when replaced',
    verifies(
      'manifest.unknown-top-level-key-refused',
      'manifest.unknown-nested-key-refused',
      'manifest.details-use-dotted-paths',
      'manifest.schema-key-other-value-refused',
      'manifest.schema-version-missing',
      'manifest.schema-version-other-refused',
      'manifest.name-missing',
      'manifest.name-too-short',
      'manifest.name-too-long',
      'manifest.name-contains-service-name',
      'manifest.description-too-long',
      'manifest.icon-url-not-https-refused',
      'manifest.developer-name-missing',
      'manifest.developer-name-too-short',
      'manifest.developer-name-too-long',
      'manifest.developer-url-not-a-url-refused',
      'manifest.developer-url-scheme',
      'manifest.distribution-public-refused',
      'manifest.redirect-uris-missing',
      'manifest.redirect-uris-empty',
      'manifest.redirect-uris-too-many',
      'manifest.redirect-uris-duplicate',
      'manifest.redirect-uris-not-https',
      'manifest.scopes-missing',
      'manifest.scopes-admin-refused',
      'manifest.scopes-unknown-refused',
      'manifest.webhook-url-required-in-webhook',
      'manifest.webhook-url-http-refused',
      'manifest.webhook-url-other-port-refused',
      'manifest.webhook-url-not-public-refused',
      'manifest.resource-types-always-delivered-refused',
      'manifest.resource-types-ping-or-unknown-refused',
      'app.webhook-userinfo-refused-at-save',
      'app.put-partial-manifest-refused',
      'install.url-button',
    ),
    async ([path, value, ...fields], { app }) => {
      const { owner } = await sharedWorkspace(app)
      const manifest = having(path, value)
      const { body: registered } = await owner.post('/agent-apps', minimal)
      for (const send of [
        () => owner.post('/agent-apps', manifest),
        () => owner.put(`/agent-apps/${registered.app.id}`, manifest),
      ]) {
        const refused = await app.unchanged(send)
        expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
        expect(Object.keys(refused.body.details)).toEqual(fields.length > 0 ? fields : [path])
      }
    },
  )

  test(
    'with one message for each bad field, from the schema or from further rules',
    verifies('manifest.one-message-per-bad-field'),
    async ({ app }) => {
      const { owner } = await sharedWorkspace(app)
      const manifest = {
        ...minimal,
        name: 'a baton',
        description: 5,
        developer: { url: 'nonsense' },
        oauth: { redirect_uris: ['http://a.example'], scopes: ['admin'] },
        webhook: { url: 'https://10.0.0.1/', resource_types: ['Ping'] },
        surprise: 1,
      }
      const { body } = await app.unchanged(() => owner.post('/agent-apps', manifest))
      expect(Object.keys(body.details).sort()).toEqual([
        'description',
        'developer.name',
        'developer.url',
        'name',
        'oauth.redirect_uris',
        'oauth.scopes',
        'surprise',
        'webhook.resource_types',
        'webhook.url',
      ])
      for (const message of Object.values(body.details)) expect(message).toEqual(expect.any(String))
    },
  )
})

test('the schema is served at the URL that manifests name', verifies('manifest.schema-is-served'), async ({ app }) => {
  const { status, body } = await app.anonymous.getRoot('/.well-known/agent-app-manifest.schema.json')
  expect(status).toBe(200)
  expect(body).toMatchObject({ $id: schemaAddress(app), type: 'object', additionalProperties: false })
  // In strict mode the validator refuses keywords that are not standard.
  const fits = new Ajv2020().compile(body)
  expect(fits({ $schema: schemaAddress(app), ...minimal })).toBe(true)
  for (const [path, value] of [
    ['$schema', 'https://elsewhere.example/schema.json'],
    ['name', 'My BATON'],
    ['oauth.redirect_uris', ['http://robots.example.com/callback']],
    ['surprise', 1],
  ] as const) {
    expect(fits(having(path, value)), path).toBe(false)
  }
})
