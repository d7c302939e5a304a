import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { type A2aScene, a2aScene, eventually, inWords } from '../../test/a2a.ts'
import {
  A2aServer,
  type AgentStream,
  agentMessage,
  artifactUpdate,
  status,
  statusUpdate,
  task,
} from '../../test/a2a-server.ts'
import { done } from '../../test/delegation.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { uuidOf } from '../ids.ts'
import { A2aRunner } from './runner.ts'

let server: A2aServer
beforeAll(async () => {
  server = await A2aServer.start()
})
beforeEach(() => server.reset())
afterAll(() => server.stop())

/** Delegates an issue to an agent whose stream the test writes. */
async function streaming(app: TestApp, fields = {}) {
  const scene = await a2aScene(app, server)
  return { scene, ...(await delegate(app, scene, fields)) }
}

async function delegate(app: TestApp, scene: A2aScene, fields = {}) {
  let opened: (stream: AgentStream) => void = () => {}
  const stream = new Promise<AgentStream>((resolve) => {
    opened = resolve
  })
  server.on.SendStreamingMessage = (call) => {
    const one = call.stream()
    one.send({ task: task(`t${server.of('SendStreamingMessage').length}`, 'SUBMITTED') })
    opened(one)
  }
  const session = await scene.delegated(fields)
  await app.deliver()
  return { session, stream: await stream }
}

test('sends the request and its context as one message', verifies('a2a.created-message'), async ({ app }) => {
  const { scene, session, stream } = await streaming(app)
  const [call] = server.calls
  const { message, configuration } = call?.params ?? {}
  const [delivery] = await scene.deliveries()
  const issue = (await session.get()).issue
  expect(message).toMatchObject({
    messageId: uuidOf(delivery?.id ?? ''),
    role: 'ROLE_USER',
    parts: [{ text: `${issue?.identifier} Door squeaks\n\nIt is loud.` }, { text: expect.stringContaining('<issue') }],
    metadata: {
      baton: { session_id: session.id, issue: { id: session.issue.id }, creator: { id: scene.member.user.id } },
    },
  })
  expect(message.contextId ?? '').toBe('')
  expect(configuration).toMatchObject({ returnImmediately: true })
  expect(call?.headers['a2a-version']).toBe('1.0')
  stream.end()
  await done(
    scene.member.post('/comments', {
      target_type: 'issue',
      target_id: (await done(scene.member.post('/issues', { title: 'Other', team_id: scene.team.id }))).id,
      text: `@[Echo](${scene.agentId}) look at this`,
    }),
  )
  await app.deliver()
  expect(server.of('SendStreamingMessage').at(-1)?.params.message.parts[0].text).toContain('look at this')
})

test('shows working updates as ephemeral thoughts', verifies('a2a.working-thought'), async ({ app }) => {
  const { session, stream } = await streaming(app)
  await eventually(async () => expect(await session.get()).toMatchObject({ state: 'active', unresponsive_since: null }))
  app.clock.advance({ seconds: 1 })
  stream.send(statusUpdate('t1', 'WORKING', 'Reading the code'))
  await eventually(async () => {
    const thoughts = (await session.activities()).filter(({ type }) => type === 'thought')
    expect(thoughts.map(inWords)).toEqual(['thought Accepted.', 'thought Reading the code'])
    expect(thoughts.every(({ ephemeral }) => ephemeral)).toBe(true)
  })
  app.clock.advance({ seconds: 10 })
  expect(await session.get()).toMatchObject({ state: 'active', unresponsive_since: null })
  app.clock.advance({ seconds: 1 })
  stream.send(statusUpdate('t1', 'WORKING'))
  await eventually(async () => expect((await session.activities()).map(inWords)).toContain('thought Working.'))
  stream.send(statusUpdate('t1', 'COMPLETED'))
  await session.shows('response Done.')
})

