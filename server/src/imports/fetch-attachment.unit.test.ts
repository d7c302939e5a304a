import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { TestDns } from '../../test/dns.ts'
import { fetching, serve } from '../../test/fetching.ts'
import { type Config, readConfig } from '../config.ts'
import { fetchAttachment } from './fetch.ts'

const config: Config = { ...readConfig({}), fileBytes: 1000 }

function attachments(options: Parameters<typeof fetching>[0] = {}) {
  const tools = fetching(options)
  const stored: { content: Buffer; bytes: number }[] = []
  const sink = async (body: Readable, bytes: number) => {
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk)
    stored.push({ content: Buffer.concat(chunks), bytes })
  }
  const fetch = (url: string, key: string | null = null, sourceHost: string | null = null) =>
    fetchAttachment({ ...tools, config }, url, key, sourceHost, sink)
  return { ...tools, stored, fetch }
}

test('stores a file with its length, also if the server does not say it', verifies('import.no-ssrf'), async () => {
  const { fetch, stored } = attachments()
  const server = await serve((request, response) => {
    if (request.url === '/chunked') {
      response.write('ab')
      response.end('c')
    } else response.writeHead(200, { 'content-length': 3 }).end('abc')
  })
  expect(await fetch(`${server.url}/known`)).toEqual({ ok: true, bytes: 3 })
  expect(await fetch(`${server.url}/chunked`)).toEqual({ ok: true, bytes: 3 })
  expect(stored).toEqual([
    { content: Buffer.from('abc'), bytes: 3 },
    { content: Buffer.from('abc'), bytes: 3 },
  ])
})

