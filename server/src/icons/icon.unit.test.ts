import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { TestClock } from '../../test/clock.ts'
import { GuardedClient, type GuardedClientOptions } from '../outbound/client.ts'
import { fetchIcon } from './icon.ts'

const maxBytes = 524_288

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const webp = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64')
const jpeg = Buffer.from(
  '/9j/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k=',
  'base64',
)

function pngOf(width: number, height: number) {
  const bytes = Buffer.from(png)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

const pngOfBytes = (length: number) => Buffer.concat([png, Buffer.alloc(length - png.length)])

type Answer = (response: ServerResponse) => void
const send =
  (bytes: Buffer | string, type = 'image/png', status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': type }).end(bytes)

/** A site with an icon, on a real port. */
async function site(answer: Answer) {
  const requests: IncomingMessage[] = []
  const seen = { requests, connections: 0 }
  const server = createServer((request, response) => {
    requests.push(request)
    answer(response)
  })
  server.on('connection', () => seen.connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, port: (server.address() as AddressInfo).port }
}

function newClient(options: Partial<GuardedClientOptions> = {}) {
  const client = new GuardedClient({
    allow: [{ host: 'localhost', port: null }],
    clock: new TestClock(),
    ...options,
  })
  onTestFinished(() => client.close())
  return client
}

async function fetchFrom(answer: Answer) {
  const { seen, port } = await site(answer)
  const icon = await fetchIcon(newClient(), `http://localhost:${port}/icon?v=2`)
  expect(seen.requests.length).toBe(1)
  return icon
}

describe('an icon', () => {
  test.each([
    ['image/png', png],
    ['image/jpeg', jpeg],
    ['image/webp', webp],
    ['image/gif', gif],
  ])('of %s is accepted', async (type, bytes) => {
    expect(await fetchFrom(send(bytes, type))).toEqual({ type, bytes })
  })

  test('is requested with GET and an Accept header', async () => {
    const { seen, port } = await site(send(png))
    await fetchIcon(newClient(), `http://localhost:${port}/icon?v=2`)
    expect(seen.requests.map(({ method, url, headers }) => ({ method, url, headers }))).toEqual([
      {
        method: 'GET',
        url: '/icon?v=2',
        headers: {
          host: `localhost:${port}`,
          connection: 'keep-alive',
          accept: 'image/png, image/jpeg, image/webp, image/gif',
        },
      },
    ])
  })

  test.each(['text/plain', 'text/html', 'image/svg+xml', 'image/gif', 'application/octet-stream'])(
    'has the type of its content, although sent as %s',
    async (type) => expect(await fetchFrom(send(png, type))).toEqual({ type: 'image/png', bytes: png }),
  )

  test.each([
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"/>'],
    ['nothing', ''],
    ['half a header', png.subarray(0, 20)],
  ])('is not %s with the content type image/png', async (_, body) => expect(await fetchFrom(send(body))).toBeNull())

  test('has at most 512 KB', async () => {
    const largest = await fetchFrom(send(pngOfBytes(maxBytes)))
    expect(largest?.bytes.equals(pngOfBytes(maxBytes))).toBe(true)
    expect(await fetchFrom(send(pngOfBytes(maxBytes + 1)))).toBeNull()
    expect(await fetchFrom(send(pngOfBytes(4 * maxBytes)))).toBeNull()
  })

  test('has at most 512 KB when its length is not announced', async () => {
    const inParts =
      (length: number): Answer =>
      (response) => {
        response.write(png)
        response.end(Buffer.alloc(length - png.length))
      }
    expect((await fetchFrom(inParts(maxBytes)))?.bytes.length).toBe(maxBytes)
    expect(await fetchFrom(inParts(maxBytes + 1))).toBeNull()
  })

  test.each([
    [100, 98],
    [98, 100],
  ])('of %i x %i is accepted', async (width, height) => {
    const bytes = pngOf(width, height)
    expect(await fetchFrom(send(bytes))).toEqual({ type: 'image/png', bytes })
  })

  test.each([
    [100, 97],
    [97, 100],
    [0, 0],
    [8193, 8193],
  ])('of %i x %i is refused', async (width, height) => expect(await fetchFrom(send(pngOf(width, height)))).toBeNull())
})

describe('an answer', () => {
  test.each([201, 203, 206, 304, 400, 401, 404, 410, 429, 500, 503])('of %i is no icon', async (status) => {
    expect(await fetchFrom(send(png, 'image/png', status))).toBeNull()
  })

  test.each([301, 302, 303, 307, 308])('of %i is not followed', async (status) => {
    const elsewhere = await site(send(png))
    const location = `http://localhost:${elsewhere.port}/icon`
    expect(await fetchFrom((response) => response.writeHead(status, { location }).end(png))).toBeNull()
    expect(elsewhere.seen.connections).toBe(0)
  })

  test('that does not arrive is no icon', async () => {
    expect(await fetchFrom((response) => response.destroy())).toBeNull()
    const clock = new TestClock()
    const { port } = await site(() => clock.advance({ seconds: 5 }))
    expect(await fetchIcon(newClient({ clock }), `http://localhost:${port}/icon`)).toBeNull()
  })
})

describe('an address that is not public', () => {
  test('is not connected to', async () => {
    const { seen, port } = await site(send(png))
    const client = newClient({ allow: [], dnsServers: ['127.0.0.1:1'] })
    const sockets = countSockets()
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '[::ffff:127.0.0.1]', '10.0.0.1']) {
      for (const url of [`http://${host}:${port}/icon`, `https://${host}/icon`]) {
        expect(await fetchIcon(client, url), url).toBeNull()
      }
    }
    expect({ sockets: sockets(), connections: seen.connections }).toEqual({ sockets: 0, connections: 0 })
  })

  test('increases both counters when it is allowed', async () => {
    const { seen, port } = await site(send(png))
    const sockets = countSockets()
    const client = newClient({ allow: [{ range: '127.0.0.0/8' }] })
    expect(await fetchIcon(client, `http://127.0.0.1:${port}/icon`)).toMatchObject({ type: 'image/png' })
    expect({ sockets: sockets(), connections: seen.connections }).toEqual({ sockets: 1, connections: 1 })
  })

  test.each([
    '',
    'icon.png',
    'data:image/png;base64,iVBORw0KGgo=',
    'file:///icon.png',
    'https://u:p@e.com/',
    ' https://e.com/',
  ])('or text that is not a URL is refused: %j', async (url) =>
    expect(await fetchIcon(newClient({ allow: [] }), url)).toBeNull(),
  )
})

/** Node announces each socket that this process opens, even before it resolves a name. */
function countSockets() {
  let count = 0
  const opened = () => void count++
  subscribe('net.client.socket', opened)
  onTestFinished(() => void unsubscribe('net.client.socket', opened))
  return () => count
}
