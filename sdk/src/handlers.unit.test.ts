import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import express from 'express'
import fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../server/test/loopback-server.ts'
import { type Agent, createAgent } from './agent.ts'
import { createInstaller, nodeHandler } from './oauth.ts'
import { memoryTokens } from './tokens.ts'
import { signWebhook } from './webhooks.ts'

const secret = 'pwhsec_test'

function scene() {
  const pinged: string[] = []
  const errors: unknown[] = []
  const agent = createAgent({
    baseUrl: 'http://127.0.0.1:1',
    webhookSecret: secret,
    token: 'svc_at_test',
    workspaceId: 'wsp_test',
    onCreated: () => {},
    onPing: ({ data }) => void pinged.push(data.label),
    onError: (error) => void errors.push(error),
  })
  return { agent, pinged, errors }
}

let events = 0
/** Spaces and escapes that parsing and serializing would change. */
function ping() {
  const { body, headers } = signWebhook(
    { type: 'Ping', action: 'create', data: { event_id: `evt_${++events}`, webhook_id: 'whk_1', label: 'Ü' } },
    { secret },
  )
  return { method: 'POST', body, headers }
}

const serve = async (listener: RequestListener) => `http://127.0.0.1:${await listen(createServer(listener))}`

const servers: Record<string, (agent: Agent) => Promise<string>> = {
  'node:http': async (agent) => `${await serve((request, response) => void agent.node(request, response))}/webhook`,
  'Express, first': async (agent) => {
    const app = express()
    app.post('/webhook', agent.express())
    app.use(express.json())
    return `${await serve(app)}/webhook`
  },
  'Express after express.raw()': async (agent) => {
    const app = express()
    app.post('/webhook', express.raw({ type: 'application/json' }), agent.express())
    return `${await serve(app)}/webhook`
  },
  'Express after express.json() that keeps the bytes': async (agent) => {
    const app = express()
    const keep = (request: { rawBody?: Buffer }, _: unknown, bytes: Buffer) => {
      request.rawBody = bytes
    }
    app.use(express.json({ verify: keep }))
    app.post('/webhook', agent.express())
    return `${await serve(app)}/webhook`
  },
  Fastify: async (agent) => {
    const app = fastify()
    app.post('/other', async (request) => request.body)
    app.register(agent.fastify, { path: '/webhook' })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    onTestFinished(() => app.close())
    const other = await fetch(`${url}/other`, {
      method: 'POST',
      body: '{"parsed":true}',
      headers: { 'content-type': 'application/json' },
    })
    expect(await other.json()).toEqual({ parsed: true })
    return `${url}/webhook`
  },
}

describe.each(Object.entries(servers))('on %s', (_, start) => {
  test('accepts a delivery once and refuses a forged one', async () => {
    const { agent, pinged, errors } = scene()
    const url = await start(agent)
    const delivery = ping()
    const answers = [await fetch(url, delivery), await fetch(url, delivery)]
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
      { outcome: 'accepted' },
      { outcome: 'duplicate' },
    ])
    const forged = ping()
    forged.headers['svc-signature'] = '0'.repeat(64)
    expect((await fetch(url, forged)).status).toBe(401)
    await agent.settled()
    expect(pinged).toEqual(['Ü'])
    expect(errors).toEqual([])
  })
})

test('reports what to do when mounted after express.json()', async () => {
  const { agent, pinged, errors } = scene()
  const app = express()
  app.use(express.json())
  app.post('/webhook', agent.express())
  const answer = await fetch(`${await serve(app)}/webhook`, ping())
  expect(answer.status).toBe(500)
  expect(errors).toMatchObject([{ message: expect.stringContaining('express.raw') }])
  expect(pinged).toEqual([])
})

test('fetch answers before the work starts and passes it to waitUntil', async () => {
  const { agent, pinged } = scene()
  const work: Promise<unknown>[] = []
  const { body, ...rest } = ping()
  const request = new Request('https://robots.example.com/', { ...rest, body: Buffer.from(body) })
  const answer = await agent.fetch(request, { waitUntil: (promise) => void work.push(promise) })
  expect(answer.status).toBe(200)
  expect(pinged).toEqual([])
  await Promise.all(work)
  expect(pinged).toEqual(['Ü'])
})