/** Counts connections to loopback, on the ports that public addresses may use and another. */
async function loopback() {
  let arrivals = 0
  const ports: number[] = []
  for (const port of [8443, 0]) {
    const server = createServer((socket) => {
      arrivals++
      socket.destroy()
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    ports.push((server.address() as { port: number }).port)
    onTestFinished(() => void server.close())
  }
  return { arrivals: () => arrivals, other: ports[1] }
}

function countSockets() {
  let count = 0
  const opened = () => void count++
  subscribe('net.client.socket', opened)
  onTestFinished(() => void unsubscribe('net.client.socket', opened))
  return () => count
}

const forbidden = (port: number | undefined) => [
  `http://127.0.0.1:${port}/`,
  'https://127.0.0.1:8443/',
  'https://[::1]:8443/',
  'https://[::ffff:127.0.0.1]:8443/',
  'https://10.0.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'https://2130706433:8443/',
  'https://user@127.0.0.1:8443/',
  'file:///etc/passwd',
  'data:text/plain,x',
]
const blocked = { ok: false, reason: 'The address is not public.' }

describe('opens no socket to addresses that are not public', () => {
  test('directly', verifies('import.no-ssrf'), async () => {
    const { fetch, stored } = attachments({ allow: [] })
    const { arrivals, other } = await loopback()
    const sockets = countSockets()
    for (const url of [...forbidden(other), 'https://localhost:8443/']) expect(await fetch(url), url).toEqual(blocked)
    expect({ sockets: sockets(), arrivals: arrivals(), stored }).toEqual({ sockets: 0, arrivals: 0, stored: [] })
  })

  test('by a redirect', verifies('import.no-ssrf'), async () => {
    const { arrivals, other } = await loopback()
    const targets = forbidden(other)
    const server = await serve((request, response) => {
      response.writeHead(302, { location: targets[Number(request.url?.slice(1))] }).end()
    })
    const { fetch, stored } = attachments({ allow: [{ host: 'localhost', port: Number(server.host.split(':')[1]) }] })
    const sockets = countSockets()
    for (const [index, target] of targets.entries())
      expect(await fetch(`${server.url}/${index}`), target).toEqual(blocked)
    // Those to the redirecting server.
    expect({ sockets: sockets(), arrivals: arrivals(), stored }).toEqual({
      sockets: targets.length,
      arrivals: 0,
      stored: [],
    })
  })

  test('by DNS', verifies('import.no-ssrf'), async () => {
    const dns = await TestDns.start()
    onTestFinished(() => dns.stop())
    const { fetch, stored } = attachments({ allow: [], dnsServers: [dns.address] })
    const { arrivals } = await loopback()
    const answers = [
      { a: ['127.0.0.1'] },
      { a: ['93.184.215.14', '127.0.0.1'] },
      { aaaa: ['::1'] },
      { a: ['169.254.169.254'] },
      { a: ['10.1.2.3'] },
    ]
    for (const [index, answer] of answers.entries()) {
      dns.answer(`files${index}.test`, answer)
      expect(await fetch(`https://files${index}.test:8443/a`), JSON.stringify(answer)).toEqual(blocked)
    }
    expect({ arrivals: arrivals(), stored }).toEqual({ arrivals: 0, stored: [] })
  })
})

test('the key is sent to the host of the source only', verifies('import.key-only-to-source'), async () => {
  const elsewhere = await serve((_, response) => response.end('file'))
  const source = await serve((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/here' }).end()
    else if (request.url === '/away') response.writeHead(307, { location: `${elsewhere.url}/file` }).end()
    else response.end('file')
  })
  const { fetch } = attachments()
  for (const url of [`${source.url}/moved`, `${source.url}/away`, `${elsewhere.url}/direct`])
    expect(await fetch(url, 'the-key', source.host)).toEqual({ ok: true, bytes: 4 })
  const authorization = 'Bearer the-key'
  expect(source.requests).toEqual([
    { url: '/moved', authorization },
    { url: '/here', authorization },
    { url: '/away', authorization },
  ])
  expect(elsewhere.requests).toEqual([
    { url: '/file', authorization: undefined },
    { url: '/direct', authorization: undefined },
  ])
})

describe('answers why a file was not fetched', () => {
  const answers: [string, Parameters<typeof serve>[0], string][] = [
    ['404', (_, response) => response.writeHead(404).end(), 'The server answered 404.'],
    [
      'a login page',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>'),
      'The server answered with a web page, not with the file.',
    ],
    [
      'a declared length beyond the limit',
      (_, response) => response.writeHead(200, { 'content-length': 1001 }).end('x'.repeat(1001)),
      'The file is larger than 1000 bytes.',
    ],
    [
      'content beyond the limit',
      (_, response) => {
        response.write('x'.repeat(500))
        response.end('x'.repeat(501))
      },
      'The file is larger than 1000 bytes.',
    ],
    [
      'redirects without end',
      (_, response) => response.writeHead(302, { location: '/' }).end(),
      'The server redirects more than 5 times.',
    ],
    ['a redirect without an address', (_, response) => response.writeHead(302).end(), 'The server answered 302.'],
    [
      'a connection that breaks',
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('x')
        setTimeout(() => response.destroy(), 10)
      },
      'The connection failed.',
    ],
  ]
  test.each(answers)('%s', async (_, answer, reason) => {
    const server = await serve(answer)
    const { fetch, stored } = attachments()
    expect(await fetch(server.url)).toEqual({ ok: false, reason })
    expect(stored).toEqual([])
  })

  test('not a URL', async () => {
    expect(await attachments().fetch('screen.png')).toEqual({ ok: false, reason: 'The address is not a URL.' })
  })

  test('nothing for a file of exactly the limit', async () => {
    const server = await serve((_, response) => response.end('x'.repeat(1000)))
    expect(await attachments().fetch(server.url)).toEqual({ ok: true, bytes: 1000 })
  })

  test('a server that sends nothing for 30 seconds', async () => {
    const server = await serve((_, response) => response.writeHead(200, { 'content-length': 10 }).write('x'))
    const { fetch, clock } = attachments()
    const done = fetch(server.url)
    while (server.requests.length === 0) await setImmediate()
    let outcome: unknown
    void done.then((result) => {
      outcome = result
    })
    while (outcome === undefined) {
      clock.advance({ seconds: 30 })
      await setImmediate()
    }
    expect(outcome).toEqual({ ok: false, reason: 'The server took too long.' })
  })
})

test('an error of the storage is thrown', async () => {
  const server = await serve((_, response) => response.writeHead(200, { 'content-length': 3 }).end('abc'))
  const tools = fetching()
  const full = async () => {
    throw new Error('disk full')
  }
  await expect(fetchAttachment({ ...tools, config }, server.url, null, null, full)).rejects.toThrow('disk full')
})
