import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { TestClock } from '../../test/clock.ts'
import { listen } from '../../test/loopback-server.ts'
import { systemClock } from '../clock.ts'
import { GuardedClient, type GuardedClientOptions } from './client.ts'

const body = Buffer.from('{"a":1}')
const answer = (status: number, text = '', headers = '') =>
  `HTTP/1.1 ${status} x\r\n${headers}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`

/** Passes each request to `onRequest`, with its socket. */
async function receive(onRequest: (socket: Socket, request: string) => void) {
  const seen = { connections: 0, requests: 0, closed: 0 }
  const server = createServer((socket) => {
    seen.connections++
    socket.on('error', () => {}).on('close', () => seen.closed++)
    socket.on('data', (bytes) => {
      if (!bytes.includes(' HTTP/1.1\r\n')) return
      seen.requests++
      onRequest(socket, bytes.toString('latin1'))
    })
  })
  return { url: `http://localhost:${await listen(server)}/hook`, seen }
}

function newClient(options: Partial<GuardedClientOptions> = {}) {
  const client = new GuardedClient({ allow: [{ host: 'localhost', port: null }], clock: systemClock, ...options })
  onTestFinished(() => client.close())
  return client
}

const post = (client: GuardedClient, url: string, maxBodyBytes?: number) =>
  client.send({ method: 'POST', url, headers: { 'content-type': 'application/json' }, body }, maxBodyBytes)

const postOnce = (url: string, options?: Partial<GuardedClientOptions>) => post(newClient(options), url)

describe('answers', () => {
  test.each([200, 201, 204, 299])('%i is a success', async (status) => {
    const { url } = await receive((socket) => socket.end(`HTTP/1.1 ${status} x\r\n\r\n`))
    expect(await postOnce(url)).toMatchObject({ ok: true, status })
  })

  test('the request arrives as it was given', verifies('config.webhook-allow-http-any-port'), async () => {
    let received = ''
    const { url } = await receive((socket, request) => {
      received = request
      socket.end(answer(200, 'thanks'))
    })
    expect(await postOnce(`${url}?a=b`)).toMatchObject({ ok: true, body: Buffer.from('thanks') })
    expect(received.split('\r\n')).toEqual([
      'POST /hook?a=b HTTP/1.1',
      `host: ${new URL(url).host}`,
      'connection: keep-alive',
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      body.toString(),
    ])
  })

  test('a GET has no body', async () => {
    const { url } = await receive((socket, request) => socket.end(answer(200, request.split('\r\n')[0])))
    const outcome = await newClient().send({ method: 'GET', url, headers: {} })
    expect(outcome.body.toString()).toBe('GET /hook HTTP/1.1')
  })

  test.each([300, 301, 302, 303, 304, 305, 307, 308])(
    '%i is not followed',
    verifies('delivery.redirect-is-failed-attempt'),
    async (status) => {
      const elsewhere = await receive((socket) => socket.end(answer(200)))
      const { url } = await receive((socket) => socket.end(answer(status, '', `location: ${elsewhere.url}\r\n`)))
      expect(await postOnce(url)).toMatchObject({ ok: false, reason: 'redirect', status })
      expect(elsewhere.seen.connections).toBe(0)
    },
  )

  test.each([400, 401, 404, 410, 429, 500, 503])('%i is an error', verifies('delivery.http-error'), async (status) => {
    const { url } = await receive((socket) => socket.end(answer(status, 'sorry')))
    const outcome = await postOnce(url)
    expect(outcome).toMatchObject({ ok: false, reason: 'http_error', status, body: Buffer.from('sorry') })
  })

  test('an informational response (1xx) is not the response', async () => {
    const { url } = await receive((socket) => socket.end(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${answer(500)}`))
    expect(await postOnce(url)).toMatchObject({ ok: false, reason: 'http_error', status: 500 })
  })

  test('NUL and invalid UTF-8 are kept as they are', async () => {
    const bytes = Buffer.from([0, 0xff, 0xc3, 0x28, 0, 0xed, 0xa0, 0x80])
    const { url } = await receive((socket) => {
      socket.write('HTTP/1.1 200 x\r\ncontent-length: 8\r\n\r\n')
      socket.write(bytes)
    })
    expect((await postOnce(url)).body).toEqual(bytes)
  })

  test('a gzip bomb is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    const { url } = await receive((socket) => {
      socket.write(`HTTP/1.1 200 x\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
      socket.write(bomb)
    })
    expect((await postOnce(url)).body.equals(bomb)).toBe(true)
  })
})

