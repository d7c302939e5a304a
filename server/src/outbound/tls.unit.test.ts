import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type RequirementId, verifies } from '../../../conformance/requirements.ts'
import { type Certificate, TestAuthority } from '../../test/certificates.ts'
import { TestClock } from '../../test/clock.ts'
import { listen } from '../../test/loopback-server.ts'
import { systemClock } from '../clock.ts'
import { GuardedClient, type GuardedClientOptions } from './client.ts'

let authority: TestAuthority
beforeAll(() => {
  authority = new TestAuthority()
})
afterAll(() => authority.remove())

/** Answers every request that comes through the handshake. */
async function receive(certificate: Certificate) {
  const seen = { requests: 0 }
  const server = createTlsServer(certificate, (socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        seen.requests++
        socket.end('HTTP/1.1 200 x\r\n\r\n')
      })
  })
  return { port: await listen(server.on('tlsClientError', () => {})), seen }
}

function send(url: string, options: Partial<GuardedClientOptions> = {}) {
  const allow = [{ host: 'localhost', port: null }, { range: '127.0.0.1/32' }]
  const client = new GuardedClient({ allow, clock: systemClock, ...options })
  onTestFinished(() => client.close())
  return client.send({ method: 'POST', url, headers: {}, body: Buffer.from('{}') })
}

test('a valid certificate is accepted', async () => {
  const { port } = await receive(authority.issue('DNS:localhost'))
  expect(await send(`https://localhost:${port}/`, { ca: authority.ca })).toMatchObject({ ok: true, status: 200 })
})

test('an IP address needs a certificate for that address', async () => {
  const { port } = await receive(authority.issue('IP:127.0.0.1'))
  expect(await send(`https://127.0.0.1:${port}/`, { ca: authority.ca })).toMatchObject({ ok: true })
  const named = await send(`https://localhost:${port}/`, { ca: authority.ca })
  expect(named).toMatchObject({ ok: false, reason: 'tls_error' })
})

const bad: [string, () => Certificate, boolean][] = [
  ['an expired certificate', () => authority.issue('DNS:localhost', -1), true],
  ['a self-signed certificate', () => authority.selfSigned('DNS:localhost'), true],
  ['a certificate for another host', () => authority.issue('DNS:elsewhere.test'), true],
  ['an authority that is not trusted', () => authority.issue('DNS:localhost'), false],
]
test.each(bad)(
  '%s is a TLS error, and nothing is sent',
  verifies('delivery.tls-error'),
  async (_, certificate, trust) => {
    // With this variable, Node accepts any certificate unless a connection requires verification.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue()
    onTestFinished(() => {
      vi.unstubAllEnvs()
      warnings.mockRestore()
    })
    const { port, seen } = await receive(certificate())
    const outcome = await send(`https://localhost:${port}/`, trust ? { ca: authority.ca } : {})
    expect(outcome).toMatchObject({ ok: false, reason: 'tls_error', status: null })
    expect(seen.requests).toBe(0)
  },
)

const inPlace: [what: string, reason: string, act: (socket: Socket) => void, ...ids: RequirementId[]][] = [
  ['plain HTTP', 'tls_error', (socket) => socket.end('HTTP/1.1 400 x\r\n\r\n'), 'delivery.tls-error'],
  ['an alert', 'tls_error', (socket) => socket.end(Buffer.from('15030300020228', 'hex')), 'delivery.tls-error'],
  ['a close', 'network_error', (socket) => socket.end(), 'delivery.network-error'],
  ['a reset', 'network_error', (socket) => socket.resetAndDestroy(), 'delivery.network-error'],
]
for (const [what, reason, act, ...ids] of inPlace) {
  test(`${what} in place of a handshake is a ${reason}`, verifies(...ids), async () => {
    const port = await listen(createServer((socket) => socket.once('data', () => act(socket))))
    expect(await send(`https://localhost:${port}/`)).toMatchObject({ ok: false, reason, status: null })
  })
}

test('a handshake that stalls is a timeout', verifies('delivery.deadline-5s'), async () => {
  const clock = new TestClock()
  const server = createServer((socket) => socket.resume())
  const port = await listen(server)
  const sent = send(`https://localhost:${port}/`, { clock })
  const [socket] = (await once(server, 'connection')) as [Socket]
  clock.advance({ milliseconds: 5000 })
  expect(await sent).toMatchObject({ ok: false, reason: 'timeout', durationMs: 5000 })
  await once(socket, 'close')
})
