import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
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
        compat: null,
        protocol: 'webhook',
        a2a: null,
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
  const good: [path: string, value: unknown, shown: object, ...RequirementId[]][] = [
    ['name', 'ab', { name: 'ab' }, 'manifest.name-limits-accepted'],
    ['name', '🚀'.repeat(80), { name: '🚀'.repeat(80) }, 'manifest.name-limits-accepted'],
    ['description', 'x'.repeat(1000), { description: 'x'.repeat(1000) }, 'manifest.description-max-accepted'],
    ['developer.name', 'ab', { developer: { name: 'ab' } }, 'manifest.developer-name-limits-accepted'],
    [
      'developer.name',
      'x'.repeat(80),
      { developer: { name: 'x'.repeat(80) } },
      'manifest.developer-name-limits-accepted',
    ],
    ['developer.url', 'http://robots.example.com', { developer: { url: 'http://robots.example.com' } }],
    ['icon_url', 'https://robots.example.com/i.png', { icon_url: 'https://robots.example.com/i.png' }],
    ['distribution', 'private', { distribution: 'private' }, 'manifest.distribution-default-private'],
    ['install_page_url', installPage, { install_page_url: installPage }, 'install.url-button'],
    ['oauth.redirect_uris', manyUris(32), { redirect_uris: manyUris(32) }, 'manifest.redirect-uris-limits-accepted'],
    ['oauth.scopes', six, { requested_scopes: six }, 'manifest.scopes-all-six-accepted'],
    ['oauth.scopes', [], { requested_scopes: [] }],
    [
      'webhook',
      undefined,
      { webhook: { enabled: false, url: '', resource_types: [], state: 'disabled' } },
      'manifest.webhook-left-out',
    ],
    [
      'webhook.url',
      'https://robots.example.com:443/',
      { webhook: { url: 'https://robots.example.com:443/' } },
      'manifest.webhook-url-ports-accepted',
    ],
    [
      'webhook.url',
      'https://robots.example.com:8443/',
      { webhook: { url: 'https://robots.example.com:8443/' } },
      'manifest.webhook-url-ports-accepted',
    ],
    [
      'webhook.url',
      'https://listen.invalid/',
      { webhook: { url: 'https://listen.invalid/' } },
      'manifest.listen-invalid-accepted',
    ],
    ['webhook.enabled', false, { webhook: { enabled: false, state: 'disabled' } }],
    [
      'webhook.resource_types',
      ['Issue', 'Comment', 'Project'],
      { webhook: { resource_types: ['Issue', 'Comment', 'Project'] } },
      'manifest.resource-types-accepted',
    ],
  ]
  for (const [path, value, shown, ...ids] of good) {
    test(`with ${path} ${JSON.stringify(value)}`, verifies(...ids), async ({ app }) => {
      const { owner } = await app.workspace()
      expect(await owner.post('/agent-apps', having(path, value))).toMatchObject({ status: 201, body: { app: shown } })
    })
  }

  test('with an install page on the host of its developer', verifies('install.url-button'), async ({ app }) => {
    const { owner } = await app.workspace()
    const install_page_url = 'https://makers.example/install'
    const named = (url?: string) => ({ ...having('developer.url', url), install_page_url })
    expect(await owner.post('/agent-apps', named('https://makers.example/about'))).toMatchObject({
      status: 201,
      body: { app: { install_page_url } },
    })
    for (const url of [undefined, 'https://other.example', 'https://www.makers.example']) {
      expect(await app.unchanged(() => owner.post('/agent-apps', named(url)))).toMatchObject({
        status: 422,
        body: { details: { install_page_url: expect.any(String) } },
      })
    }
  })

  test('with the address of its schema', verifies('manifest.schema-key-accepted'), async ({ app }) => {
    const { owner } = await app.workspace()
    expect((await owner.post('/agent-apps', having('$schema', schemaAddress(app)))).status).toBe(201)
  })
})

