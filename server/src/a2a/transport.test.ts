import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { a2aScene, eventually, inWords } from '../../test/a2a.ts'
import { A2aServer, type AgentCall, artifactUpdate, statusUpdate, task } from '../../test/a2a-server.ts'
import { done } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { A2aRunner } from './runner.ts'

let server: A2aServer
beforeAll(async () => {
  server = await A2aServer.start()
})
beforeEach(() => server.reset())
afterAll(() => server.stop())

const withoutStreaming = { capabilities: { streaming: false } }
const messageIds = () =>
  server.calls.filter(({ method }) => method.startsWith('Send')).map(({ params }) => params.message.messageId)

test('calls only through the guarded connection', verifies('a2a.guarded-calls'), async ({ app }) => {
  const scene = await a2aScene(app, server)
  server.on.SendStreamingMessage = ({ response }) =>
    response.writeHead(307, { location: `${server.origin}/elsewhere` }).end()
  const session = await scene.delegated()
  process.env.http_proxy = process.env.HTTPS_PROXY = 'http://localhost:9'
  try {
    await app.deliver()
  } finally {
    delete process.env.http_proxy
    delete process.env.HTTPS_PROXY
  }
  expect(server.calls).toHaveLength(1)
  expect((await scene.deliveries())[0]).toMatchObject({
    status: 'failed',
    attempts: [{ reason: 'redirect', http_status: 307 }],
  })
  expect((await session.activities()).map(inWords)).toEqual([expect.stringMatching(/^error a2a_error /)])
  // The name resolves to a private address by now.
  const url = 'https://private.localhost.localdomain/a2a'
  await app.ctx.db.run(sql`
    update a2a_apps set interface = interface || ${JSON.stringify({ url })}::jsonb where app_id = ${scene.app.id}`)
  await scene.delegated()
  await app.deliver()
  expect((await scene.deliveries())[0]?.attempts).toMatchObject([{ reason: 'blocked_destination' }])
  expect(server.calls).toHaveLength(1)
})

test('speaks HTTP+JSON, and protocol 0.3', verifies('a2a.versions'), async ({ app }) => {
  server.binding = 'HTTP+JSON'
  server.on.SendStreamingMessage = (call) => {
    const stream = call.stream()
    stream.send({ task: task('t1', 'WORKING') }, statusUpdate('t1', 'COMPLETED', 'Over REST.'))
    stream.end()
  }
  const overRest = await (await a2aScene(app, server)).delegated()
  await app.deliver()
  await overRest.shows('response Over REST.')

  server.reset()
  server.card = {
    protocolVersion: '0.3.0',
    url: `${server.origin}/a2a`,
    preferredTransport: 'JSONRPC',
    supportedInterfaces: undefined,
  }
  server.on['message/stream'] = (call) => {
    const message = { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'As before.' }] }
    const stream = call.stream()
    stream.send({ kind: 'task', id: 't1', contextId: 'c', status: { state: 'completed', message } })
    stream.end()
  }
  const scene = await a2aScene(app, server)
  expect(scene.app.a2a.interface.protocol_version).toMatch(/^0\.3/)
  const withOld = await scene.delegated()
  await app.deliver()
  await withOld.shows('response As before.')
})

test(
  'lists each message with its attempts, and holds it while disabled',
  verifies('a2a.delivery-record'),
  async ({ app }) => {
    const scene = await a2aScene(app, server)
    server.on.SendStreamingMessage = (call) => {
      const stream = call.stream()
      stream.send({ task: task('t1', 'COMPLETED', 'Done.') })
      stream.end()
    }
    await done(scene.owner.post(`${scene.path}/webhook/disable`))
    expect(
      (await scene.owner.put(`/issues/${(await newIssue(scene)).id}`, { delegate_id: scene.agentId })).status,
    ).toBe(422)
    await done(scene.owner.post(`${scene.path}/webhook/enable`))
    const session = await scene.delegated()
    await done(scene.owner.post(`${scene.path}/webhook/disable`))
    await app.deliver()
    expect(server.calls).toEqual([])
    expect(await scene.deliveries()).toMatchObject([{ status: 'pending', held: true, attempts: [] }])
    await done(scene.owner.post(`${scene.path}/webhook/enable`))
    await app.deliver()
    await session.shows('response Done.')
    expect(await scene.deliveries()).toMatchObject([
      {
        type: 'AgentSessionEvent',
        action: 'created',
        status: 'succeeded',
        attempts: [{ number: 1, http_status: 200, reason: null }],
      },
    ])
  },
)