test(
  'ends with the text of the status, of the artifacts, or "Done."',
  verifies('a2a.completed-response'),
  async ({ app }) => {
    const scene = await a2aScene(app, server)
    const said = await delegate(app, scene)
    said.stream.send(statusUpdate('t1', 'COMPLETED', 'All fixed.'))
    await said.session.shows('response All fixed.')
    const made = await delegate(app, scene)
    made.stream.send(
      artifactUpdate('t2', { artifactId: 'a', name: 'Report', parts: [{ text: 'Oiled.' }] }),
      statusUpdate('t2', 'COMPLETED'),
    )
    await made.session.shows('action Artifact Report Oiled.', 'response Oiled.')
    server.on.SendStreamingMessage = (call) => {
      const stream = call.stream()
      stream.send({ message: agentMessage('Just so.', { contextId: 'ctx-9' }) })
      stream.end()
    }
    const plain = await scene.delegated()
    await app.deliver()
    await plain.shows('response Just so.')
    expect((await scene.tasks()).map(({ state }) => state)).toEqual(['completed', 'completed'])
  },
)

test('a first activity of any type completes the setup', async ({ app }) => {
  const scene = await a2aScene(app, server)
  const setup = () => done(scene.owner.get(`${scene.path}/setup`))
  server.on.SendStreamingMessage = (call) => {
    const stream = call.stream()
    stream.send({ message: agentMessage('Just so.', { contextId: 'ctx-9' }) })
    stream.end()
  }
  const session = await scene.delegated()
  expect(await setup()).toMatchObject({ first_thought_at: null })
  await app.deliver()
  await session.shows('response Just so.')
  const [answer] = (await session.activities()).filter(({ author }) => author.kind === 'app')
  expect(await setup()).toMatchObject({ first_thought_at: answer?.created_at })
})

test('shows artifacts as actions with links, and names files', verifies('a2a.artifact-action'), async ({ app }) => {
  const { session, stream } = await streaming(app)
  const part = (text: string) => [{ text }]
  stream.send(
    artifactUpdate('t1', { artifactId: 'a', name: 'Notes', parts: part('First, ') }, { lastChunk: false }),
    artifactUpdate(
      't1',
      { artifactId: 'a', name: 'Notes', parts: part('then see https://code.example.com/pull/7.') },
      { append: true },
    ),
    artifactUpdate('t1', {
      artifactId: 'b',
      name: 'Picture',
      parts: [{ raw: Buffer.from('12345').toString('base64'), filename: 'door.png', mediaType: 'image/png' }],
    }),
    artifactUpdate('t1', {
      artifactId: 'd',
      name: 'Plan',
      parts: [{ url: 'https://files.example.com/plan.pdf', filename: 'plan.pdf', mediaType: 'application/pdf' }],
    }),
    artifactUpdate('t1', { artifactId: 'c', name: 'Numbers', parts: [{ data: { doors: 2 } }] }),
    statusUpdate('t1', 'COMPLETED', 'Done so far'),
  )
  await session.shows(
    'action Artifact Notes First, then see https://code.example.com/pull/7.',
    'action Artifact Picture File door.png (image/png, 5 bytes)',
    'action Artifact Plan File plan.pdf (application/pdf)',
    'action Artifact Numbers {\n  "doors": 2\n}',
    'response Done so far',
  )
  expect((await session.get()).external_urls).toEqual([
    { label: 'Notes', url: 'https://code.example.com/pull/7' },
    { label: 'Plan', url: 'https://files.example.com/plan.pdf' },
  ])
})

