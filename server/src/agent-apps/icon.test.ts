import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { TestDns } from '../../test/dns.ts'
import { test as base, type TestApp, verifies } from '../../test/harness.ts'
import type { AllowedTarget } from '../config.ts'
import { sql } from '../db/sql.ts'
import { GuardedClient } from '../outbound/client.ts'

/** The first bytes of a PNG of this size, padded to `length`. */
function png(width: number, height: number, length = 100): Buffer {
  const bytes = Buffer.alloc(length)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  bytes.set([8, 6, 0, 0, 0], 24)
  return bytes
}
const jpeg = Buffer.concat([Buffer.from('ffd8ffc0000b080040004001011100ffda', 'hex'), Buffer.alloc(50)])
const webp = Buffer.from('524946461600000057454250565038580a000000100000003f00003f0000', 'hex')
const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([64, 0, 64, 0, 0, 0, 0]), Buffer.alloc(50)])

/** A web site that serves one icon and counts its visits. */
class Site {
  visits = 0
  connections = 0
  answer: { type: string; body: Buffer; status?: number } = { type: 'image/png', body: png(64, 64) }
  readonly #server = createServer((_, response) => {
    this.visits++
    response.writeHead(this.answer.status ?? 200, { 'content-type': this.answer.type }).end(this.answer.body)
  })

  async start() {
    this.#server.listen(0, 'localhost')
    await once(this.#server, 'listening')
    return this
  }
  /** On a port that is allowed for public hosts, and where possible at an address that no other test uses. */
  async listenAlone() {
    const address = process.platform === 'linux' ? `127.1.${randomInt(256)}.${randomInt(1, 255)}` : '127.0.0.1'
    this.#server.on('connection', () => this.connections++)
    this.#server.listen(8443, address)
    await once(this.#server, 'listening')
    return address
  }
  get url() {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}/icon.png`
  }
  stop() {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

const test = base.extend<{ site: Site }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
  site: async ({}, use) => {
    const site = await new Site().start()
    await use(site)
    site.stop()
  },
})

async function iconOf(app: TestApp, iconUrl: string | undefined) {
  const { owner } = await app.workspace()
  const { body } = await owner.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Robot',
    ...(iconUrl ? { icon_url: iconUrl } : {}),
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  })
  const read = async () => {
    const response = await fetch(`${app.rootUrl}/api/v1/agent-apps/${body.app.id}/icon`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    return { type: response.headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) }
  }
  return { owner, id: body.app.id, read }
}

test(
  'fetches the icon of an app once, caches it, and serves it without a login',
  verifies('icon.served-from-service', 'icon.accepted-types', 'icon.cached', 'icon.public'),
  async ({ app, site }) => {
    for (const [type, body] of [
      ['image/png', png(64, 64)],
      ['image/jpeg', jpeg],
      ['image/webp', webp],
      ['image/gif', gif],
    ] as const) {
      site.answer = { type, body }
      site.visits = 0
      const { read } = await iconOf(app, site.url)
      const answers = await Promise.all([read(), read(), read()])
      for (const answer of [...answers, await read()]) expect(answer).toEqual({ type, bytes: body })
      expect(site.visits).toBe(1)
      app.clock.advance({ days: 1 })
      site.answer = { type: 'text/plain', body: Buffer.from('gone'), status: 404 }
      expect(await read()).toEqual({ type, bytes: body })
      expect(site.visits).toBe(2)
    }
  },
)

const candidates: [what: string, type: string, body: Buffer, served: boolean, ...ids: RequirementId[]][] = [
  ['the largest that fits', 'image/png', png(64, 64, 512 * 1024), true, 'icon.max-size-accepted'],
  ['one byte more', 'image/png', png(64, 64, 512 * 1024 + 1), false, 'icon.too-large-is-generated'],
  ['nearly square', 'image/png', png(100, 98), true, 'icon.nearly-square-accepted'],
  ['not square', 'image/png', png(100, 97), false, 'icon.not-square-is-generated'],
  [
    'HTML sent as image/png',
    'image/png',
    Buffer.from('<html><script>alert(1)</script>'),
    false,
    'icon.type-by-content',
  ],
  ['SVG', 'image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), false, 'icon.type-by-content'],
  ['a picture that says it is text', 'text/plain', png(64, 64), true, 'icon.type-by-content'],
]
for (const [what, type, body, served, ...ids] of candidates) {
  test(`decides the type of an icon by its content: ${what}`, verifies(...ids), async ({ app, site }) => {
    site.answer = { type, body }
    const { read } = await iconOf(app, site.url)
    const { type: shown, bytes } = await read()
    if (served) expect({ shown, same: bytes.equals(body) }).toEqual({ shown: 'image/png', same: true })
    else expect([shown, bytes.toString().includes('<svg')]).toEqual(['image/svg+xml', true])
  })
}

test(
  'serves a generated icon if none can be fetched',
  verifies('icon.no-url-is-generated', 'icon.unreachable-is-generated'),
  async ({ startApp, site }) => {
    const app = await startApp({ BATON_WEBHOOK_ALLOW: 'localhost' })
    for (const url of [undefined, 'http://localhost:9/icon.png', 'https://nothing-here.invalid/i.png']) {
      const { read } = await iconOf(app, url)
      expect((await read()).type).toBe('image/svg+xml')
    }
    const { owner, id, read } = await iconOf(app, site.url)
    expect((await read()).type).toBe('image/png')
    await owner.delete(`/agent-apps/${id}`)
    expect((await app.anonymous.get(`/agent-apps/${id}/icon`)).status).toBe(404)
  },
)

test(
  'never contacts a private address, given as an address or by a name that resolves to it',
  verifies('icon.private-address-not-fetched'),
  async ({ startApp }) => {
    const app = await startApp()
    const dns = await TestDns.start()
    const site = new Site()
    const address = await site.listenAlone()
    dns.answer('icons.example.com', { a: [address] })
    const { id, read } = await iconOf(app, undefined)
    const { outbound } = app.ctx
    const readFrom = async (origin: string, allow: AllowedTarget[]) => {
      app.ctx.outbound = new GuardedClient({ allow, clock: app.clock, dnsServers: [dns.address] })
      // As if the host had been public when the URL was saved.
      await app.ctx.db.run(sql`update agent_apps set icon_url = ${`${origin}/icon.png`} where id = ${id}`)
      app.clock.advance({ days: 2 })
      expect((await read()).type).toBe('image/svg+xml')
      await app.ctx.outbound.close()
    }
    const origins = [`https://${address}:8443`, 'https://icons.example.com:8443']
    for (const origin of origins) await readFrom(origin, [])
    expect(site.connections).toBe(0)
    expect(dns.queries['icons.example.com']).toBeGreaterThan(0)
    // Both lead to the site if the operator allows its address.
    for (const origin of origins) await readFrom(origin, [{ range: `${address}/32` }])
    expect(site.connections).toBe(2)
    app.ctx.outbound = outbound
    site.stop()
    dns.stop()
  },
)
