import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { isSigned, type Received, type Receiver } from '../../test/receiver.ts'

const minimal = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  webhook: { url: 'https://robots.example.com/hook' },
}
const schemaAddress = (app: TestApp) => `${app.ctx.config.rootUrl}/.well-known/agent-app-manifest.schema.json`

/** The manifest with one field set, or without it, by its dotted path. */
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

describe('a manifest is accepted', () => {
  test(
    'with the least, and fills in the rest',
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
  const bad: [string, unknown, string?][] = [
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
    ['developer', undefined],
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
    ['oauth', undefined],
    ['oauth.surprise', 1],
    ['oauth.redirect_uris', undefined],
    ['oauth.redirect_uris', []],
    ['oauth.redirect_uris', manyUris(33)],
    ['oauth.redirect_uris', ['https://a.example/', 'https://a.example/']],
    ['oauth.redirect_uris', ['https://a.example/', 'http://a.example/'], 'oauth.redirect_uris.1'],
    ['oauth.redirect_uris', ['https://u@a.example/'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', ['https://@a.example/'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', ['https://a.example/#x'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', ['https:a.example'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', ['https:\\\\a.example'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', [' https://a.example/'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', ['https://a.example/\n'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', ['javascript:alert(1)'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', ['//a.example/'], 'oauth.redirect_uris.0'],
    ['oauth.redirect_uris', [`https://a.example/${'x'.repeat(2048)}`], 'oauth.redirect_uris.0'],
    ['oauth.scopes', undefined],
    ['oauth.scopes', ['admin'], 'oauth.scopes.0'],
    ['oauth.scopes', ['read', 'everything'], 'oauth.scopes.1'],
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
    ['webhook.resource_types', ['AgentSessionEvent'], 'webhook.resource_types.0'],
    ['webhook.resource_types', ['PermissionChange'], 'webhook.resource_types.0'],
    ['webhook.resource_types', ['OAuthApp'], 'webhook.resource_types.0'],
    ['webhook.resource_types', ['Ping'], 'webhook.resource_types.0'],
    ['webhook.resource_types', ['Issue', 'Label'], 'webhook.resource_types.1'],
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
    ),
    async ([path, value, field = path], { app }) => {
      const { owner } = await scene(app)
      const manifest = having(path, value)
      const { body: registered } = await owner.post('/agent-apps', minimal)
      for (const send of [
        () => owner.post('/agent-apps', manifest),
        () => owner.put(`/agent-apps/${registered.app.id}`, manifest),
      ]) {
        const refused = await app.unchanged(send)
        expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
        expect(Object.keys(refused.body.details)).toEqual([field])
      }
    },
  )

  test(
    'with one message for each bad field, whoever found it',
    verifies('manifest.one-message-per-bad-field'),
    async ({ app }) => {
      const { owner } = await scene(app)
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
        'oauth.redirect_uris.0',
        'oauth.scopes.0',
        'surprise',
        'webhook.resource_types.0',
        'webhook.url',
      ])
      for (const message of Object.values(body.details)) expect(message).toEqual(expect.any(String))
    },
  )
})

const scenes = new WeakMap<TestApp, ReturnType<TestApp['workspace']>>()
/** What is refused changes nothing, so one workspace serves all. */
function scene(app: TestApp) {
  const made = scenes.get(app) ?? app.workspace()
  scenes.set(app, made)
  return made
}

test('the schema is served where manifests name it', verifies('manifest.schema-is-served'), async ({ app }) => {
  const { status, body } = await app.nobody.getRoot('/.well-known/agent-app-manifest.schema.json')
  expect(status).toBe(200)
  expect(body).toMatchObject({ $id: schemaAddress(app), type: 'object', additionalProperties: false })
  expect(Object.keys(body.properties)).toContain('oauth')
})

