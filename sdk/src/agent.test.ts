import { expect } from 'vitest'
import { test } from '../../server/test/harness.ts'
import { delegated, eventsFor, post, type Running, running } from '../test/scene.ts'
import type { Agent, Dedupe, Session } from './agent.ts'
import { isBatonError } from './errors.ts'
import type { WebhookEvent } from './webhooks.ts'

const nothing = () => {}

async function receive(scene: Running, agent: Agent, event: WebhookEvent | undefined) {
  await post(scene, agent, event)
  await agent.settled()
}

/** Blocks until the test releases it. */
function gate() {
  let open: () => void = nothing
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

test('an agent posts a thought, a plan and a question, receives the answer and responds', async ({ app }) => {
  const scene = await running(app, {
    async onCreated(session) {
      expect(session.prompt).toContain('<title>Mend the door</title>')
      await session.thought('Reading')
      await session.setPlan(['Look', { content: 'Mend', status: 'inProgress' }])
      await session.addUrl('Pull request', 'https://example.com/pull/1')
      await session.action('search', 'hinges', 'two found', { ephemeral: true })
      await session.select('Which hinge?', ['upper', { value: 'lower', label: 'The lower one' }])
    },
    async onPrompted(session) {
      const asked = (await session.activities()).find(({ type }) => type === 'elicitation')
      return `${asked?.content.type === 'elicitation' && asked.content.body} ${session.selected.join()}: ${session.prompt}`
    },
  })
  const { sessionId } = await delegated(scene, scene.agentUserId)
  await scene.deliver()

  const session = (await scene.owner.get(`/agent-sessions/${sessionId}`)).body
  expect(session).toMatchObject({
    state: 'awaitingInput',
    plan: [
      { content: 'Look', status: 'pending' },
      { content: 'Mend', status: 'inProgress' },
    ],
    external_urls: [{ label: 'Pull request', url: 'https://example.com/pull/1' }],
  })
  const asked = (await scene.owner.get(`/agent-sessions/${sessionId}/activities`)).body.data.at(-1)
  await scene.owner.post(`/agent-sessions/${sessionId}/activities`, {
    content: { type: 'prompt', body: 'the lower one' },
    signal_metadata: { in_reply_to: asked.id, selected: ['lower'] },
  })
  await scene.deliver()

  expect(
    (await scene.activities(sessionId)).map(({ type, content }) => content.body ?? `${type} ${content.action}`),
  ).toEqual(['Reading', 'action search', 'Which hinge?', 'the lower one', 'Which hinge? lower: the lower one'])
  expect((await scene.owner.get(`/agent-sessions/${sessionId}`)).body.state).toBe('complete')
  expect(scene.errors).toEqual([])
})

test('Stop aborts the running handler, and the final message ends the session', async ({ app }) => {
  const { opened, open } = gate()
  let working: Session | undefined
  const after: unknown[] = []
  const scene = await running(app, {
    async onCreated(session) {
      working = session
      await opened
      await session.thought('I was not listening').catch((error) => after.push(error))
      throw new Error('torn away')
    },
    onStop: async (session, event) => {
      expect(event.data.agent_activity.signal_metadata).toEqual({ reason: 'stopped' })
      await session.respond('Left the door as it was.')
    },
  })
  const { sessionId } = await delegated(scene, scene.agentUserId)
  await app.deliver()
  await new Promise(setImmediate)
  await scene.owner.post(`/agent-sessions/${sessionId}/stop`)
  await app.deliver()
  await new Promise(setImmediate)
  expect(working?.signal.aborted).toBe(true)
  open()
  await scene.agent.settled()

  expect(after).toMatchObject([{ name: 'AbortError', message: 'A person stopped the session.' }])
  expect((await scene.activities(sessionId)).map(({ content }) => content.body)).toEqual([
    'Stop',
    'Left the door as it was.',
  ])
  const session = (await scene.owner.get(`/agent-sessions/${sessionId}`)).body
  expect(session).toMatchObject({ state: 'complete', end_reason: 'stopped' })
  expect(session.ended_at).not.toBeNull()
  expect(scene.errors).toEqual([])
})

test('an agent without onStop posts "Stopped."', async ({ app }) => {
  const scene = await running(app, { onCreated: nothing, firstThought: false })
  const { sessionId } = await delegated(scene, scene.agentUserId)
  await scene.deliver()
  await scene.owner.post(`/agent-sessions/${sessionId}/stop`)
  await scene.deliver()
  expect((await scene.activities(sessionId)).map(({ content }) => content.body)).toEqual(['Stop', 'Stopped.'])
})

test('does not start work when Stop arrives before created', async ({ app }) => {
  const started: string[] = []
  const scene = await running(app, { onCreated: (session) => void started.push(session.id), onStop: nothing })
  const { sessionId } = await delegated(scene, scene.agentUserId)
  await scene.owner.post(`/agent-sessions/${sessionId}/stop`)
  const [created, stop] = await eventsFor(scene)
  await receive(scene, scene.agent, stop)
  await receive(scene, scene.agent, created)
  expect(started).toEqual([])
})

test('ignores Stop for an ended session', async ({ app }) => {
  const stopped: string[] = []
  const scene = await running(app, { onCreated: nothing, onStop: (session) => void stopped.push(session.id) })
  const { sessionId } = await delegated(scene, scene.agentUserId)
  await scene.owner.post(`/agent-sessions/${sessionId}/stop`)
  const [, stop] = await eventsFor(scene)
  app.clock.advance({ seconds: 61 })
  await receive(scene, scene.agent, stop)
  expect(stopped).toEqual([])
})

test('posts the first thought only if the handler posts nothing in time', async ({ app }) => {
  const { opened, open } = gate()
  const scene = await running(app, {
    firstThought: 'On it.',
    async onCreated(session) {
      if (session.data.issue?.title === 'Quick') return 'Done.'
      await opened
    },
  })
  const slow = await delegated(scene, scene.agentUserId, 'Slow')
  const quick = await delegated(scene, scene.agentUserId, 'Quick')
  await app.deliver()
  await new Promise(setImmediate)
  app.clock.advance({ seconds: 2 })
  await expect
    .poll(() => scene.activities(slow.sessionId))
    .toMatchObject([{ content: { body: 'On it.' }, ephemeral: true }])
  open()
  await scene.agent.settled()
  expect((await scene.activities(quick.sessionId)).map(({ content }) => content.body)).toEqual(['Done.'])
  expect((await scene.owner.get(`/agent-sessions/${slow.sessionId}`)).body.unresponsive_since).toBeNull()
})

test('posts an error without details when a handler throws', async ({ app }) => {
  const scene = await running(app, {
    onCreated: () => {
      throw new Error('password: hunter2')
    },
  })
  const { sessionId } = await delegated(scene, scene.agentUserId)
  await scene.deliver()
  expect(await scene.activities(sessionId)).toMatchObject([
    {
      type: 'error',
      content: { body: 'Something went wrong on my side. Please try again.', reason_code: 'handler_failed' },
    },
  ])
  expect(scene.errors).toMatchObject([{ message: 'password: hunter2' }])
})

test('aborts the handler on 409 SESSION_ENDED and posts no error', async ({ app }) => {
  const { opened, open } = gate()
  let aborted = false
  const scene = await running(app, {
    async onCreated(session) {
      await opened
      await session.thought('Still there?').catch((error) => {
        aborted = session.signal.aborted && isBatonError(error, 'SESSION_ENDED')
        throw error
      })
    },
  })
  const { sessionId, issue } = await delegated(scene, scene.agentUserId)
  await app.deliver()
  await new Promise(setImmediate)
  await scene.owner.delete(`/issues/${issue.id}`)
  open()
  await scene.agent.settled()
  expect(aborted).toBe(true)
  expect(scene.errors).toEqual([])
  expect(sessionId).toMatch(/^sess_/)
})

test('discards the tokens and aborts handlers after uninstallation', async ({ app }) => {
  const { opened, open } = gate()
  let signal: AbortSignal | undefined
  const revoked: string[] = []
  const scene = await running(app, {
    onCreated: async (session) => {
      signal = session.signal
      await opened
    },
    onRevoked: ({ data }) => void revoked.push(data.installation_id),
  })
  await delegated(scene, scene.agentUserId)
  await app.deliver()
  await new Promise(setImmediate)
  await scene.owner.delete(`/installations/${scene.installationId}`)
  await app.deliver()
  await new Promise(setImmediate)
  open()
  await scene.agent.settled()
  expect(signal?.aborted).toBe(true)
  expect(revoked).toEqual([scene.installationId])
  expect(await scene.store.get(scene.installationId)).toBeNull()
})

test('aborts work on an issue that was deleted or whose team was removed', async ({ app }) => {
  const { opened, open } = gate()
  const signals: AbortSignal[] = []
  const received: string[] = []
  const scene = await running(
    app,
    {
      firstThought: false,
      onCreated: (session) => {
        signals.push(session.signal)
        return opened
      },
      onPermissionChange: ({ data }) => void received.push(...data.removed_team_ids),
      onIssue: ({ action, data }) => void (action === 'remove' && received.push(data.id)),
    },
    ['Issue'],
  )
  const { body: other } = await scene.owner.post('/teams', { name: 'Other', key: 'OTH' })
  const { issue } = await delegated(scene, scene.agentUserId, 'To be deleted')
  await delegated(scene, scene.agentUserId, 'Of the team')
  await app.deliver()
  await expect.poll(() => signals).toHaveLength(2)
  await scene.owner.delete(`/issues/${issue.id}`)
  await app.deliver()
  await expect.poll(() => signals.filter(({ aborted }) => aborted)).toHaveLength(1)
  await scene.owner.patch(`/installations/${scene.installationId}`, { team_ids: [other.id] })
  await app.deliver()
  await expect.poll(() => signals.filter(({ aborted }) => aborted)).toHaveLength(2)
  open()
  await scene.agent.settled()
  expect(received).toEqual([issue.id, scene.team.id])
  expect(scene.errors).toEqual([])
})

test('answers a message to a session from before a restart at once', async ({ app }) => {
  const first = await running(app, { onCreated: (session) => session.elicit('Which door?').then(nothing) })
  const { sessionId } = await delegated(first, first.agentUserId)
  await first.deliver()
  await first.prompt(sessionId, 'the red one')
  const [, prompted] = await eventsFor(first)

  const received: string[] = []
  const restarted = first.createOther({
    onCreated: () => void received.push('created'),
    onPrompted: (session) => void received.push(session.prompt),
  })
  await receive(first, restarted, prompted)
  expect(received).toEqual(['the red one'])
})

test('a message waits a limited time for the created event of its session', async ({ app }) => {
  const received: string[] = []
  const scene = await running(app, {
    firstThought: false,
    onCreated: () => void received.push('created'),
    onPrompted: (session) => void received.push(session.prompt),
  })
  const { sessionId } = await delegated(scene, scene.agentUserId)
  await scene.prompt(sessionId, 'one')
  await scene.prompt(sessionId, 'two')
  const other = await delegated(scene, scene.agentUserId, 'Another')
  await scene.prompt(other.sessionId, 'three')
  const [created, one, two, , three] = await eventsFor(scene)
  await post(scene, scene.agent, two)
  await post(scene, scene.agent, one)
  await post(scene, scene.agent, created)
  await scene.agent.settled()
  expect(received).toEqual(['created', 'one', 'two'])

  const { done } = await post(scene, scene.agent, three)
  const waited = expect.poll(() => {
    app.clock.advance({ seconds: 5 })
    return received
  })
  await waited.toEqual(['created', 'one', 'two', 'three'])
  await done
})

test('ignores an old created event that was processed before a restart', async ({ app }) => {
  const scene = await running(app, { onCreated: () => 'Done.' })
  await delegated(scene, scene.agentUserId)
  const [created] = await eventsFor(scene)
  await receive(scene, scene.agent, created)
  app.clock.advance({ minutes: 1 })

  const started: string[] = []
  const restarted = scene.createOther({
    onCreated: (session) => void started.push(session.id),
  })
  await receive(scene, restarted, created)
  expect(started).toEqual([])
})

test('redo processes an event that was claimed but not finished before a crash', async ({ app }) => {
  const kept = new Map<string, WebhookEvent>()
  let down = true
  const dedupe: Dedupe = {
    async claim(id, event) {
      if (down) throw new Error('the database is down')
      if (kept.has(id)) return false
      kept.set(id, event)
      return true
    },
    async finish(id) {
      kept.delete(id)
    },
  }
  const scene = await running(app, {
    dedupe,
    onCreated: (session) => session.thought('Begun').then(() => gate().opened),
  })
  const { sessionId } = await delegated(scene, scene.agentUserId)
  const [created] = await eventsFor(scene)
  expect(await post(scene, scene.agent, created)).toMatchObject({ status: 500, outcome: 'not_claimed' })
  expect(await scene.activities(sessionId)).toEqual([])

  down = false
  await post(scene, scene.agent, created)
  await expect.poll(() => scene.activities(sessionId)).toHaveLength(1)
  expect(await post(scene, scene.agent, created)).toMatchObject({ outcome: 'duplicate' })
  app.clock.advance({ minutes: 5 })
  const restarted = scene.createOther({ dedupe, onCreated: () => 'Done after all.' })
  for (const event of kept.values()) await restarted.redo(event)
  expect((await scene.activities(sessionId)).map(({ content }) => content.body)).toEqual(['Begun', 'Done after all.'])
  expect(kept.size).toBe(0)
})

test('an agent opens a session and receives its messages', async ({ app }) => {
  const received: string[] = []
  const scene = await running(app, { onCreated: nothing, onPrompted: (session) => void received.push(session.prompt) })
  const { body: issue } = await scene.owner.post('/issues', { title: 'Look', team_id: scene.team.id })
  const session = await scene.agent.open(scene.installationId, { issue_id: issue.id })
  await session.elicit('May I?')
  await scene.prompt(session.id, 'do')
  await scene.deliver()
  expect(received).toEqual(['do'])
})
