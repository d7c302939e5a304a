import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ServiceProcess } from '../../server/test/service-process.ts'
import { Neighbour } from '../neighbour.ts'
import { head, RawConnection } from '../raw-connection.ts'
import { memoryOf, socketsOf, withService } from '../service.ts'

/** Much more than on an idle machine, much less than with an unbounded queue. */
const answeredWithinMs = 5000
/** Allowed growth, for all attacks together. */
const memoryMb = 400
/** By then the last connection is closed: once a minute Node closes those whose response has not moved. */
const allClosedMs = 150_000

async function member(service: ServiceProcess) {
  const person = { email: 'owner@example.com', password: 'a password', name: 'Owner' }
  const { token } = await service.call('POST', '/auth/sign-up', person)
  const workspace = await service.call('POST', '/workspaces', { name: 'Acme' }, { authorization: `Bearer ${token}` })
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspace.id as string }
  return { headers, lines: Object.entries(headers).map(([name, value]) => `${name}: ${value}`) }
}

test('closes slow, silent and unread connections without affecting other users', { timeout: 300_000 }, async () => {
  await withService({}, async (service) => {
    const { headers, lines } = await member(service)
    for (let issues = 0; issues < 100; issues++) {
      await service.call('POST', '/issues', { title: 'Long', description: 'x'.repeat(20_000) }, headers)
    }
    let calls = 0
    const neighbour = new Neighbour(async () => {
      const write = ++calls % 5 === 0
      const body = write ? { title: 'A bug' } : undefined
      return Boolean(await service.call(write ? 'POST' : 'GET', write ? '/issues' : '/workspaces/me', body, headers))
    })
    await sleep(3000)
    neighbour.take('undisturbed')
    const [before, sockets] = [memoryOf(service), socketsOf(service)]

    const open = (count: number, opening: string, reads = true) =>
      Array.from({ length: count }, () => {
        const connection = new RawConnection(service.url, { reads })
        connection.send(opening)
        return connection
      })
    const slowBody = ['Content-Type: application/json', 'Content-Length: 1000000']
    const trickled = [
      ...open(200, 'GET /healthz HTTP/1.1\r\nHost: a\r\n').map((connection) => ({ connection, drop: 'X-A: b\r\n' })),
      ...open(100, head('POST /api/v1/issues HTTP/1.1', ...slowBody, ...lines)).map((connection) => ({
        connection,
        drop: ' ',
      })),
      ...open(100, head('POST /api/v1/auth/sign-in HTTP/1.1', ...slowBody)).map((connection) => ({
        connection,
        drop: ' ',
      })),
    ]
    const unread = head('GET /api/v1/issues?limit=100 HTTP/1.1', ...lines).replace('Connection: close', 'X: y')
    const attackers = [
      ...open(300, ''),
      ...trickled.map(({ connection }) => connection),
      ...open(20, unread.repeat(3), false),
      ...open(100, head('GET /api/v1/openapi.json HTTP/1.1'), false),
    ]
    await sleep(1000)
    let worst = 0
    const started = Date.now()
    // The neighbour's connections vary by a few.
    while (socketsOf(service) > sockets + 5 && Date.now() - started < allClosedMs) {
      for (const { connection, drop } of trickled) connection.send(drop)
      worst = Math.max(worst, memoryOf(service))
      await sleep(1000)
    }
    const during = neighbour.take('with slow connections')
    const left = Math.max(0, socketsOf(service) - sockets - 5)
    const waited = Math.round((Date.now() - started) / 1000)
    console.log(
      `${attackers.length} connections, after ${waited} s ${left} of them; memory ${before} MB, at most ${worst} MB`,
    )
    for (const connection of attackers) connection.close()

    for (let opened = 0; opened < 3000; opened++) new RawConnection(service.url).close()
    await sleep(1000)
    const after = neighbour.take('after 3,000 short ones')
    await neighbour.stop()
    expect(left).toBe(0)
    expect([during.failed, after.failed]).toEqual([0, 0])
    expect(Math.max(during.p99, after.p99)).toBeLessThan(answeredWithinMs)
    expect(worst - before).toBeLessThan(memoryMb)
  })
})

const json = 'Content-Type: application/json'
const zeros = gzipSync(Buffer.alloc(200_000_000))

