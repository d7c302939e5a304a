import { inspect } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, vi } from 'vitest'
import { a2aScene } from '../../test/a2a.ts'
import { A2aServer } from '../../test/a2a-server.ts'
import { refusal } from '../../test/agent-sessions.ts'
import { done } from '../../test/delegation.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { refreshOldCards } from './apps.ts'

let server: A2aServer
beforeAll(async () => {
  server = await A2aServer.start()
})
beforeEach(() => server.reset())
afterAll(() => server.stop())

const create = { scopes: ['app:assignable'], all_teams: true }

test('inspects a card without storing anything', verifies('a2a.inspect'), async ({ app }) => {
  const { owner } = await app.workspace()
  server.card = { securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'bearer' } } } }
  const inspected = await app.unchanged(() => owner.post('/agent-apps/a2a/inspect', { card_url: server.origin }))
  expect(inspected).toMatchObject({
    status: 200,
    body: {
      name: 'Echo',
      description: 'Repeats.',
      version: '1.0.0',
      provider: null,
      interface: { url: `${server.origin}/a2a`, binding: 'JSONRPC', protocol_version: '1.0' },
      streaming: true,
      security: [{ name: 'key', type: 'http' }],
      skills: [{ id: 'echo', name: 'Echo', description: 'Repeats what you say' }],
      warnings: [],
    },
  })
})

test(
  'refuses a card URL that is not public, redirects, is too long or too slow',
  verifies('a2a.inspect-guarded'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const inspect = (card_url: string) => owner.post('/agent-apps/a2a/inspect', { card_url })
    const refused = refusal(422, 'VALIDATION_ERROR', { card_url: expect.any(String) })
    await app.unchanged(async () => {
      for (const url of ['https://10.0.0.1/card', 'http://agents.example.com', 'https://agent.local', 'ftp://x']) {
        expect(await inspect(url)).toMatchObject(refused)
      }
      expect(server.cardReads).toBe(0)
      server.cardAnswer = (response) => response.writeHead(302, { location: `${server.origin}/agent-card.json` }).end()
      expect(await inspect(server.origin)).toMatchObject(refused)
      server.cardAnswer = (response) => response.end(JSON.stringify({ name: 'x'.repeat(256 * 1024) }))
      expect(await inspect(server.origin)).toMatchObject(refused)
      expect(server.cardReads).toBe(2)
      const asked = new Promise<void>((resolve) => {
        server.cardAnswer = () => resolve()
      })
      const slow = inspect(server.origin)
      await asked
      app.clock.advance({ seconds: 5 })
      expect(await slow).toMatchObject(refused)
    })
  },
)

test('registers and installs an agent in one step', verifies('a2a.create'), async ({ app }) => {
  const { owner } = await app.workspace()
  const { status, body } = await owner.post('/agent-apps/a2a', { ...create, card_url: server.origin })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    app: {
      name: 'Echo',
      protocol: 'a2a',
      webhook: { url: `${server.origin}/a2a`, state: 'enabled' },
      requested_scopes: ['app:assignable'],
      redirect_uris: [],
      a2a: { interface: { binding: 'JSONRPC' }, credential_type: null, new_origin: null, card: { name: 'Echo' } },
    },
    installation_id: expect.stringMatching(/^ins_/),
  })
  const { data: agents } = await done(owner.get('/agents?include_apps=true'))
  expect(agents).toContainEqual(expect.objectContaining({ agent_kind: 'app', available: true }))
  const { data: audit } = await done(owner.get('/audit-log'))
  expect(audit.map((entry: { action: string }) => entry.action)).toEqual(
    expect.arrayContaining(['app.registered', 'installation.approved']),
  )
})

test('lets only managers register, and no app', verifies('a2a.create-roles'), async ({ app }) => {
  const { owner, member } = await app.workspace()
  const robot = await app.installed(owner)
  const { app: registered } = await done(owner.post('/agent-apps/a2a', { ...create, card_url: server.origin }))
  await app.unchanged(async () => {
    const reads = server.cardReads
    for (const [by, code] of [[member, 'FORBIDDEN'] as const, [robot, 'SESSION_ONLY_ROUTE'] as const]) {
      const refused = refusal(403, code)
      expect(await by.post('/agent-apps/a2a/inspect', { card_url: server.origin })).toMatchObject(refused)
      expect(await by.post('/agent-apps/a2a', { ...create, card_url: server.origin })).toMatchObject(refused)
      expect(await by.post(`/agent-apps/${registered.id}/a2a/card`, {})).toMatchObject(refused)
      expect(await by.put(`/agent-apps/${registered.id}/a2a/credential`, { credential: null })).toMatchObject(refused)
    }
    expect(server.cardReads).toBe(reads)
  })
})