describe('an app', () => {
  test(
    'is read by every member, changed and deleted by managers',
    verifies(
      'app.list',
      'app.get-one',
      'app.read-by-any-member',
      'app.secrets-shown-once',
      'app.put-replaces-manifest',
      'app.put-by-manager',
      'app.put-by-plain-member-refused',
      'app.delete-removes-app',
    ),
    async ({ app }) => {
      const { owner, admin, member, join } = await app.workspace()
      const other = await join('member')
      const elsewhere = await app.workspace()
      const { body: registered } = await member.post('/agent-apps', minimal)
      const { body: second } = await owner.post('/agent-apps', { ...minimal, name: 'Second' })
      const path = `/agent-apps/${registered.app.id}`
      for (const person of [owner, admin, member, other]) {
        expect((await person.get(path)).body).toEqual(registered.app)
        expect((await person.get('/agent-apps')).body).toEqual({
          data: [second.app, registered.app],
          next_cursor: null,
        })
      }
      expect((await elsewhere.owner.get('/agent-apps')).body.data).toEqual([])
      expect((await elsewhere.owner.get(path)).status).toBe(404)

      app.clock.advance({ seconds: 1 })
      const manifest = {
        ...minimal,
        name: 'Better robot',
        description: 'Works.',
        icon_url: 'https://robots.example.com/i.png',
        developer: { name: 'Robots Ltd', url: 'https://robots.example.com' },
        oauth: { redirect_uris: ['https://robots.example.com/new'], scopes: ['read', 'write'] },
        webhook: { url: 'https://robots.example.com/new-hook', enabled: false, resource_types: ['Issue'] },
      }
      for (const person of [member, other]) {
        for (const call of [() => person.put(path, manifest), () => person.delete(path)]) {
          const refused = await app.unchanged(call)
          expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
        }
      }
      const { body: replaced } = await admin.put(path, manifest)
      expect(replaced).toEqual({
        ...registered.app,
        name: 'Better robot',
        description: 'Works.',
        icon_url: manifest.icon_url,
        developer: manifest.developer,
        redirect_uris: manifest.oauth.redirect_uris,
        requested_scopes: ['read', 'write'],
        webhook: { ...manifest.webhook, state: 'disabled' },
        updated_at: app.clock.now().toISOString(),
      })
      expect((await member.get(path)).body).toEqual(replaced)
      const seen = JSON.stringify([replaced, (await member.get('/agent-apps')).body])
      expect(seen).not.toMatch(/svc_sk_|pwhsec_/)
      expect((await admin.delete(path)).status).toBe(204)
      expect((await member.get(path)).status).toBe(404)
      expect((await member.get('/agent-apps')).body.data).toEqual([second.app])
    },
  )

  test(
    'has its secrets, webhook and deliveries looked after by managers and whoever registered it',
    verifies(
      'app.registrant-manages-secrets',
      'app.change-by-other-member-forbidden',
      'app.rotation-answers',
      'delivery.redeliver-permission',
      'webhook.app-enable-disable',
      'app.read-by-any-member',
    ),
    async ({ app, receiver }) => {
      const { owner, admin, member, join } = await app.workspace()
      const other = await join('member')
      const elsewhere = await app.workspace()
      const { path, registered } = await register(member, receiver)
      await owner.post(`${path}/webhook/test`)
      const [delivery] = (await owner.get(`${path}/deliveries`)).body.data
      const calls: [string, string, number][] = [
        ['POST', `${path}/secret`, 200],
        ['POST', `${path}/webhook-secret`, 200],
        ['POST', `${path}/webhook/test`, 200],
        ['POST', `${path}/webhook/disable`, 200],
        ['POST', `${path}/webhook/enable`, 200],
        ['GET', `${path}/deliveries`, 200],
        ['GET', `${path}/webhook/health`, 200],
        ['GET', `${path}/deliveries/${delivery.id}`, 200],
        ['POST', `${path}/deliveries/${delivery.id}/redeliver`, 202],
      ]
      for (const [method, where] of calls) {
        const refused = await app.unchanged(() => other.request(method, where))
        expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
        const unseen = await app.unchanged(() => elsewhere.owner.request(method, where))
        expect(unseen).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      }
      for (const person of [owner, admin, member]) {
        for (const [method, where, status] of calls) expect((await person.request(method, where)).status).toBe(status)
        const { body } = await person.post(`${path}/secret`)
        expect(body).toEqual({ client_secret: expect.stringMatching(/^svc_sk_[\w-]{43}$/) })
        expect(body.client_secret).not.toBe(registered.client_secret)
      }
      expect(await app.everything()).not.toMatch(/svc_sk_|pwhsec_/)
      const trail = (await owner.get('/audit-log')).body.data.map(({ action }: { action: string }) => action)
      for (const action of ['app.registered', 'app.client_secret_rotated', 'app.webhook_secret_rotated']) {
        expect(trail).toContain(action)
      }
    },
  )
})

async function register(person: { post: TestApp['nobody']['post'] }, receiver: Receiver, webhook: object = {}) {
  const manifest = { ...minimal, webhook: { url: receiver.url, ...webhook } }
  const { body: registered } = await person.post('/agent-apps', manifest)
  return { manifest, registered, path: `/agent-apps/${registered.app.id}` }
}

