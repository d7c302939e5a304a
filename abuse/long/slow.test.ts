import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ServiceProcess } from '../../server/test/service-process.ts'
import { Neighbour } from '../neighbour.ts'
import { memoryOf, socketsOf, withService } from '../service.ts'
import { head, Line } from '../sockets.ts'

/** Much more than on a quiet machine, much less than what an unbounded queue would make of it. */
const answeredWithinMs = 5000
/** For all attacks together, over what it had before. */
const memoryMb = 400
/** After that the last of them has been cut off: Node looks at an unread answer each minute, and cuts off what has not moved since. */
const patienceMs = 150_000

async function member(service: ServiceProcess) {
  const person = { email: 'owner@example.com', password: 'a password', name: 'Owner' }
  const { token } = await service.call('POST', '/auth/sign-up', person)
  const workspace = await service.call('POST', '/workspaces', { name: 'Acme' }, { authorization: `Bearer ${token}` })
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspace.id as string }
  return { headers, lines: Object.entries(headers).map(([name, value]) => `${name}: ${value}`) }
}

test('whoever is slow, silent or never reads is cut off, and nobody else notices', { timeout: 300_000 }, async () => {
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
        const line = new Line(service.url, { reads })
        line.say(opening)
        return line
      })
    const slowBody = ['Content-Type: application/json', 'Content-Length: 1000000']
    const trickled = [
      ...open(200, 'GET /healthz HTTP/1.1\r\nHost: a\r\n').map((line) => ({ line, drop: 'X-A: b\r\n' })),
      ...open(100, head('POST /api/v1/issues HTTP/1.1', ...slowBody, ...lines)).map((line) => ({ line, drop: ' ' })),
      ...open(100, head('POST /api/v1/auth/sign-in HTTP/1.1', ...slowBody)).map((line) => ({ line, drop: ' ' })),
    ]
    const unread = head('GET /api/v1/issues?limit=100 HTTP/1.1', ...lines).replace('Connection: close', 'X: y')
    const strangers = [
      ...open(300, ''),
      ...trickled.map(({ line }) => line),
      ...open(20, unread.repeat(3), false),
      ...open(100, head('GET /api/v1/openapi.json HTTP/1.1'), false),
    ]
    await sleep(1000)
    let worst = 0
    const started = Date.now()
    // Some of the neighbour's own come and go.
    while (socketsOf(service) > sockets + 5 && Date.now() - started < patienceMs) {
      for (const { line, drop } of trickled) line.say(drop)
      worst = Math.max(worst, memoryOf(service))
      await sleep(1000)
    }
    const besides = neighbour.take('beside the slow')
    const left = Math.max(0, socketsOf(service) - sockets - 5)
    const waited = Math.round((Date.now() - started) / 1000)
    console.log(
      `${strangers.length} connections, after ${waited} s ${left} of them; memory ${before} MB, at most ${worst} MB`,
    )
    for (const line of strangers) line.hangUp()

    for (let comers = 0; comers < 3000; comers++) new Line(service.url).hangUp()
    await sleep(1000)
    const after = neighbour.take('after 3,000 came and went')
    await neighbour.stop()
    expect(left).toBe(0)
    expect([besides.failed, after.failed]).toEqual([0, 0])
    expect(Math.max(besides.p99, after.p99)).toBeLessThan(answeredWithinMs)
    expect(worst - before).toBeLessThan(memoryMb)
  })
})

const json = 'Content-Type: application/json'
const zeros = gzipSync(Buffer.alloc(200_000_000))