const newIssue = (scene: Awaited<ReturnType<typeof a2aScene>>) =>
  done(scene.member.post('/issues', { title: 'Other', team_id: scene.team.id }))

test(
  'retries what the agent did not take, and gives up after the last attempt',
  verifies('a2a.retry-when-not-taken'),
  async ({ app }) => {
    const scene = await a2aScene(app, server)
    server.on.SendStreamingMessage = ({ response }) => response.writeHead(503).end()
    const session = await scene.delegated()
    const { retryDelaysMs } = app.ctx.config
    await app.deliver()
    for (const [index, delay] of retryDelaysMs.entries()) {
      expect((await scene.deliveries())[0]).toMatchObject({ status: 'pending' })
      expect((await session.activities()).map(inWords)).toEqual([])
      if (index === 1) server.on.SendStreamingMessage = ({ response }) => response.writeHead(429).end()
      app.clock.advance({ milliseconds: delay })
      await app.deliver()
    }
    expect(messageIds()).toHaveLength(retryDelaysMs.length + 1)
    expect(new Set(messageIds()).size).toBe(1)
    expect((await scene.deliveries())[0]).toMatchObject({ status: 'failed' })
    expect((await session.activities()).map(inWords)).toEqual([expect.stringMatching(/^error a2a_unreachable /)])
  },
)

test('retries after a refused connection', verifies('a2a.retry-when-not-taken'), async ({ app }) => {
  const gone = await A2aServer.start()
  const scene = await a2aScene(app, gone)
  await gone.stop()
  const session = await scene.delegated()
  await app.deliver()
  expect((await scene.deliveries())[0]).toMatchObject({ status: 'pending', attempts: [{ reason: 'network_error' }] })
  expect(await session.activities()).toEqual([])
})

test(
  'looks for the task after an unknown outcome, and never sends again by itself',
  verifies('a2a.unknown-outcome'),
  async ({ app }) => {
    const scene = await a2aScene(app, server)
    let sent: AgentCall | undefined
    server.on.SendStreamingMessage = (call) => {
      sent = call
      call.response.destroy()
    }
    server.on.ListTasks = (call) =>
      call.reply({
        tasks: [
          task('other', 'WORKING'),
          task('t1', 'COMPLETED', 'Found.', { history: [{ ...sent?.params.message }] }),
        ],
        nextPageToken: '',
        pageSize: 50,
        totalSize: 2,
      })
    const found = await scene.delegated()
    await app.deliver()
    await found.shows('response Found.')
    expect((await scene.deliveries())[0]).toMatchObject({ status: 'succeeded' })

    server.on.SendStreamingMessage = () => {}
    server.on.ListTasks = (call) => call.reply({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 })
    const lost = await scene.delegated()
    const delivering = app.deliver()
    await server.called('SendStreamingMessage', 2)
    app.clock.advance({ seconds: 20 })
    await delivering
    expect((await scene.deliveries())[0]).toMatchObject({ status: 'failed', attempts: [{ reason: 'timeout' }] })
    await lost.shows(expect.stringMatching(/^error a2a_outcome_unknown /) as never)
    app.clock.advance({ days: 1 })
    await app.deliver()
    expect(server.of('SendStreamingMessage')).toHaveLength(2)
  },
)

test('gives up at once if the agent refuses the credential', verifies('a2a.unauthorized'), async ({ app }) => {
  const scene = await a2aScene(app, server)
  for (const status of [401, 403]) {
    server.on.SendStreamingMessage = ({ response }) => response.writeHead(status).end()
    const session = await scene.delegated()
    await app.deliver()
    expect((await scene.deliveries())[0]).toMatchObject({ status: 'failed', attempts: [{ http_status: status }] })
    expect((await session.activities()).map(inWords)).toEqual([expect.stringMatching(/^error a2a_unauthorized /)])
  }
  app.clock.advance({ days: 1 })
  await app.deliver()
  expect(server.calls).toHaveLength(2)
})