const mtls = { mtlsSecurityScheme: {} }
const unusable: [reason: string, card: object][] = [
  [
    'no_supported_binding',
    { supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'GRPC', protocolVersion: '1.0' }] },
  ],
  [
    'no_supported_version',
    { supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'JSONRPC', protocolVersion: '2.0' }] },
  ],
  [
    'required_extension',
    { capabilities: { streaming: true, extensions: [{ uri: 'https://a.example/x', required: true }] } },
  ],
  ['mtls_only', { securitySchemes: { m: mtls }, securityRequirements: [{ schemes: { m: { list: [] } } }] }],
]

for (const [reason, card] of unusable) {
  test(`refuses a card: ${reason}`, verifies('a2a.card-unusable'), async ({ app }) => {
    const { owner } = await app.workspace()
    server.card = card as Record<string, unknown>
    const refused = refusal(422, 'A2A_CARD_UNUSABLE', { reason })
    await app.unchanged(async () => {
      expect(await owner.post('/agent-apps/a2a/inspect', { card_url: server.origin })).toMatchObject(refused)
      expect(await owner.post('/agent-apps/a2a', { ...create, card_url: server.origin })).toMatchObject(refused)
    })
  })
}

test(
  'refuses a private interface, and calls none that becomes private later',
  verifies('a2a.interface-judged'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const at = (url: string) => ({ supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] })
    server.card = at('https://192.168.1.1/a2a')
    expect(
      await app.unchanged(() => owner.post('/agent-apps/a2a', { ...create, card_url: server.origin })),
    ).toMatchObject(refusal(422, 'A2A_CARD_UNUSABLE', { reason: 'interface_not_public' }))
    server.card = {}
    const scene = await a2aScene(app, server)
    // As if the address had been permitted when the card was read.
    const url = 'https://192.168.1.1/a2a'
    await app.ctx.db.run(sql`
    update a2a_apps set interface = interface || ${JSON.stringify({ url })}::jsonb where app_id = ${scene.app.id}`)
    await scene.delegated()
    await app.deliver()
    expect((await scene.deliveries())[0]?.attempts).toMatchObject([
      { reason: 'blocked_destination', http_status: null },
    ])
    expect(server.calls).toEqual([])
  },
)

/** Everything that the service logs from now on, as text. */
function logOf({ ctx: { log } }: TestApp): string[] {
  const lines: string[] = []
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) {
    const spy = vi.spyOn(log, level).mockImplementation((...parts: unknown[]) => {
      lines.push(inspect(parts, { depth: null, maxStringLength: null, maxArrayLength: null, showHidden: true }))
    })
    onTestFinished(() => spy.mockRestore())
  }
  return lines
}

test(
  'keeps a credential secret, and refuses headers of the message',
  verifies('a2a.credential-sealed'),
  async ({ app }) => {
    const logged = logOf(app)
    server.on['*'] = (call) => call.refuse(-32600, 'no')
    const token = 'canary-token-1'
    const scene = await a2aScene(app, server, { credential: { type: 'bearer', token } })
    await scene.delegated()
    await app.deliver()
    expect(server.calls[0]?.headers.authorization).toBe(`Bearer ${token}`)
    const path = `${scene.path}/a2a/credential`
    const key = { type: 'api_key', header: 'X-Key', value: 'canary-key-2' }
    expect(await scene.owner.put(path, { credential: key })).toMatchObject({
      status: 200,
      body: { a2a: { credential_type: 'api_key' } },
    })
    await scene.delegated()
    await app.deliver()
    expect(server.calls.at(-1)?.headers).toMatchObject({ 'x-key': 'canary-key-2' })
    expect(server.calls.at(-1)?.headers.authorization).toBeUndefined()
    for (const header of ['Host', 'Cookie', 'Content-Type', 'A2A-Version', 'Transfer-Encoding']) {
      expect(await app.unchanged(() => scene.owner.put(path, { credential: { ...key, header } }))).toMatchObject(
        refusal(422, 'VALIDATION_ERROR', { 'credential.header': expect.any(String) }),
      )
    }
    const [first] = await scene.deliveries()
    const detail = await done(scene.owner.get(`${scene.path}/deliveries/${first?.id}`))
    expect(detail.request.headers).toMatchObject({ 'x-key': '***' })
    expect(JSON.parse(detail.request.body)).toMatchObject({ method: 'SendStreamingMessage' })
    // A call that gets no answer, and a card that cannot be read, are logged or shown with their error.
    server.on['*'] = (call) => call.response.destroy()
    const session = await scene.delegated()
    await app.deliver()
    server.cardAnswer = (response) => response.destroy()
    await scene.owner.post(`${scene.path}/a2a/card`)
    server.cardAnswer = null
    const answers = []
    for (const read of [
      scene.path,
      '/agent-apps',
      `${scene.path}/a2a/tasks`,
      `${scene.path}/deliveries`,
      ...(await scene.deliveries()).map(({ id }) => `${scene.path}/deliveries/${id}`),
      `/installations/${scene.installationId}`,
      '/audit-log',
      '/inbox',
      '/agents?include_apps=true',
      `/agent-sessions/${session.id}`,
      `/agent-sessions/${session.id}/activities`,
    ]) {
      answers.push(JSON.stringify(await done(scene.owner.get(read))))
    }
    answers.push(JSON.stringify(await done(scene.owner.post(`${scene.path}/a2a/card`))))
    expect(answers.join()).toContain(scene.app.id)
    expect(logged.join()).toContain('/agent-apps/:app_id/deliveries')
    for (const place of [answers, logged, [await app.everything()]]) {
      expect(place.join('\n').match(/.{0,80}canary-(?:token|key).{0,20}/g)).toBeNull()
    }
    expect(await scene.owner.put(path, { credential: null })).toMatchObject({
      body: { a2a: { credential_type: null } },
    })
  },
)

