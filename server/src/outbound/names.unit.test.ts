import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { listenUrl } from '@baton/protocol'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { type Certificate, TestAuthority } from '../../test/certificates.ts'
import { TestClock } from '../../test/clock.ts'
import { type DnsAnswer, TestDns } from '../../test/dns.ts'
import type { AllowedTarget } from '../config.ts'
import { GuardedClient } from './client.ts'
import { judgeUrl } from './target.ts'

const url = 'https://hooks.test:8443/hook'
const request = { method: 'POST' as const, url, headers: {}, body: Buffer.from('{}') }
const publicFour = '93.184.215.14'
const publicSix = '2606:4700:4700::1111'
/** In place of the public address of a receiver: tests connect only to this machine. */
const loopback: AllowedTarget = { range: '127.0.0.1/32' }

let authority: TestAuthority
let certificate: Certificate
let dns: TestDns

beforeAll(async () => {
  authority = new TestAuthority()
  certificate = authority.issue('DNS:hooks.test')
  dns = await TestDns.start()
})
afterAll(() => {
  authority.remove()
  dns.stop()
})

/** A receiver on port 8443. The test can delay each step: the TLS handshake and the answer. */
class Receiver {
  connections = 0
  requests = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  handshakes: 'at once' | (() => void)[] = 'at once'
  answers: 'at once' | (() => void)[] = 'at once'
  headers = 'connection: close\r\ncontent-length: 2'
  #progress: () => void = () => {}

  static async start(host = '127.0.0.1') {
    const receiver = new Receiver()
    receiver.#server.listen(8443, host)
    await once(receiver.#server, 'listening')
    onTestFinished(() => receiver.#stop())
    return receiver
  }

  private constructor() {
    this.#server = createServer((socket) => {
      this.connections++
      this.#sockets.add(socket.on('error', () => {}))
      this.#take('handshakes', () => this.#shakeHands(socket))
    })
  }

  async waits(step: 'handshakes' | 'answers') {
    while (this[step].length === 0) await new Promise<void>((resolve) => (this.#progress = resolve))
  }

  next(step: 'handshakes' | 'answers') {
    const waiting = this[step]
    if (waiting !== 'at once') waiting.shift()?.()
  }

  #take(step: 'handshakes' | 'answers', go: () => void) {
    const waiting = this[step]
    if (waiting === 'at once') go()
    else waiting.push(go)
    this.#progress()
  }

  #shakeHands(socket: Socket) {
    const secure = new TLSSocket(socket, { isServer: true, ...certificate })
    secure
      .on('error', () => {})
      .on('data', (bytes) => {
        if (!bytes.includes('POST ')) return
        this.requests++
        this.#take('answers', () => secure.write(`HTTP/1.1 200 OK\r\n${this.headers}\r\n\r\nok`))
      })
  }

  #stop() {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

function newClient({ allow = [], clock = new TestClock() }: { allow?: AllowedTarget[]; clock?: TestClock } = {}) {
  const client = new GuardedClient({ allow, clock, dnsServers: [dns.address], ca: authority.ca })
  onTestFinished(() => client.close())
  return client
}

const isSettled = (outcome: Promise<unknown>) =>
  Promise.race([outcome.then(() => true), new Promise((resolve) => setTimeout(resolve, 20, false))])

test('the text of these names is accepted, whatever they resolve to', () => {
  expect(judgeUrl(url, [])).not.toHaveProperty('refused')
})

test('the listen URL causes no DNS query and no connection', async () => {
  expect(judgeUrl(listenUrl, [])).not.toHaveProperty('refused')
  const receiver = await Receiver.start()
  dns.answer('listen.invalid', { a: ['127.0.0.1'] })
  const client = newClient({ allow: [{ host: 'listen.invalid', port: null }] })
  expect(await client.send({ ...request, url: listenUrl })).toMatchObject({ ok: false, reason: 'network_error' })
  expect(dns.queries['listen.invalid']).toBeUndefined()
  expect(receiver.connections).toBe(0)
})

const blocked: [string, DnsAnswer][] = [
  ['loopback', { a: ['127.0.0.1'] }],
  ['private', { a: ['10.0.0.1'] }],
  ['metadata', { a: ['169.254.169.254'] }],
  ['one private among public ones', { a: [publicFour, '127.0.0.1', '8.8.8.8'] }],
  ['A public, AAAA private', { a: [publicFour], aaaa: ['::1'] }],
  ['A public, AAAA unique local', { a: [publicFour], aaaa: ['fd00::1'] }],
  ['A private, AAAA public', { a: ['127.0.0.1'], aaaa: [publicSix] }],
  ['AAAA only, loopback', { aaaa: ['::1'] }],
  ['IPv4 in IPv6', { aaaa: ['::ffff:127.0.0.1'] }],
  ['NAT64 of a private address', { aaaa: ['64:ff9b::7f00:1'] }],
  ['6to4 of a private address', { aaaa: ['2002:7f00:1::'] }],
]
test.each(blocked)(
  '%s: blocked, and nothing is reached',
  verifies('delivery.blocked-destination'),
  async (_, answer) => {
    const receiver = await Receiver.start()
    dns.answer('hooks.test', answer)
    expect(await newClient().send(request)).toMatchObject({ ok: false, reason: 'blocked_destination', status: null })
    expect(receiver.connections).toBe(0)
  },
)

test.each<[string, DnsAnswer]>([
  ['NXDOMAIN', 'NXDOMAIN'],
  ['SERVFAIL', 'SERVFAIL'],
  ['no address', {}],
])('%s is a network error', verifies('delivery.network-error'), async (_, answer) => {
  dns.answer('hooks.test', answer)
  expect(await newClient().send(request)).toMatchObject({ ok: false, reason: 'network_error', status: null })
})

test('a name that changes to loopback between two attempts is blocked at the second', {
  ...verifies('delivery.blocked-destination'),
  // Other systems have no second loopback address to use as the public one.
  skip: process.platform !== 'linux',
}, async () => {
  const [home, outside] = [await Receiver.start('127.0.0.1'), await Receiver.start('127.0.0.2')]
  const client = newClient({ allow: [{ range: '127.0.0.2/32' }] })
  dns.answer('hooks.test', { a: ['127.0.0.2'] })
  expect(await client.send(request)).toMatchObject({ ok: true, status: 200 })
  dns.answer('hooks.test', { a: ['127.0.0.1'] })
  expect(await client.send(request)).toMatchObject({ ok: false, reason: 'blocked_destination' })
  expect([home.connections, outside.connections]).toEqual([0, 1])
})

describe('an allowed name', () => {
  test('needs addresses of one family only', async () => {
    await Receiver.start()
    dns.answer('hooks.test', { a: ['127.0.0.1'] })
    expect(await newClient({ allow: [loopback] }).send(request)).toMatchObject({ ok: true, body: Buffer.from('ok') })
  })

  test('is resolved once for concurrent connections, and not while a connection is open', async () => {
    const receiver = await Receiver.start()
    receiver.headers = 'content-length: 2'
    dns.answer('hooks.test', { a: ['127.0.0.1'] })
    dns.queries['hooks.test'] = 0
    const client = newClient({ allow: [loopback] })
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => client.send(request)))
    expect(outcomes.every(({ ok }) => ok)).toBe(true)
    dns.answer('hooks.test', 'NXDOMAIN')
    expect(await client.send(request)).toMatchObject({ ok: true })
    expect([receiver.connections, receiver.requests, dns.queries['hooks.test']]).toEqual([10, 11, 2])
  })