describe('the webhook of an app', () => {
  test(
    'is tested by one signed Ping, in every state',
    verifies(
      'app.webhook-test-sends-ping',
      'webhook.app-test',
      'event.app-ping-shape',
      'app.rotate-webhook-secret',
      'delivery.svc-delivery-app-is-delivery-id',
      'app.deliveries-list',
      'delivery.app-list',
      'app.deliveries-filters',
      'app.redeliver',
      'delivery.redeliver-app',
    ),
    async ({ app, receiver }) => {
      const { id: workspaceId, owner } = await app.workspace()
      const { path, registered } = await register(owner, receiver, { enabled: false })
      expect((await owner.post(`${path}/webhook/test`)).body).toMatchObject({ ok: true, status: 200 })
      const [ping] = receiver.take() as [Received]
      expect(isSigned(ping, registered.webhook_secret)).toBe(true)
      expect(ping.body).toEqual({
        action: 'create',
        type: 'Ping',
        actor: { id: owner.user.id, type: 'user', name: owner.user.display_name },
        created_at: app.clock.now().toISOString(),
        data: { event_id: expect.stringMatching(/^evt_/), webhook_id: ping.body.webhook_id, label: 'Robot' },
        url: '',
        workspace_id: workspaceId,
        webhook_id: expect.stringMatching(/^whk_/),
        webhook_timestamp: app.clock.now().getTime(),
        installation_id: null,
        app_user_id: null,
      })
      const { webhook_secret } = (await owner.post(`${path}/webhook-secret`)).body
      receiver.answer = 500
      expect((await owner.post(`${path}/webhook/test`)).body).toMatchObject({ ok: false, reason: 'http_error' })
      const [second] = receiver.take() as [Received]
      expect([isSigned(second, webhook_secret), isSigned(second, registered.webhook_secret)]).toEqual([true, false])
      app.clock.advance({ days: 1 })
      await app.deliver()
      expect(receiver.take()).toEqual([])

      const { data } = (await owner.get(`${path}/deliveries`)).body
      expect(data).toMatchObject([{ status: 'failed' }, { id: ping.headers['svc-delivery'], status: 'succeeded' }])
      expect((await owner.get(`${path}/deliveries?status=failed`)).body.data).toEqual([data[0]])
      const page = (await owner.get(`${path}/deliveries?limit=1`)).body
      expect((await owner.get(`${path}/deliveries?limit=1&cursor=${page.next_cursor}`)).body.data).toEqual([data[1]])

      receiver.answer = 200
      expect((await owner.post(`${path}/deliveries/${data[0].id}/redeliver`)).status).toBe(202)
      await app.deliver()
      const [again] = receiver.take() as [Received]
      expect(again.headers['svc-delivery']).toBe(second.headers['svc-delivery'])
      expect(again.body.data).toEqual(second.body.data)
    },
  )

  test(
    'is enabled and disabled by hand and by the manifest',
    verifies('app.webhook-enable', 'app.webhook-disable', 'app.webhook-state'),
    async ({ app, receiver }) => {
      const { owner } = await app.workspace()
      const { path, manifest } = await register(owner, receiver)
      expect((await owner.post(`${path}/webhook/disable`)).body.webhook).toMatchObject({
        enabled: false,
        state: 'disabled',
      })
      expect((await owner.post(`${path}/webhook/enable`)).body.webhook).toMatchObject({
        enabled: true,
        state: 'enabled',
      })
      await owner.post(`${path}/webhook/disable`)
      expect((await owner.put(path, manifest)).body.webhook).toMatchObject({ enabled: true, state: 'enabled' })
      const without = { ...manifest, webhook: undefined }
      expect((await owner.put(path, without)).body.webhook).toMatchObject({
        enabled: false,
        url: '',
        state: 'disabled',
      })
      const refused = await app.unchanged(() => owner.post(`${path}/webhook/enable`))
      expect(refused).toMatchObject({ status: 422, body: { details: { 'webhook.url': expect.any(String) } } })
    },
  )

  test('is no webhook of the workspace, and hears of nothing by itself', async ({ app, receiver }) => {
    const { owner } = await app.workspace()
    const { path } = await register(owner, receiver, { resource_types: ['Issue'] })
    await owner.post(`${path}/webhook/test`)
    const [ping] = receiver.take() as [Received]
    expect((await owner.get('/webhooks')).body.data).toEqual([])
    for (const rest of ['', '/secret', '/deliveries']) {
      expect((await owner.get(`/webhooks/${ping.body.webhook_id}${rest}`)).status).toBe(404)
    }
    await owner.post('/issues', { title: 'Not for the app: it is not installed' })
    await app.deliver()
    expect(receiver.take()).toEqual([])
  })
})