test('asks the person, and sends the answer to the same task', verifies('a2a.input-required'), async ({ app }) => {
  const { session, stream } = await streaming(app)
  stream.send(statusUpdate('t1', 'INPUT_REQUIRED', 'Which door?'))
  stream.end()
  await session.shows('elicitation Which door?')
  await eventually(async () => expect((await session.get()).state).toBe('awaitingInput'))
  server.on.SendStreamingMessage = (call) => {
    const next = call.stream()
    next.send({ task: task('t1', 'WORKING') }, statusUpdate('t1', 'COMPLETED', 'Fixed the front door.'))
    next.end()
  }
  await session.write('The front door')
  await app.deliver()
  await session.shows('elicitation Which door?', 'response Fixed the front door.')
  expect(server.of('SendStreamingMessage')[1]?.params.message).toMatchObject({
    taskId: 't1',
    contextId: 'ctx-1',
    parts: [{ text: 'The front door' }],
  })
})

test('asks for a sign-in, and keeps following the task', verifies('a2a.auth-required'), async ({ app }) => {
  const { session, stream } = await streaming(app)
  stream.send(statusUpdate('t1', 'AUTH_REQUIRED', undefined, [{ text: 'Sign in at https://auth.example.com/x' }]))
  stream.end()
  await session.shows('elicitation Sign in at https://auth.example.com/x')
  const asked = (await session.activities()).find(({ type }) => type === 'elicitation')
  expect(asked).toMatchObject({ signal: 'auth', signal_metadata: { url: 'https://auth.example.com/x' } })
  server.on.GetTask = (call) => call.reply(task('t1', 'COMPLETED', 'Signed in and done.'))
  await eventually(async () => {
    app.clock.advance({ seconds: 2 })
    expect(server.of('GetTask').length).toBeGreaterThan(0)
  })
  await session.shows('elicitation Sign in at https://auth.example.com/x', 'response Signed in and done.')
})

const failures: [state: string, words: string][] = [
  ['FAILED', 'error a2a_failed No oil.'],
  ['REJECTED', 'error a2a_rejected No oil.'],
  ['CANCELED', 'error a2a_canceled No oil.'],
]
for (const [state, words] of failures) {
  test(`a task that is ${state.toLowerCase()} gives an error`, verifies('a2a.failure-states'), async ({ app }) => {
    const { scene, session, stream } = await streaming(app)
    stream.send(statusUpdate('t1', state, 'No oil.'))
    await session.shows(words)
    expect((await session.get()).state).toBe('error')
    await eventually(async () => expect((await scene.tasks())[0]?.state).toBe(state.toLowerCase()))
  })
}

test(
  'starts a new task in the same context after one has ended',
  verifies('a2a.restart-in-context', 'a2a.tasks-listed'),
  async ({ app }) => {
    const { scene, session, stream } = await streaming(app)
    stream.send(statusUpdate('t1', 'COMPLETED', 'Done.'))
    await session.shows('response Done.')
    await eventually(async () => expect((await scene.tasks())[0]?.state).toBe('completed'))
    server.on.SendStreamingMessage = (call) => call.stream().send({ task: task('t2', 'COMPLETED', 'Again.') })
    await session.write('Once more')
    await app.deliver()
    await session.shows('response Done.', 'response Again.')
    const { message } = server.of('SendStreamingMessage')[1]?.params ?? {}
    expect(message).toMatchObject({ contextId: 'ctx-1', referenceTaskIds: ['t1'] })
    expect(message.taskId ?? '').toBe('')
    await eventually(async () =>
      expect(await scene.tasks()).toMatchObject([
        { session_id: session.id, task_id: 't2', context_id: 'ctx-1', state: 'completed' },
        { session_id: session.id, task_id: 't1', context_id: 'ctx-1', state: 'completed' },
      ]),
    )
    const stranger = await scene.join('member')
    expect((await stranger.get(`${scene.path}/a2a/tasks`)).body.code).toBe('FORBIDDEN')
    expect((await done(scene.admin.get(`${scene.path}/a2a/tasks?limit=1`))).data).toHaveLength(1)
  },
)

