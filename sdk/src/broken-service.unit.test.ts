import { createServer, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { TestClock } from '../../server/test/clock.ts'
import { listen } from '../../server/test/loopback-server.ts'
import { createAgent } from './agent.ts'
import { BatonClient } from './client.ts'
import type { AgentSession } from './operations.ts'
import { Session } from './session.ts'
import { signWebhook } from './webhooks.ts'

const secret = 'pwhsec_test'
const json = { 'content-type': 'application/json' }
type Answer = (response: ServerResponse) => void

const invalidAnswers: [string, Answer][] = [
  ['an empty object', (response) => response.writeHead(200, json).end('{}')],
  ['wrong types', (response) => response.writeHead(200, json).end('{"data":5,"ended_at":{},"has_more":"yes"}')],
  ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Back soon</h1>')],
  [
    'half an answer',
    (response) =>
      response
        .writeHead(200, { ...json, 'content-length': '9' })
        .end('{"d')
        .destroy(),
  ],
  ['nothing at all', (response) => response.destroy()],
]

/** An agent whose service answers every call in this way, and the events it received. */
async function scene(answer: Answer) {
  const port = await listen(
    createServer((request, response) => void request.resume().on('end', () => answer(response))),
  )
  const baseUrl = `http://127.0.0.1:${port}`
  const clock = new TestClock()
  const received: string[] = []
  const errors: unknown[] = []
  const agent = createAgent({
    baseUrl,
    clock,
    webhookSecret: secret,
    token: 'svc_at_test',
    workspaceId: 'wsp_test',
    retries: { attempts: 1 },
    onCreated: () => void received.push('created'),
    onPrompted: ({ prompt }) => void received.push(prompt),
    onPing: () => void received.push('ping'),
    onError: (error) => void errors.push(error),
  })
  const send = (type: 'AgentSessionEvent' | 'Ping', action: 'created' | 'prompted' | 'create', data: object) => {
    const { body, headers } = signWebhook({ type, action, data }, { secret, now: clock.now() })
    return agent.receive({ rawBody: body, headers })
  }
  const session = { id: 'sess_1', issue: null }
  const created = { event_id: 'evt_1', agent_session: session, prompt_context: 'Begin.' }
  const written = (seq: number, body: string) => ({
    event_id: `evt_p${seq}`,
    agent_session: session,
    agent_activity: { seq, signal: null, signal_metadata: null, content: { type: 'prompt', body } },
  })
  return { agent, baseUrl, clock, received, errors, send, session, created, written }
}

test.each(invalidAnswers)('an agent keeps working when its service answers %s', async (_, answer) => {
  const { agent, received, send, created, written } = await scene(answer)
  await send('AgentSessionEvent', 'created', created)
  await agent.settled()
  await send('AgentSessionEvent', 'prompted', written(2, 'Two.'))
  await send('AgentSessionEvent', 'prompted', written(3, 'Three.'))
  await agent.settled()
  expect(received).toEqual(['created', 'Two.', 'Three.'])
})

test('reports signed events with missing fields and processes others', async () => {
  const { agent, received, errors, send, session, created } = await scene((response) => response.destroy())
  const wrong = [{}, { agent_session: 5 }, { agent_session: session, agent_activity: { seq: 'x' } }]
  await send('AgentSessionEvent', 'created', created)
  for (const [n, data] of wrong.entries()) {
    expect(await send('AgentSessionEvent', 'prompted', { event_id: `evt_w${n}`, ...data })).toMatchObject({
      status: 200,
    })
  }
  await agent.settled()
  expect(errors).toHaveLength(wrong.length)
  await send('Ping', 'create', { event_id: 'evt_ping' })
  await agent.settled()
  expect(received).toEqual(['created', 'ping'])
})

test('stops reading activities when the service returns nothing new', async () => {
  let asked = 0
  const { baseUrl } = await scene((response) => {
    asked++
    response.writeHead(200, json).end('{"data":[],"has_more":true,"last_seq":0}')
  })
  const session = new Session({
    session: { id: 'sess_1' } as AgentSession,
    client: new BatonClient({ baseUrl, token: 't' }),
    installationId: 'ins_1',
    signal: new AbortController().signal,
    prompt: '',
  })
  expect(await session.activities()).toEqual([])
  expect(asked).toBe(1)
})