test('resumes a broken stream, and polls after three failures', verifies('a2a.stream-lost'), async ({ app }) => {
  const scene = await a2aScene(app, server)
  server.on.SendStreamingMessage = (call) => {
    const stream = call.stream()
    stream.send({ task: task('t1', 'WORKING') })
    setImmediate(() => stream.break())
  }
  server.on.SubscribeToTask = (call) => {
    const stream = call.stream()
    stream.send(statusUpdate('t1', 'COMPLETED', 'Resumed.'))
    stream.end()
  }
  const resumed = await scene.delegated()
  await app.deliver()
  await resumed.shows('response Resumed.')
  expect(server.of('SubscribeToTask')).toHaveLength(1)

  server.on.SubscribeToTask = ({ response }) => response.destroy()
  server.on.GetTask = (call) => call.reply(task('t1', 'COMPLETED', 'Polled.'))
  const polled = await scene.delegated()
  await app.deliver()
  await eventually(async () => {
    app.clock.advance({ seconds: 2 })
    expect(server.of('GetTask')).toHaveLength(1)
  })
  await polled.shows('response Polled.')
  expect(server.of('SubscribeToTask').length).toBeLessThanOrEqual(1 + 3)
})

test(
  'polls an agent without streaming, after 2 seconds and up to 30',
  verifies('a2a.polling'),
  async ({ startApp }) => {
    // With a clock that nothing else uses.
    const app = await startApp()
    server.card = withoutStreaming
    const scene = await a2aScene(app, server)
    const working = task('t1', 'WORKING')
    server.on.SendMessage = (call) => call.reply({ task: working })
    server.on.GetTask = (call) => call.reply(working)
    const session = await scene.delegated()
    await app.deliver()
    expect(server.of('SendMessage')[0]?.params.configuration.returnImmediately).toBe(true)
    const pauses: number[] = []
    for (let poll = 1; poll <= 9; poll++) {
      // While a call is in progress, the clock waits for its deadline of 20 seconds.
      await eventually(async () => expect([20_000, Number.POSITIVE_INFINITY]).not.toContain(app.clock.nextInMs))
      pauses.push(app.clock.nextInMs / 1000)
      app.clock.advance({ milliseconds: app.clock.nextInMs })
      await server.called('GetTask', poll)
    }
    expect(pauses[0]).toBe(2)
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
    expect(pauses.at(-1)).toBe(30)
    server.on.GetTask = (call) => call.reply(task('t1', 'COMPLETED', 'Ready.'))
    await eventually(async () => expect([20_000, Number.POSITIVE_INFINITY]).not.toContain(app.clock.nextInMs))
    app.clock.advance({ seconds: 30 })
    await session.shows('response Ready.')
  },
)

test('reports a task without news for 24 hours as lost', async ({ app }) => {
  server.card = withoutStreaming
  const scene = await a2aScene(app, server)
  server.on.SendMessage = (call) => call.reply({ task: task('t1', 'WORKING') })
  const working = task('t1', 'WORKING')
  server.on.GetTask = (call) => call.reply(working)
  const session = await scene.delegated()
  await app.deliver()
  await eventually(async () => {
    app.clock.advance({ hours: 5 })
    expect((await session.activities()).map(inWords)).toContainEqual(expect.stringMatching(/^error a2a_lost /))
  })
  expect((await scene.tasks())[0]?.state).toBe('unknown')
})

