import { describe, expect } from 'vitest'
import { type AppActivityType, bringTo, contents, ended, refusal, sessionScene } from '../../test/agent-sessions.ts'
import { eventsOf } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'

const openStates = ['pending', 'active', 'awaitingInput', 'complete', 'error', 'stale'] as const
const after: Record<AppActivityType, string> = {
  thought: 'active',
  action: 'active',
  elicitation: 'awaitingInput',
  response: 'complete',
  error: 'error',
}
const types = Object.keys(contents) as AppActivityType[]

describe('an activity of the app', () => {
  for (const from of openStates) {
    test(
      `changes ${from} to the state of its type and does not end the session`,
      verifies(
        'session.thought-or-action-makes-active',
        'session.elicitation-makes-awaiting-input',
        'session.error-makes-error',
        'session.response-makes-complete',
        'session.app-activity-after-complete',
        'session.stale-recovers-by-app-activity',
        'session.end-fields-null-while-open',
      ),
      async ({ app }) => {
        const { delegated } = await sessionScene(app)
        for (const type of types) {
          const session = await delegated()
          await bringTo(app, session, from)
          expect((await session.get()).state).toBe(from)
          expect((await session.say(type)).status).toBe(201)
          expect(await session.get(), type).toMatchObject({ state: after[type], ended_at: null, end_reason: null })
        }
      },
    )
  }

  test('cannot set the state', verifies('session.app-cannot-set-state'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    for (const body of [{ state: 'complete' }, { plan: [], state: 'complete' }]) {
      const answer = await app.unchanged(() => session.change(body))
      expect(answer).toMatchObject(refusal(422, 'VALIDATION_ERROR', { state: 'is not a known field' }))
    }
    expect((await session.get()).state).toBe('pending')
  })
})

describe("a person's message", () => {
  for (const from of openStates) {
    const kept = from === 'pending' || from === 'active'
    test(
      `in ${from} ${kept ? 'keeps the state' : 'makes it pending'}, and the app gets \`prompted\``,
      verifies(
        'session.message-in-pending-or-active-keeps-state',
        'session.message-in-awaiting-input-to-pending',
        'session.message-reopens-to-pending',
      ),
      async ({ app }) => {
        const { delegated, id: workspaceId } = await sessionScene(app)
        const session = await delegated()
        await bringTo(app, session, from)
        const events = await eventsOf(app, workspaceId, async () => {
          expect((await session.write('And?')).status).toBe(201)
        })
        const state = kept ? from : 'pending'
        expect(await session.get()).toMatchObject({ state, ended_at: null, end_reason: null })
        expect(events).toMatchObject([
          {
            type: 'AgentSessionEvent',
            action: 'prompted',
            body: { data: { agent_session: { state }, agent_activity: { content: { body: 'And?' } } } },
          },
        ])
      },
    )
  }

  test(
    'is refused in a stopping or ended session',
    verifies('session.message-in-stopping-or-ended-refused', 'session.ended-error-details'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      await session.stop()
      expect(await app.unchanged(() => session.write('And?'))).toMatchObject(ended('stopped'))
      app.clock.advance({ seconds: 60 })
      expect(await app.unchanged(() => session.write('And?'))).toMatchObject(ended('stopped'))
    },
  )
})

describe('Stop', () => {
  for (const from of openStates) {
    test(
      `from ${from} sets the end reason at once, and a second one changes nothing`,
      verifies(
        'session.stop-from-every-open-state',
        'session.stop-sets-end-reason-at-once',
        'session.second-stop-is-noop',
        'activity.stop-activity',
      ),
      async ({ app }) => {
        const { delegated, member, id: workspaceId } = await sessionScene(app)
        const session = await delegated()
        await bringTo(app, session, from)
        const events = await eventsOf(app, workspaceId, async () => {
          const { status, body } = await session.stop()
          expect({ status, body }).toMatchObject({
            status: 200,
            body: { state: 'stopping', end_reason: 'stopped', ended_at: null },
          })
          expect(body).toEqual(await session.get())
        })
        const signal = {
          type: 'prompt',
          content: { type: 'prompt', body: 'Stop' },
          signal: 'stop',
          signal_metadata: { reason: 'stopped' },
        }
        expect((await session.activities()).at(-1)).toMatchObject({
          ...signal,
          author: { kind: 'user', id: member.user.id, name: member.user.display_name, avatar_url: null },
        })
        expect(events).toMatchObject([
          { action: 'prompted', body: { data: { agent_session: { state: 'stopping' }, agent_activity: signal } } },
        ])
        app.clock.advance({ seconds: 1 })
        expect((await app.unchanged(() => session.stop())).status).toBe(200)
        expect(await session.get()).toMatchObject({ state: 'stopping', end_reason: 'stopped' })
      },
    )
  }

  test(
    'is refused from apps, and after the end',
    verifies('session.stop-is-person-only', 'session.stop-after-end', 'session.ended-error-details'),
    async ({ app }) => {
      const { delegated, robot } = await sessionScene(app)
      const session = await delegated()
      const byApp = await app.unchanged(() => robot.post(`${session.path}/stop`))
      expect(byApp).toMatchObject(refusal(403, 'SESSION_ONLY_ROUTE'))
      await session.stop()
      await session.say('response')
      expect(await app.unchanged(() => session.stop())).toMatchObject(ended('stopped'))
    },
  )

  test('from many people at once takes effect once', verifies('session.second-stop-is-noop'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    const answers = await Promise.all(Array.from({ length: 10 }, () => session.stop()))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await session.activities()).toHaveLength(1)
  })
})