describe('large bodies', () => {
  test('of a body of 10 GB the first 64 KB are read, and the connection is dropped', async () => {
    let written = 0
    const { url, seen } = await receive((socket) => {
      socket.write(`HTTP/1.1 200 x\r\ncontent-length: ${10 * 2 ** 30}\r\n\r\n`)
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x'))) written += 65_536
      }
      socket.on('drain', more)
      more()
    })
    const outcome = await postOnce(url)
    expect(outcome).toMatchObject({ ok: true, status: 200 })
    expect(outcome.body.equals(Buffer.alloc(65_536, 'x'))).toBe(true)
    await vi.waitFor(() => expect(seen.closed).toBe(1))
    expect(written).toBeLessThan(2 ** 27)
  })

  test('a body of exactly the limit keeps the connection open', async () => {
    const { url, seen } = await receive((socket) => socket.write(answer(500, 'abc')))
    const client = newClient()
    expect((await post(client, url, 3)).body.toString()).toBe('abc')
    expect((await post(client, url, 2)).body.toString()).toBe('ab')
    expect((await post(client, url, 0)).body.toString()).toBe('')
    expect(seen).toMatchObject({ requests: 3, connections: 2 })
  })

  test('a body in chunks of one byte is assembled', async () => {
    const { url } = await receive((socket) =>
      socket.write(`HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(70_000)}0\r\n\r\n`),
    )
    expect((await postOnce(url)).body.equals(Buffer.alloc(65_536, 'x'))).toBe(true)
  })

  test.each([
    ['a header of 1 MB', `x: ${'y'.repeat(1_000_000)}\r\n\r\n`],
    ['headers that do not end', 'x: y\r\n'.repeat(100_000)],
  ])('%s is a network error', verifies('delivery.network-error'), async (_, headers) => {
    const { url, seen } = await receive((socket) => socket.write(`HTTP/1.1 200 x\r\n${headers}`))
    expect(await postOnce(url)).toMatchObject({ ok: false, reason: 'network_error', status: null })
    await vi.waitFor(() => expect(seen.closed).toBe(1))
  })
})

describe('broken connections', () => {
  const broken: [string, (socket: Socket) => void][] = [
    ['reset', (socket) => socket.resetAndDestroy()],
    ['closed', (socket) => socket.end()],
    ['closed within the headers', (socket) => socket.end('HTTP/1.1 200 x\r\nconte')],
    ['closed after an informational response', (socket) => socket.end('HTTP/1.1 103 x\r\n\r\n')],
    ['endless informational responses', (socket) => socket.write('HTTP/1.1 102 x\r\n\r\n'.repeat(100))],
    ['not HTTP', (socket) => socket.end('220 mail.example ESMTP\r\n')],
    ['HTTP/2', (socket) => socket.end(Buffer.from('000000040000000000', 'hex'))],
    ['a switch of protocols', (socket) => socket.write('HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')],
  ]
  test.each(broken)('%s is a network error, and sent once', verifies('delivery.network-error'), async (_, act) => {
    const { url, seen } = await receive(act)
    expect(await postOnce(url)).toMatchObject({ ok: false, reason: 'network_error', status: null })
    expect(seen.requests).toBe(1)
  })

  test('an unknown host name is a network error', verifies('delivery.network-error'), async () => {
    const allow = [{ host: 'nobody.invalid', port: null }]
    expect(await postOnce('http://nobody.invalid/', { allow })).toMatchObject({ ok: false, reason: 'network_error' })
  })

  test('a refused connection is a network error', verifies('delivery.network-error'), async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    expect(await postOnce(`http://localhost:${port}/`)).toMatchObject({ ok: false, reason: 'network_error' })
  })

  test('a reset during the body does not change the result', verifies('delivery.headers-decide'), async () => {
    let reset = () => {}
    const { url } = await receive((socket) => {
      reset = () => socket.resetAndDestroy()
      socket.write('HTTP/1.1 200 x\r\ncontent-length: 100\r\n\r\npart')
    })
    const onHeaders = () => setImmediate(reset)
    subscribe('undici:request:headers', onHeaders)
    onTestFinished(() => void unsubscribe('undici:request:headers', onHeaders))
    expect(await postOnce(url)).toMatchObject({ ok: true, status: 200, body: Buffer.from('part') })
  })

  test('a connection is reused, and replaced once the receiver has closed it', async () => {
    const sockets = new Set<Socket>()
    const { url, seen } = await receive((socket) => sockets.add(socket) && socket.write(answer(200)))
    const client = newClient()
    for (let i = 0; i < 3; i++) expect(await post(client, url)).toMatchObject({ ok: true })
    expect(seen.connections).toBe(1)
    for (const socket of sockets) socket.end()
    await vi.waitFor(() => expect(seen.closed).toBe(1))
    expect(await post(client, url)).toMatchObject({ ok: true })
    expect(seen).toMatchObject({ requests: 4, connections: 2 })
  })

  test('closing the client ends requests in progress', async () => {
    const { url } = await receive(() => {})
    const stalled = `https://localhost:${await listen(createServer())}/`
    const client = newClient({ clock: new TestClock() })
    const sent = [post(client, url), post(client, stalled)]
    await client.close()
    for (const outcome of await Promise.all([...sent, post(client, url)])) {
      expect(outcome).toMatchObject({ ok: false, reason: 'network_error' })
    }
  })
})