test('another worker resumes when one dies, and repeats nothing', verifies('a2a.worker-dies'), async ({ app }) => {
  server.card = withoutStreaming
  const scene = await a2aScene(app, server)
  server.on.SendMessage = (call) => call.reply({ task: task('t1', 'WORKING', 'Begun') })
  server.on.GetTask = (call) => call.reply(task('t1', 'COMPLETED', 'Finished.'))
  const session = await scene.delegated()
  await app.deliver()
  await eventually(async () => expect((await session.activities()).map(inWords)).toEqual(['thought Begun']))
  await app.a2a.kill()
  const other = new A2aRunner(app.ctx, app.door)
  await other.renew()
  app.clock.advance({ seconds: 40 })
  expect(server.of('GetTask')).toEqual([])
  await other.renew()
  await eventually(async () => {
    app.clock.advance({ seconds: 2 })
    expect(server.of('GetTask')).toHaveLength(1)
  })
  await session.shows('response Finished.')
  expect((await session.activities()).map(inWords)).toEqual(['thought Begun', 'response Finished.'])
  await other.kill()
})

test(
  'a message that was being sent when its worker died is not sent again',
  verifies('a2a.worker-dies'),
  async ({ app }) => {
    const scene = await a2aScene(app, server)
    const session = await scene.delegated()
    const [delivery] = await scene.deliveries()
    const now = app.clock.now()
    await app.ctx.db.run(sql`
    insert into a2a_sessions (session_id, workspace_id, app_id) values (${session.id}, ${scene.id}, ${scene.app.id})`)
    await app.ctx.db.run(sql`
    insert into a2a_messages (delivery_id, session_id, workspace_id, attempt, started_at, give_up_at)
    values (${delivery?.id}, ${session.id}, ${scene.id}, 1, ${now}, ${new Date(now.getTime() + 30_000)})`)
    server.on.ListTasks = (call) => call.reply({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 })
    await app.deliver()
    expect(server.calls).toEqual([])
    app.clock.advance({ seconds: 31 })
    await app.deliver()
    expect(server.calls.map(({ method }) => method)).toEqual(['ListTasks'])
    await session.shows(expect.stringMatching(/^error a2a_outcome_unknown /) as never)
  },
)

test(
  'stops reading an answer or stream that is too long, and truncates texts',
  verifies('a2a.limits'),
  async ({ app }) => {
    const scene = await a2aScene(app, server)
    server.on.GetTask = (call) => call.reply(task(call.params.id, 'COMPLETED', 'Small.'))
    const afterwards = async (events: unknown[]) => {
      server.on.SendStreamingMessage = (call) => {
        const stream = call.stream()
        stream.send({ task: task('t1', 'WORKING') }, ...events)
      }
      const session = await scene.delegated()
      await app.deliver()
      await eventually(async () => {
        app.clock.advance({ seconds: 2 })
        expect((await session.activities()).map(inWords)).toContain('response Small.')
      })
    }
    const event = (bytes: number) => statusUpdate('t1', 'WORKING', 'x'.repeat(bytes))
    await afterwards([event(1024 * 1024)])
    await afterwards(Array.from({ length: 20 }, () => event(500_000)))
    const parts = [{ text: 'z'.repeat(300_000) }]
    server.on.SendStreamingMessage = (call) => {
      const stream = call.stream()
      stream.send(
        { task: task('t9', 'WORKING') },
        artifactUpdate('t9', { artifactId: 'a', name: 'Long', parts }),
        statusUpdate('t9', 'COMPLETED', 'Made.'),
      )
      stream.end()
    }
    const session = await scene.delegated()
    await app.deliver()
    await eventually(async () => expect((await session.get()).state).toBe('complete'))
    const [action, response] = (await session.activities()).filter(({ ephemeral }) => !ephemeral).map(inWords)
    expect(action).toMatch(/^action Artifact Long z+\s+\[Truncated\]$/)
    expect(response).toBe('response Made.')
  },
)

test('deletes messages with the age of deliveries', async ({ app }) => {
  const scene = await a2aScene(app, server)
  server.on.SendStreamingMessage = (call) => call.stream().send({ task: task('t1', 'COMPLETED', 'Done.') })
  await scene.delegated()
  await app.deliver()
  const [delivery] = await scene.deliveries()
  const stored = () => app.ctx.db.row(sql`select 1 from a2a_messages where delivery_id = ${delivery?.id}`)
  app.clock.advance({ days: 30 })
  await sweep(app.ctx)
  expect(await stored()).toBeDefined()
  app.clock.advance({ seconds: 1 })
  await sweep(app.ctx)
  expect(await stored()).toBeUndefined()
})