describe('while stopping', () => {
  test(
    'a thought, action or elicitation is stored and does not change the state',
    verifies('session.stopping-stores-progress'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      await session.stop()
      for (const type of ['thought', 'action', 'elicitation'] as const) {
        expect((await session.say(type)).status).toBe(201)
        expect(await session.get()).toMatchObject({ state: 'stopping', ended_at: null, end_reason: 'stopped' })
      }
      expect((await session.activities()).map(({ type }) => type)).toEqual([
        'prompt',
        'thought',
        'action',
        'elicitation',
      ])
    },
  )

  for (const [type, state] of [
    ['response', 'complete'],
    ['error', 'error'],
  ] as const) {
    test(
      `${type} ends the session`,
      verifies(
        'session.stopping-response-ends-complete',
        'session.stopping-error-ends-error',
        'session.end-reason-kept-at-end',
        'session.ended-refuses-writes',
        'session.ended-error-details',
      ),
      async ({ app }) => {
        const { delegated } = await sessionScene(app)
        const session = await delegated()
        await session.stop()
        app.clock.advance({ seconds: 59, milliseconds: 999 })
        expect((await session.say(type)).status).toBe(201)
        const ended_at = app.clock.now().toISOString()
        expect(await session.get()).toMatchObject({ state, ended_at, end_reason: 'stopped' })
        expect((await session.activities()).at(-1)?.type).toBe(type)
        const writes = [
          ...types.map((what) => () => session.say(what)),
          () => session.change({ plan: [] }),
          () => session.change({ external_urls: [] }),
          () => session.change({ added_external_urls: [{ label: 'Change', url: 'https://example.com/1' }] }),
        ]
        for (const write of writes) expect(await app.unchanged(write)).toMatchObject(ended('stopped'))
        app.clock.advance({ minutes: 5 })
        expect(await session.get()).toMatchObject({ state, ended_at })
      },
    )
  }
})

describe('removing the delegate', () => {
  test(
    'stops the session like Stop',
    verifies(
      'session.undelegate-makes-stopping',
      'activity.undelegated-stop-activity',
      'session.end-reason-kept-at-end',
      'session.message-in-stopping-or-ended-refused',
    ),
    async ({ app }) => {
      const { delegated, owner, id: workspaceId } = await sessionScene(app)
      const session = await delegated()
      const { issue } = await session.get()
      const events = await eventsOf(app, workspaceId, () => owner.put(`/issues/${issue?.id}`, { delegate_id: null }))
      expect(await session.get()).toMatchObject({ state: 'stopping', end_reason: 'undelegated', ended_at: null })
      const signal = {
        content: { type: 'prompt', body: 'Stop' },
        signal: 'stop',
        signal_metadata: { reason: 'undelegated' },
      }
      expect(await session.activities()).toMatchObject([{ ...signal, author: { kind: 'user', id: owner.user.id } }])
      const prompted = events.filter(({ type }) => type === 'AgentSessionEvent')
      expect(prompted).toMatchObject([{ action: 'prompted', body: { data: { agent_activity: signal } } }])
      expect(await app.unchanged(() => session.write('Wait'))).toMatchObject(ended('undelegated'))
      await session.say('response')
      expect(await session.get()).toMatchObject({ state: 'complete', end_reason: 'undelegated' })
    },
  )

  test(
    'for another agent stops only the session of the first delegation',
    verifies('session.redelegate-makes-stopping', 'session.one-open-per-delegation-and-thread'),
    async ({ app }) => {
      const { delegated, mentioned, begun, owner, member, latest, at } = await sessionScene(app)
      const first = await delegated()
      const issue = (await first.get()).issue as { id: string }
      const inThread = await mentioned(issue)
      const own = await begun({ issue_id: issue.id })
      const second = await app.installed(owner, { scopes: ['app:assignable'], webhook: 'https://robots.example.com/2' })
      await member.put(`/issues/${issue.id}`, { delegate_id: second.userId })
      expect(await first.get()).toMatchObject({ state: 'stopping', end_reason: 'undelegated' })
      for (const other of [inThread, own]) expect((await other.get()).state).toBe('pending')
      const { data } = (await second.get('/agent-sessions')).body
      expect(data).toMatchObject([{ state: 'pending', issue: { id: issue.id }, creator: { id: member.user.id } }])
      // Delegated again while the first is still stopping: opens another session.
      const robotId = (await first.get()).app_user_id
      await member.put(`/issues/${issue.id}`, { delegate_id: robotId })
      const another = at((await latest()).id)
      expect(another.id).not.toBe(first.id)
      expect((await another.get()).state).toBe('pending')
      expect((await first.get()).state).toBe('stopping')
      await member.put(`/issues/${issue.id}`, { title: 'Renamed', delegate_id: robotId })
      expect((await latest()).id).toBe(another.id)
      await first.say('response')
      expect(await first.get()).toMatchObject({ state: 'complete', end_reason: 'undelegated' })
      expect((await another.get()).state).toBe('pending')
    },
  )

  test('keeps the reason of a session that is already stopping', async ({ app }) => {
    const { delegated, owner } = await sessionScene(app)
    const session = await delegated()
    await session.stop()
    await owner.put(`/issues/${(await session.get()).issue?.id}`, { delegate_id: null })
    expect(await session.get()).toMatchObject({ state: 'stopping', end_reason: 'stopped' })
    expect(await session.activities()).toHaveLength(1)
  })
})
