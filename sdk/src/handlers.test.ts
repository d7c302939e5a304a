import { createServer, type RequestListener } from 'node:http'
import express from 'express'
import fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../server/test/loopback-server.ts'
import { type Agent, createAgent } from './agent.ts'
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
/** Spaces and escapes that would not survive being parsed and written again. */
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
  test('a delivery is taken once and a forged one refused', async () => {
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

test('Express after express.json() fails loudly and says what to do', async () => {
  const { agent, pinged, errors } = scene()
  const app = express()
  app.use(express.json())
  app.post('/webhook', agent.express())
  const answer = await fetch(`${await serve(app)}/webhook`, ping())
  expect(answer.status).toBe(500)
  expect(errors).toMatchObject([{ message: expect.stringContaining('express.raw') }])
  expect(pinged).toEqual([])
})

test('fetch answers before the work begins, and gives the work to waitUntil', async () => {
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

test('anything but POST is not for it, and a huge body is not read', async () => {
  const { agent } = scene()
  const url = await serve((request, response) => void agent.node(request, response))
  expect((await fetch(url)).status).toBe(405)
  const huge = await fetch(url, { method: 'POST', body: new Uint8Array(8 * 1024 * 1024 + 1) }).catch(() => null)
  expect(huge === null || huge.status === 413).toBe(true)
})

test('an agent that lacks its secret or its tokens does not start', () => {
  const options = { baseUrl: 'http://127.0.0.1:1', onCreated: () => {} }
  expect(() => createAgent({ ...options, webhookSecret: '', token: 't', workspaceId: 'w' })).toThrow(
    'secret is missing',
  )
  expect(() => createAgent({ ...options, webhookSecret: secret })).toThrow('clientSecret')
  expect(() => createAgent({ ...options, webhookSecret: secret, token: 't' })).toThrow('workspaceId')
})