/** What is sent, and what it is answered with. */
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
    ['a body that says it is long', post('Content-Length: 900000000'), /^HTTP\/1.1 413/],
    [
      'one that waits to be asked for',
      post('Content-Length: 900000000', 'Expect: 100-continue'),
      /^HTTP\/1.1 (413|100)/,
    ],
    [
      'a long body in chunks',
      `${post('Transfer-Encoding: chunked')}${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(40)}`,
      /^HTTP\/1.1 413/,
    ],
    [
      'a bomb',
      Buffer.concat([Buffer.from(post('Content-Encoding: gzip', `Content-Length: ${zeros.length}`)), zeros]),
      /^HTTP\/1.1 4(00|15)/,
    ],
    [
      'two ways to say how long',
      `${post('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      /^HTTP\/1.1 400/,
    ],
    ['two lengths', post('Content-Length: 5', 'Content-Length: 6'), /^HTTP\/1.1 400/],
    ['a negative length', post('Content-Length: -1'), /^HTTP\/1.1 400/],
    ['a length with a sign', post('Content-Length: +5'), /^HTTP\/1.1 400/],
    ['chunks under another name', post('Transfer-Encoding: xchunked'), /^HTTP\/1.1 (400|501)/],
    ['a chunk without end', `${post('Transfer-Encoding: chunked')}FFFFFFFFFFFFFFFFFF\r\n`, /^HTTP\/1.1 400/],
    ['a chunk of no number', `${post('Transfer-Encoding: chunked')}zz\r\n`, /^HTTP\/1.1 400/],
    [
      'a chunk with a long remark',
      `${post('Transfer-Encoding: chunked')}1;${'x'.repeat(20_000)}\r\n`,
      /^HTTP\/1.1 4(00|13)/,
    ],
    ['a space before the colon', get('X-A : b'), /^HTTP\/1.1 400/],
    ['NUL in a header', get('X-A: \0'), /^HTTP\/1.1 400/],
    ['a header on two lines', get('X-A: b\r\n c'), /^HTTP\/1.1 400/],
    ['a return alone', get('X-A: b\rX-C: d'), /^HTTP\/1.1 400/],
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01', /^HTTP\/1.1 400/],
    ['HTTP/2 at once', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1.1 (400|505)/],
    ['a method in small letters', head('get /healthz HTTP/1.1'), /^HTTP\/1.1 400/],
    ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n', /^HTTP\/1.1 200/],
    ['HTTP/1.0 without a host', 'GET /healthz HTTP/1.0\r\n\r\n', /^HTTP\/1.1 400/],
    ['a proxy', head('CONNECT evil.invalid:443 HTTP/1.1'), /^$|^HTTP\/1.1 4/],
    ['an address at somebody else', head('GET http://evil.invalid/api/v1/auth/me HTTP/1.1'), /^HTTP\/1.1 40/],
    [
      'a socket of the web',
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

test('what is too large or no HTTP is refused in our words, and costs nothing', { timeout: 120_000 }, async () => {
  await withService({}, async (service) => {
    const { lines } = await member(service)
    const before = memoryOf(service)
    for (const [name, bytes, status] of oversizedAndMalformed(lines)) {
      const line = new Line(service.url)
      line.say(bytes)
      const answer = await line.ending(3000)
      line.hangUp()
      expect({ name, answer }).toEqual({ name, answer: expect.stringMatching(status) })
      if (/^HTTP\/1.1 4/.test(answer)) {
        expect({ name, answer }).toEqual({ name, answer: expect.stringMatching(/x-content-type-options: nosniff/i) })
        expect({ name, answer }).toEqual({ name, answer: expect.stringMatching(/\{"(code|error)":"/) })
      }
    }
    const many = new Line(service.url)
    many.say(`${'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(199)}${head('GET /healthz HTTP/1.1')}`)
    expect((await many.ending(3000)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(200)
    // Whatever a browser or proxy claims about the host, addresses in answers are those we were configured with.
    for (const path of [
      '/',
      '/docs',
      '/api/v1/openapi.json',
      '/.well-known/oauth-authorization-server',
      '/mcp',
      '/api/v1/oauth/authorize',
    ]) {
      const line = new Line(service.url)
      line.say(
        `GET ${path} HTTP/1.1\r\nHost: evil.invalid\r\nX-Forwarded-Host: evil.invalid\r\nOrigin: https://evil.invalid\r\nConnection: close\r\n\r\n`,
      )
      const answer = await line.ending(5000)
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