test('sends nothing to an origin that no manager approved', verifies('a2a.origin-pinned'), async ({ app }) => {
  const scene = await a2aScene(app, server)
  const other = await A2aServer.start()
  try {
    // An attempt is due again after the card names another origin, and a new message too.
    server.on['*'] = (call) => call.response.writeHead(503).end()
    await scene.delegated()
    await app.deliver()
    expect(server.calls).toHaveLength(1)
    server.card = {
      supportedInterfaces: [{ url: `${other.origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    }
    app.clock.advance({ days: 1 })
    await refreshOldCards(app.ctx)
    const changed = await done(scene.owner.get(scene.path))
    expect(changed).toMatchObject({
      webhook: { state: 'failing', url: `${server.origin}/a2a` },
      a2a: { new_origin: other.origin },
    })
    const { data: inbox } = await done(scene.admin.get('/inbox'))
    expect(inbox.map((entry: { kind: string }) => entry.kind)).toContain('webhook_failing')
    expect(await app.unchanged(() => scene.owner.post(`${scene.path}/webhook/enable`))).toMatchObject(
      refusal(422, 'A2A_CARD_UNUSABLE', { reason: 'origin_changed' }),
    )
    expect(await done(scene.owner.post(`${scene.path}/a2a/card`))).toMatchObject({ webhook: { state: 'failing' } })
    await app.deliver()
    expect(await scene.deliveries()).toMatchObject([{ status: 'pending', held: true, attempts: [{}] }])
    expect([server.calls.length, other.calls.length]).toEqual([1, 0])
    expect(await done(scene.owner.post(`${scene.path}/a2a/card`, { accept: true }))).toMatchObject({
      webhook: { state: 'enabled', url: `${other.origin}/a2a` },
      a2a: { new_origin: null },
    })
    other.on['*'] = (call) => call.refuse(-32600, 'no')
    await app.deliver()
    expect([server.calls.length, other.calls.length]).toEqual([1, 1])
  } finally {
    await other.stop()
  }
})

test('has no secrets, manifest, listener or OAuth client', verifies('a2a.no-oauth'), async ({ app }) => {
  const { owner, app: registered, path } = await a2aScene(app, server)
  const manifest = {
    schemaVersion: '1.0.0',
    name: 'Robot',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  }
  const refused = refusal(409, 'A2A_APP')
  await app.unchanged(async () => {
    expect(await owner.post(`${path}/secret`)).toMatchObject(refused)
    expect(await owner.post(`${path}/webhook-secret`)).toMatchObject(refused)
    expect(await owner.post(`${path}/webhook-secret/finish`)).toMatchObject(refused)
    expect(await owner.put(path, manifest)).toMatchObject(refused)
    expect(await owner.get(`${path}/listen?take_over=true`)).toMatchObject(refused)
    expect(await owner.post(`${path}/install`, { all_teams: true })).toMatchObject(refused)
    const authorize = await fetch(
      `${app.rootUrl}/api/v1/oauth/authorize?client_id=${registered.client_id}&response_type=code&redirect_uri=https://x.example`,
    )
    expect(authorize.status).toBeGreaterThanOrEqual(400)
    expect(await owner.post(`${path}/webhook/test`)).toMatchObject({ status: 200, body: { ok: true, status: 200 } })
  })
  expect(server.calls).toEqual([])
  server.cardAnswer = (response) => response.writeHead(500).end()
  expect(await owner.post(`${path}/webhook/test`)).toMatchObject({
    body: { ok: false, status: 500, reason: 'http_error' },
  })
})