describe('a manifest is refused', () => {
  /** Groups of bad values with the requirements they verify. A row may name the fields that are reported instead. */
  const bad: [ids: RequirementId[], ...rows: [path: string, value: unknown, ...fields: string[]][]][] = [
    [['manifest.schema-key-other-value-refused'], ['$schema', 'https://elsewhere.example/schema.json'], ['$schema', 5]],
    [
      ['manifest.schema-version-missing', 'app.put-partial-manifest-refused'],
      ['schemaVersion', undefined],
    ],
    [['manifest.schema-version-other-refused'], ['schemaVersion', '1.0.1'], ['schemaVersion', 1]],
    [
      ['manifest.name-missing', 'app.put-partial-manifest-refused'],
      ['name', undefined],
    ],
    [['manifest.name-too-short'], ['name', 'x']],
    [['manifest.name-too-long'], ['name', 'x'.repeat(81)]],
    [[], ['name', '   ']],
    [['manifest.name-contains-service-name'], ['name', 'MyBATONbot']],
    [['manifest.description-too-long'], ['description', 'x'.repeat(1001)]],
    [['manifest.icon-url-not-https-refused'], ['icon_url', 'http://robots.example.com/i.png']],
    [[], ['icon_url', 'https://127.0.0.1/i.png']],
    [['manifest.icon-url-not-https-refused'], ['icon_url', 'data:image/png;base64,AAAA']],
    [
      ['manifest.developer-name-missing', 'app.put-partial-manifest-refused'],
      ['developer', undefined, 'developer.name'],
      ['developer.name', undefined],
    ],
    [['manifest.developer-name-too-short'], ['developer.name', 'x']],
    [['manifest.developer-name-too-long'], ['developer.name', 'x'.repeat(81)]],
    [['manifest.developer-url-not-a-url-refused'], ['developer.url', 'nonsense']],
    [
      ['manifest.developer-url-scheme'],
      ['developer.url', 'ftp://robots.example.com'],
      ['developer.url', 'javascript:alert(1)'],
    ],
    [[], ['developer.url', 'https://user@robots.example.com']],
    [
      ['manifest.unknown-nested-key-refused', 'manifest.details-use-dotted-paths'],
      ['developer.surprise', 1],
    ],
    [['manifest.distribution-public-refused'], ['distribution', 'public'], ['distribution', 'team']],
    [
      ['install.url-button'],
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
    ],
    [
      ['manifest.redirect-uris-missing', 'manifest.scopes-missing', 'app.put-partial-manifest-refused'],
      ['oauth', undefined, 'oauth.redirect_uris', 'oauth.scopes'],
    ],
    [
      ['manifest.unknown-nested-key-refused', 'manifest.details-use-dotted-paths'],
      ['oauth.surprise', 1],
    ],
    [
      ['manifest.redirect-uris-missing', 'app.put-partial-manifest-refused'],
      ['oauth.redirect_uris', undefined],
    ],
    [['manifest.redirect-uris-empty'], ['oauth.redirect_uris', []]],
    [['manifest.redirect-uris-too-many'], ['oauth.redirect_uris', manyUris(33)]],
    [['manifest.redirect-uris-duplicate'], ['oauth.redirect_uris', ['https://a.example/', 'https://a.example/']]],
    [['manifest.redirect-uris-not-https'], ['oauth.redirect_uris', ['https://a.example/', 'http://a.example/']]],
    [
      [],
      ['oauth.redirect_uris', ['https://u@a.example/']],
      ['oauth.redirect_uris', ['https://@a.example/']],
      ['oauth.redirect_uris', ['https://a.example/#x']],
    ],
    [
      ['manifest.redirect-uris-not-https'],
      ['oauth.redirect_uris', ['https:a.example']],
      ['oauth.redirect_uris', ['https:\\\\a.example']],
    ],
    [[], ['oauth.redirect_uris', [' https://a.example/']], ['oauth.redirect_uris', ['https://a.example/\n']]],
    [
      ['manifest.redirect-uris-not-https'],
      ['oauth.redirect_uris', ['javascript:alert(1)']],
      ['oauth.redirect_uris', ['//a.example/']],
    ],
    [[], ['oauth.redirect_uris', [`https://a.example/${'x'.repeat(2048)}`]]],
    [
      ['manifest.scopes-missing', 'app.put-partial-manifest-refused'],
      ['oauth.scopes', undefined],
    ],
    [['manifest.scopes-admin-refused'], ['oauth.scopes', ['admin']]],
    [['manifest.scopes-unknown-refused'], ['oauth.scopes', ['read', 'everything']]],
    [[], ['oauth.scopes', ['read', 'read']]],
    [['manifest.webhook-url-required-in-webhook'], ['webhook.url', undefined]],
    [['manifest.webhook-url-http-refused'], ['webhook.url', 'http://robots.example.com/']],
    [['manifest.webhook-url-other-port-refused'], ['webhook.url', 'https://robots.example.com:8080/']],
    [
      ['manifest.webhook-url-not-public-refused'],
      ['webhook.url', 'https://a.localhost/'],
      ['webhook.url', 'https://127.0.0.1/'],
      ['webhook.url', 'https://10.0.0.1/'],
      ['webhook.url', 'https://[::1]/'],
    ],
    [
      ['app.webhook-userinfo-refused-at-save'],
      ['webhook.url', 'https://user@robots.example.com/'],
      ['webhook.url', 'https://@robots.example.com/'],
    ],
    [[], ['webhook.enabled', 'yes']],
    [
      ['manifest.unknown-nested-key-refused', 'manifest.details-use-dotted-paths'],
      ['webhook.surprise', 1],
    ],
    [
      ['manifest.resource-types-always-delivered-refused'],
      ['webhook.resource_types', ['AgentSessionEvent']],
      ['webhook.resource_types', ['PermissionChange']],
      ['webhook.resource_types', ['OAuthApp']],
    ],
    [
      ['manifest.resource-types-ping-or-unknown-refused'],
      ['webhook.resource_types', ['Ping']],
      ['webhook.resource_types', ['Issue', 'Label']],
    ],
    [['manifest.unknown-top-level-key-refused'], ['surprise', 1]],
  ]
  for (const [ids, ...rows] of bad) {
    for (const [path, value, ...fields] of rows) {
      test(
        `with ${path} ${JSON.stringify(value)}, when registered and when replaced`,
        verifies(...ids),
        async ({ app }) => {
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
    }
  }

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