describe('the deadline', () => {
  /** Sends, and waits until the receiver has the request. */
  async function held() {
    const clock = new TestClock()
    let arrived: (socket: Socket) => void
    const request = new Promise<Socket>((resolve) => (arrived = resolve))
    const { url, seen } = await receive((socket) => arrived(socket))
    const sent = postOnce(url, { clock })
    return { clock, sent, seen, receiver: await request }
  }

  test('an answer after 4,999 ms counts', verifies('delivery.deadline-5s'), async () => {
    const { clock, sent, receiver } = await held()
    clock.advance({ milliseconds: 4999 })
    receiver.write(answer(200))
    expect(await sent).toMatchObject({ ok: true, durationMs: 4999 })
  })

  test('an answer after 5,000 ms does not', verifies('delivery.deadline-5s'), async () => {
    const { clock, sent, receiver, seen } = await held()
    clock.advance({ milliseconds: 5000 })
    receiver.write(answer(200))
    expect(await sent).toMatchObject({ ok: false, reason: 'timeout', status: null, durationMs: 5000 })
    await vi.waitFor(() => expect(seen.closed).toBe(1))
  })

  test('headers that come one byte every 200 ms are too slow', verifies('delivery.deadline-5s'), async () => {
    const { clock, sent, receiver } = await held()
    for (const byte of 'HTTP/1.1 200 x\r\nx: ttt') {
      receiver.write(byte)
      await new Promise(setImmediate)
      clock.advance({ milliseconds: 200 })
    }
    clock.advance({ milliseconds: 5000 - 22 * 200 })
    expect(await sent).toMatchObject({ ok: false, reason: 'timeout', durationMs: 5000 })
  })

  test.each([
    [200, { ok: true, status: 200 }],
    [500, { ok: false, reason: 'http_error', status: 500 }],
    [302, { ok: false, reason: 'redirect', status: 302 }],
  ])('%i with a body that stalls keeps its result', verifies('delivery.headers-decide'), async (status, outcome) => {
    const { clock, sent, receiver, seen } = await held()
    let read = 0
    const onHeaders = () => void read++
    subscribe('undici:request:headers', onHeaders)
    onTestFinished(() => void unsubscribe('undici:request:headers', onHeaders))
    receiver.write(`HTTP/1.1 ${status} x\r\ncontent-length: 100\r\n\r\nab`)
    await vi.waitFor(() => expect(read).toBe(1))
    clock.advance({ milliseconds: 5000 })
    expect(await sent).toEqual({ ...outcome, durationMs: 5000, body: Buffer.from('ab'), whole: false })
    await vi.waitFor(() => expect(seen.closed).toBe(1))
  })

  test('it can be set', async () => {
    const { url } = await receive(() => {})
    expect(await postOnce(url, { deadlineMs: 10 })).toMatchObject({ ok: false, reason: 'timeout' })
  })
})

test('proxy settings of the environment are ignored', async () => {
  const proxy = await receive((socket) => socket.end(answer(200)))
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']) vi.stubEnv(name, proxy.url)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { url, seen } = await receive((socket) => socket.end(answer(200)))
  expect(await postOnce(url)).toMatchObject({ ok: true })
  expect([proxy.seen.connections, seen.requests]).toEqual([0, 1])
})