test('refuses methods other than POST and does not read a huge body', async () => {
  const { agent } = scene()
  const url = await serve((request, response) => void agent.node(request, response))
  expect((await fetch(url)).status).toBe(405)
  const huge = await fetch(url, { method: 'POST', body: new Uint8Array(8 * 1024 * 1024 + 1) }).catch(() => null)
  expect(huge === null || huge.status === 413).toBe(true)
})

test('fetch refuses a huge body and one that was already read', async () => {
  const { agent, pinged, errors } = scene()
  let sent = 0
  const endless = new ReadableStream({
    pull(stream) {
      sent += 1024 * 1024
      stream.enqueue(new Uint8Array(1024 * 1024))
    },
  })
  const request = (body: ReadableStream | string) =>
    new Request('https://robots.example.com/', { method: 'POST', body, duplex: 'half' } as RequestInit)
  expect((await agent.fetch(request(endless))).status).toBe(413)
  expect(sent).toBeLessThan(16 * 1024 * 1024)
  const read = request('{}')
  await read.text()
  expect((await agent.fetch(read)).status).toBe(500)
  expect(errors).toMatchObject([
    { message: expect.stringContaining('larger') },
    { message: expect.stringContaining('read') },
  ])
  expect(pinged).toEqual([])
})

describe('the server of the README', () => {
  const installer = createInstaller({
    baseUrl: 'http://127.0.0.1:1',
    clientId: 'c',
    clientSecret: 's',
    redirectUri: 'http://127.0.0.1/callback',
    scopes: ['read'],
    store: memoryTokens(),
    installSecret: 'let me in',
  })
  const start = async () => {
    const { agent } = scene()
    const url = await serve((request, response) => {
      if (request.url?.startsWith('/install')) return nodeHandler(installer.start)(request, response)
      if (request.url?.startsWith('/callback')) return nodeHandler(installer.callback)(request, response)
      if (request.url?.startsWith('/broken')) return nodeHandler(async () => Response.error())(request, response)
      return agent.node(request, response)
    })
    /** Sends exactly these lines, which well-behaved clients would not send. */
    const send = async (...lines: string[]) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write([...lines, 'Connection: close', '', ''].join('\r\n'))
      return text(socket)
    }
    return { url, send }
  }

  test.each([
    ['a method that fetch does not know', 405, ['TRACE /install HTTP/1.1', 'Host: x']],
    ['another', 405, ['TRACE /callback HTTP/1.1', 'Host: x']],
    ['a POST', 405, ['POST /install HTTP/1.1', 'Host: x', 'Content-Length: 0']],
    ['a name that is no address', 403, ['GET /install HTTP/1.1', 'Host: a b[']],
    ['a name that is empty', 403, ['GET /install HTTP/1.1', 'Host:']],
    ['a path that looks like a host', 400, ['GET /callback//[ HTTP/1.1', 'Host: x']],
    ['a query that cannot be decoded', 403, ['GET /install?secret=%E0%A4%A HTTP/1.1', 'Host: x']],
    ['a cookie that opens nothing', 400, ['GET /callback HTTP/1.1', 'Host: x', 'Cookie: baton_install=\xff%']],
    ['an address in place of a path', 405, ['GET http://[/ HTTP/1.1', 'Host: x']],
    ['a star', 405, ['OPTIONS * HTTP/1.1', 'Host: x']],
    ['what its handler cannot answer', 500, ['GET /broken HTTP/1.1', 'Host: x']],
  ])('answers %s with %i and keeps running', async (_, status, lines) => {
    const { url, send } = await start()
    expect(await send(...lines)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    const started = await fetch(`${url}/install?secret=let+me+in`, { redirect: 'manual' })
    expect(started.status).toBe(302)
  })
})

test('throws without a secret or tokens', () => {
  const options = { baseUrl: 'http://127.0.0.1:1', onCreated: () => {} }
  expect(() => createAgent({ ...options, webhookSecret: '', token: 't', workspaceId: 'w' })).toThrow(
    'secret is missing',
  )
  expect(() => createAgent({ ...options, webhookSecret: secret })).toThrow('clientSecret')
  expect(() => createAgent({ ...options, webhookSecret: secret, token: 't' })).toThrow('workspaceId')
})