  test('is connected to at the address that was checked, not at a later one', async () => {
    const receiver = await Receiver.start()
    dns.answer('hooks.test', 'silence')
    const sent = newClient({ allow: [loopback] }).send(request)
    await dns.asked('hooks.test')
    dns.answer('hooks.test', { a: ['127.0.0.1'] })
    dns.answer('hooks.test', { a: ['127.0.0.2'] })
    expect(await sent).toMatchObject({ ok: true })
    expect(receiver.connections).toBe(1)
  })

  test('is allowed on the given port only', verifies('config.webhook-allow-is-narrow'), async () => {
    const receiver = await Receiver.start()
    dns.answer('hooks.test', { a: ['127.0.0.1'] })
    const client = newClient({ allow: [{ host: 'hooks.test', port: 9000 }] })
    expect(await client.send(request)).toMatchObject({ ok: false, reason: 'blocked_destination' })
    expect(receiver.connections).toBe(0)
  })
})

describe('time', () => {
  test(
    'a resolver that takes 30 s is a timeout at 5 s, and its late response is ignored',
    verifies('delivery.deadline-5s'),
    async () => {
      const receiver = await Receiver.start()
      const clock = new TestClock()
      const client = newClient({ allow: [loopback], clock })
      dns.answer('hooks.test', 'silence')
      const sent = client.send(request)
      await dns.asked('hooks.test')
      clock.advance({ milliseconds: 4999 })
      expect(await isSettled(sent)).toBe(false)
      clock.advance({ milliseconds: 1 })
      expect(await sent).toEqual({
        ok: false,
        reason: 'timeout',
        status: null,
        durationMs: 5000,
        body: Buffer.alloc(0),
        whole: false,
      })

      clock.advance({ seconds: 25 })
      dns.answer('hooks.test', { a: ['127.0.0.1'] })
      expect(await client.send(request)).toMatchObject({ ok: true })
      expect([receiver.connections, receiver.requests]).toEqual([1, 1])
    },
  )

  test.each([
    [999, { ok: true, durationMs: 4999 }],
    [1000, { ok: false, reason: 'timeout', durationMs: 5000 }],
  ])(
    'DNS, handshake and headers share one deadline: %i ms for the last',
    verifies('delivery.deadline-5s'),
    async (last, outcome) => {
      const receiver = await Receiver.start()
      Object.assign(receiver, { handshakes: [], answers: [] })
      const clock = new TestClock()
      dns.answer('hooks.test', 'silence')
      const sent = newClient({ allow: [loopback], clock }).send(request)
      await dns.asked('hooks.test')
      clock.advance({ seconds: 2 })
      dns.answer('hooks.test', { a: ['127.0.0.1'] })
      await receiver.waits('handshakes')
      clock.advance({ seconds: 2 })
      receiver.next('handshakes')
      await receiver.waits('answers')
      clock.advance({ milliseconds: last })
      receiver.next('answers')
      expect(await sent).toMatchObject(outcome)
    },
  )

  test('nothing is sent once the deadline has passed in the handshake', verifies('delivery.deadline-5s'), async () => {
    const receiver = await Receiver.start()
    receiver.handshakes = []
    const clock = new TestClock()
    dns.answer('hooks.test', { a: ['127.0.0.1'] })
    const client = newClient({ allow: [loopback], clock })
    const sent = client.send(request)
    await receiver.waits('handshakes')
    clock.advance({ seconds: 5 })
    expect(await sent).toMatchObject({ ok: false, reason: 'timeout', durationMs: 5000 })
    receiver.next('handshakes')
    receiver.handshakes = 'at once'
    expect(await client.send(request)).toMatchObject({ ok: true })
    expect([receiver.connections, receiver.requests]).toEqual([2, 1])
  })
})