/** Bytes to send, and the expected response. */
const oversizedAndMalformed = (lines: string[]): [name: string, bytes: string | Buffer, status: RegExp][] => {
  const post = (...headers: string[]) => head('POST /api/v1/issues HTTP/1.1', json, ...lines, ...headers)
  const get = (...headers: string[]) => head('GET /healthz HTTP/1.1', ...headers)
  return [
    ['a long address', head(`GET /${'x'.repeat(20_000)} HTTP/1.1`), /^HTTP\/1.1 431/],
    [
      'an id that fills the address',
      head(`GET /api/v1/teams/${'x'.repeat(14_000)} HTTP/1.1`, ...lines),
      /^HTTP\/1.1 404/,
    ],
    ['a long header', get(`X-A: ${'x'.repeat(20_000)}`), /^HTTP\/1.1 431/],
    ['many headers', get(...Array.from({ length: 3000 }, (_, i) => `X-${i}: y`)), /^HTTP\/1.1 431/],
    ['a large declared length', post('Content-Length: 900000000'), /^HTTP\/1.1 413/],
    ['a large body with Expect', post('Content-Length: 900000000', 'Expect: 100-continue'), /^HTTP\/1.1 (413|100)/],
    [
      'a long body in chunks',
      `${post('Transfer-Encoding: chunked')}${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(40)}`,
      /^HTTP\/1.1 413/,
    ],
    [
      'a gzip bomb',
      Buffer.concat([Buffer.from(post('Content-Encoding: gzip', `Content-Length: ${zeros.length}`)), zeros]),
      /^HTTP\/1.1 4(00|15)/,
    ],
    ['length and chunks', `${post('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`, /^HTTP\/1.1 400/],
    ['two lengths', post('Content-Length: 5', 'Content-Length: 6'), /^HTTP\/1.1 400/],
    ['a negative length', post('Content-Length: -1'), /^HTTP\/1.1 400/],
    ['a length with a sign', post('Content-Length: +5'), /^HTTP\/1.1 400/],
    ['chunks under another name', post('Transfer-Encoding: xchunked'), /^HTTP\/1.1 (400|501)/],
    ['an oversized chunk', `${post('Transfer-Encoding: chunked')}FFFFFFFFFFFFFFFFFF\r\n`, /^HTTP\/1.1 400/],
    ['a chunk size that is no number', `${post('Transfer-Encoding: chunked')}zz\r\n`, /^HTTP\/1.1 400/],
    [
      'a long chunk extension',
      `${post('Transfer-Encoding: chunked')}1;${'x'.repeat(20_000)}\r\n`,
      /^HTTP\/1.1 4(00|13)/,
    ],
    ['a space before the colon', get('X-A : b'), /^HTTP\/1.1 400/],
    ['NUL in a header', get('X-A: \0'), /^HTTP\/1.1 400/],
    ['a header on two lines', get('X-A: b\r\n c'), /^HTTP\/1.1 400/],
    ['a lone CR', get('X-A: b\rX-C: d'), /^HTTP\/1.1 400/],
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01', /^HTTP\/1.1 400/],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1.1 (400|505)/],
    ['a method in small letters', head('get /healthz HTTP/1.1'), /^HTTP\/1.1 400/],
    ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n', /^HTTP\/1.1 200/],
    ['HTTP/1.0 without a host', 'GET /healthz HTTP/1.0\r\n\r\n', /^HTTP\/1.1 400/],
    ['a proxy', head('CONNECT evil.invalid:443 HTTP/1.1'), /^$|^HTTP\/1.1 4/],
    ['an absolute URL of another host', head('GET http://evil.invalid/api/v1/auth/me HTTP/1.1'), /^HTTP\/1.1 40/],
    [
      'a WebSocket upgrade',
      head(
        'GET /api/v1/live HTTP/1.1',
        'Upgrade: websocket',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        'Sec-WebSocket-Version: 13',
      ).replace('close', 'upgrade'),
      /^HTTP\/1.1 401/,
    ],
  ]
}

test('refuses oversized and malformed requests with an API error and without growing memory', {
  timeout: 120_000,
}, async () => {
  await withService({}, async (service) => {
    const { lines } = await member(service)
    const before = memoryOf(service)
    for (const [name, bytes, status] of oversizedAndMalformed(lines)) {
      const connection = new RawConnection(service.url)
      connection.send(bytes)
      const answer = await connection.untilClosed(3000)
      connection.close()
      expect({ name, answer }).toEqual({ name, answer: expect.stringMatching(status) })
      if (/^HTTP\/1.1 4/.test(answer)) {
        expect({ name, answer }).toEqual({ name, answer: expect.stringMatching(/x-content-type-options: nosniff/i) })
        expect({ name, answer }).toEqual({ name, answer: expect.stringMatching(/\{"(code|error)":"/) })
      }
    }
    const many = new RawConnection(service.url)
    many.send(`${'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(199)}${head('GET /healthz HTTP/1.1')}`)
    expect((await many.untilClosed(3000)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(200)
    // URLs in responses are those configured, whatever host the request names.
    for (const path of [
      '/',
      '/docs',
      '/api/v1/openapi.json',
      '/.well-known/oauth-authorization-server',
      '/mcp',
      '/api/v1/oauth/authorize',
    ]) {
      const connection = new RawConnection(service.url)
      connection.send(
        `GET ${path} HTTP/1.1\r\nHost: evil.invalid\r\nX-Forwarded-Host: evil.invalid\r\nOrigin: https://evil.invalid\r\nConnection: close\r\n\r\n`,
      )
      const answer = await connection.untilClosed(5000)
      expect(answer).toMatch(/^HTTP\/1.1 [234]/)
      expect(answer).not.toContain('evil.invalid')
      expect(answer).not.toMatch(/access-control-allow-origin/i)
    }
    const after = memoryOf(service)
    console.log(`memory ${before} MB before, ${after} MB after`)
    expect(after - before).toBeLessThan(memoryMb)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  })
})