test('keeps messages back while the task works, in order', verifies('a2a.message-waits'), async ({ app }) => {
  const { scene, session, stream } = await streaming(app)
  await session.write('First')
  await session.write('Second')
  await app.deliver()
  expect(server.of('SendStreamingMessage')).toHaveLength(1)
  expect((await scene.deliveries()).map(({ status, held }) => [status, held])).toEqual([
    ['pending', true],
    ['pending', true],
    ['succeeded', false],
  ])
  server.on.SendStreamingMessage = (call) => {
    const number = server.of('SendStreamingMessage').length
    const next = call.stream()
    next.send({ task: task(`t${number}`, 'COMPLETED', `Answer ${number}`) })
    next.end()
  }
  stream.send(statusUpdate('t1', 'COMPLETED', 'Answer 1'))
  stream.end()
  await session.shows('response Answer 1')
  await eventually(async () => {
    await app.deliver()
    expect(server.of('SendStreamingMessage')).toHaveLength(3)
  })
  await session.shows('response Answer 1', 'response Answer 2', 'response Answer 3')
  const texts = server.of('SendStreamingMessage').map((call) => call.params.message.parts[0].text)
  expect(texts.slice(1)).toEqual(['First', 'Second'])
})

test(
  'starts a new context, with the conversation, if the agent refuses the old one',
  verifies('a2a.context-refused'),
  async ({ app }) => {
    const { session, stream } = await streaming(app)
    stream.send(statusUpdate('t1', 'COMPLETED', 'The hinge is dry.'))
    await session.shows('response The hinge is dry.')
    await eventually(async () => expect((await session.get()).state).toBe('complete'))
    server.on.SendStreamingMessage = (call) => {
      if (call.params.message.contextId) return call.refuse(-32602, 'Unknown context')
      call.stream().send({ task: { ...task('t2', 'COMPLETED', 'Oiled.'), contextId: 'ctx-2' } })
    }
    await eventually(async () => {
      await session.write('Oil it')
      await app.deliver()
      expect(server.of('SendStreamingMessage').length).toBeGreaterThanOrEqual(3)
    })
    await session.shows('response The hinge is dry.', 'response Oiled.')
    const [, refused, again] = server.of('SendStreamingMessage')
    expect(refused?.params.message.contextId).toBe('ctx-1')
    expect(again?.params.message.parts[0].text).toMatch(/Door squeaks[\s\S]*The hinge is dry\./)
    expect(again?.params.message.parts[1].text).toBe('Oil it')
  },
)

test('Stop cancels the task', verifies('a2a.stop-cancels'), async ({ app }) => {
  const scene = await a2aScene(app, server)
  const canceled = await delegate(app, scene)
  server.on.CancelTask = (call) => call.reply({ ...task(call.params.id, 'CANCELED') })
  await canceled.session.stop()
  await app.deliver()
  await canceled.session.shows('response Stopped.')
  expect(await canceled.session.get()).toMatchObject({ end_reason: 'stopped', ended_at: expect.any(String) })
  const finished = await delegate(app, scene)
  server.on.CancelTask = (call) => call.refuse(-32002, 'Too late')
  server.on.GetTask = (call) => call.reply(task(call.params.id, 'COMPLETED', 'Finished first.'))
  await finished.session.stop()
  await app.deliver()
  await eventually(async () => {
    app.clock.advance({ seconds: 2 })
    expect((await finished.session.activities()).map(inWords)).toContain('response Finished first.')
  })
  const silent = await delegate(app, scene)
  server.on = {}
  await silent.session.stop()
  const delivering = app.deliver()
  await server.called('CancelTask', 3)
  app.clock.advance({ seconds: 60 })
  await delivering
  expect(await silent.session.get()).toMatchObject({ end_reason: 'stopped', ended_at: expect.any(String) })
})

test('an immediate end cancels the task once, and nothing is posted', verifies('a2a.ends-cancel'), async ({ app }) => {
  const ends: ((scene: A2aScene, issueId: string) => Promise<unknown>)[] = [
    (scene) => done(scene.owner.delete(`/installations/${scene.installationId}`)),
    async (scene, issueId) => {
      const other = await done(scene.owner.post('/teams', { name: 'Design', key: 'DES' }))
      await done(scene.owner.put(`/issues/${issueId}`, { team_id: other.id }))
    },
    (scene, issueId) => done(scene.owner.delete(`/issues/${issueId}`)),
  ]
  for (const end of ends) {
    server.reset()
    const { scene, session, stream } = await streaming(app)
    server.on.CancelTask = (call) => call.reply(task(call.params.id, 'CANCELED'))
    await eventually(async () => expect((await session.activities()).map(inWords)).toEqual(['thought Accepted.']))
    await end(scene, session.issue.id)
    await app.a2a.renew()
    await app.a2a.renew()
    await app.deliver()
    stream.send(statusUpdate('t1', 'COMPLETED', 'Late'))
    stream.end()
    expect(server.of('CancelTask')).toHaveLength(1)
    expect(server.of('SendStreamingMessage')).toHaveLength(1)
    expect(await app.everything()).not.toContain('Late')
  }
})

test('posts an update once, however often it is seen', verifies('a2a.update-once'), async ({ app }) => {
  const { session, stream, scene } = await streaming(app)
  const working = { state: 'TASK_STATE_WORKING', timestamp: '2026-03-02T10:00:00Z', message: agentMessage('Halfway') }
  const now = {
    id: 't1',
    contextId: 'ctx-1',
    status: working,
    artifacts: [{ artifactId: 'a', name: 'Notes', parts: [{ text: 'x' }] }],
  }
  app.clock.advance({ seconds: 1 })
  stream.send(
    { statusUpdate: { taskId: 't1', contextId: 'ctx-1', status: working } },
    artifactUpdate('t1', now.artifacts[0] ?? {}),
  )
  await session.shows('action Artifact Notes x')
  // The worker dies; another one resumes, and sees the same state again.
  await app.a2a.kill()
  const other = new A2aRunner(app.ctx, app.door)
  const ended = { ...now, status: status('COMPLETED', 'Ready') }
  server.on.SubscribeToTask = (call) => {
    const next = call.stream()
    next.send({ task: now }, { task: now }, { task: ended }, { task: ended })
    next.end()
  }
  app.clock.advance({ seconds: 31 })
  await other.renew()
  await session.shows('action Artifact Notes x', 'response Ready')
  const all = (await session.activities()).map(inWords)
  expect(all.filter((one) => one === 'thought Halfway')).toHaveLength(1)
  await eventually(async () => expect((await scene.tasks())[0]?.state).toBe('completed'))
})

test('posts at most two thoughts a second, and the whole response', verifies('a2a.pace'), async ({ app }) => {
  const { session, stream } = await streaming(app)
  await eventually(async () => expect((await session.activities()).map(inWords)).toEqual(['thought Accepted.']))
  const begun = app.clock.now().getTime()
  for (const round of [1, 2]) {
    for (let step = 1; step <= 100; step++) stream.send(statusUpdate('t1', 'WORKING', `Step ${round}.${step}`))
    await eventually(async () => {
      app.clock.advance({ milliseconds: 500 })
      expect((await session.activities()).map(inWords)).toContain(`thought Step ${round}.100`)
    })
  }
  const seconds = (app.clock.now().getTime() - begun) / 1000
  const long = 'y'.repeat(40_000)
  stream.send(statusUpdate('t1', 'COMPLETED', long))
  await eventually(async () => expect((await session.get()).state).toBe('complete'))
  const all = await session.activities()
  expect(all.filter(({ type }) => type === 'thought').length).toBeLessThanOrEqual(2 * seconds + 2)
  const last = inWords(all.at(-1) as never)
  expect(last).toMatch(/^response y{31900,}[\s\S]*\[Truncated\]$/)
})
