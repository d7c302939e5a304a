import { describe, expect } from 'vitest'
import { type AppActivityType, bringTo, contents, invalid, refusal, sessionScene } from '../../test/agent-sessions.ts'
import { test, verifies } from '../../test/harness.ts'

const types = Object.keys(contents) as AppActivityType[]
const long = (length: number) => 'é'.repeat(length)

describe('an activity', () => {
  test(
    'of each type is returned as it is stored',
    verifies(
      'activity.post-201-fields',
      'activity.type-equals-content-type',
      'activity.optional-defaults',
      'activity.author-shape',
      'activity.seq-starts-at-1-per-session',
      'activity.body-shapes-accepted',
      'activity.error-shape',
    ),
    async ({ app }) => {
      const { delegated, begun, robot } = await sessionScene(app)
      for (const session of [await delegated(), await begun()]) {
        const stored = []
        for (const [index, type] of types.entries()) {
          const { status, body } = await session.say(type)
          expect(status).toBe(201)
          expect(body).toEqual({
            id: expect.stringMatching(/^act_[0-9a-hjkmnp-tv-z]{26}$/),
            seq: index + 1,
            type,
            content: contents[type],
            ephemeral: false,
            superseded_by_seq: null,
            signal: null,
            signal_metadata: null,
            author: {
              kind: 'app',
              id: robot.userId,
              name: robot.app.name,
              avatar_url: `${app.ctx.config.baseUrl}/agent-apps/${robot.app.id}/icon`,
            },
            created_at: app.clock.now().toISOString(),
          })
          stored.push(body)
        }
        expect(await session.activities()).toEqual(stored)
      }
    },
  )

  const markdown = '# A\n\n* b `c` <script>alert(1)</script> [d](https://e.example) 😀 \\ "\'\n'
  const accepted: Record<string, object> = {
    Markdown: { type: 'thought', body: markdown },
    'Markdown in an elicitation': { type: 'elicitation', body: markdown },
    'Markdown in a response': { type: 'response', body: markdown },
    'one character': { type: 'thought', body: 'x' },
    'the longest body': { type: 'response', body: long(32_000) },
    'the longest prompt for input': { type: 'elicitation', body: long(32_000) },
    'the longest error': { type: 'error', body: long(32_000) },
    'the longest action': { type: 'action', action: long(32_000), parameter: long(32_000), result: long(32_000) },
    'an empty parameter': { type: 'action', action: 'Read', parameter: '' },
    'a result': { type: 'action', action: 'Read', parameter: 'a', result: 'b' },
    'a reason code': { type: 'error', body: 'It broke.', reason_code: 'rate_limit_2' },
    'the longest reason code': { type: 'error', body: 'It broke.', reason_code: 'a'.repeat(64) },
  }
  const refused: Record<string, unknown> = {
    'no content': undefined,
    'content that is text': 'Hello',
    'content that is null': null,
    'a list': [contents.thought],
    'no type': { body: 'Hm' },
    'an unknown type': { type: 'dance', body: 'Hm' },
    'a type that is a number': { type: 7, body: 'Hm' },
    'another letter case': { type: 'Thought', body: 'Hm' },
    'no body': { type: 'thought' },
    'a body that is a number': { type: 'response', body: 7 },
    'a body that is null': { type: 'elicitation', body: null },
    'an empty body': { type: 'thought', body: '' },
    'an empty response': { type: 'response', body: '' },
    'too long a body': { type: 'thought', body: long(32_001) },
    'too long an error': { type: 'error', body: long(32_001) },
    'too long an action': { type: 'action', action: long(32_001), parameter: '' },
    'a key of another type': { type: 'thought', body: 'Hm', action: 'Read' },
    'an unknown key': { type: 'response', body: 'Hm', title: 'Hm' },
    'a reason code on a thought': { type: 'thought', body: 'Hm', reason_code: 'x' },
    'a body on an action': { type: 'action', action: 'Read', parameter: '', body: 'Hm' },
    'no action': { type: 'action', parameter: 'a' },
    'no parameter': { type: 'action', action: 'Read' },
    'an action that is a number': { type: 'action', action: 7, parameter: 'a' },
    'a parameter that is an object': { type: 'action', action: 'Read', parameter: {} },
    'a parameter that is null': { type: 'action', action: 'Read', parameter: null },
    'a result that is a number': { type: 'action', action: 'Read', parameter: 'a', result: 7 },
    'a result that is null': { type: 'action', action: 'Read', parameter: 'a', result: null },
    'too long a reason code': { type: 'error', body: 'Hm', reason_code: 'a'.repeat(65) },
    'a reason code in capitals': { type: 'error', body: 'Hm', reason_code: 'Timeout' },
    'a reason code with a dash': { type: 'error', body: 'Hm', reason_code: 'time-out' },
    'a reason code that is a number': { type: 'error', body: 'Hm', reason_code: 7 },
    'a reason code with a line break': { type: 'error', body: 'Hm', reason_code: 'timeout\n' },
  }

  test(
    'has the fields of its type',
    verifies(
      'activity.body-shapes-accepted',
      'activity.body-length',
      'activity.action-shape',
      'activity.action-parameter-empty-ok',
      'activity.action-result-optional',
      'activity.error-shape',
      'activity.error-reason-code-rule',
    ),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      for (const [what, content] of Object.entries(accepted)) {
        app.clock.advance({ seconds: 1 })
        expect(await session.say(content as Record<string, unknown>), what).toMatchObject({
          status: 201,
          body: { content },
        })
      }
      expect((await session.activities()).map(({ content }) => content)).toEqual(Object.values(accepted))
    },
  )

  test(
    'with an invalid shape is refused',
    verifies(
      'activity.wrong-shape-422',
      'activity.body-length',
      'activity.action-shape',
      'activity.action-result-optional',
      'activity.error-reason-code-rule',
    ),
    async ({ app }) => {
      const { delegated, robot } = await sessionScene(app)
      const { path, get } = await delegated()
      const before = await get()
      await app.unchanged(async () => {
        for (const [what, content] of Object.entries(refused)) {
          expect(await robot.post(`${path}/activities`, { content }), what).toMatchObject(invalid)
        }
        for (const raw of ['null', '[]', '"Hello"', '7']) {
          const answer = await robot.post(`${path}/activities`, undefined, {
            raw,
            headers: { 'content-type': 'application/json' },
          })
          expect(answer, raw).toMatchObject(invalid)
        }
      })
      expect(await get()).toEqual(before)
    },
  )

  test('with an unknown key beside its content is refused', verifies('activity.unknown-key-422'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    for (const more of [{ state: 'active' }, { author: { kind: 'user' } }, { seq: 9 }, { superseded_by_seq: 1 }]) {
      for (const type of types) {
        const [key] = Object.keys(more) as [string]
        const answer = await app.unchanged(() => session.say(type, more))
        expect(answer).toMatchObject(refusal(422, 'VALIDATION_ERROR', { [key]: 'is not a known field' }))
      }
    }
  })

  test('of the type prompt is refused from an app', verifies('activity.app-prompt-refused'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    for (const state of ['pending', 'awaitingInput', 'stopping'] as const) {
      await bringTo(app, session, state)
      const answer = await app.unchanged(() => session.say({ type: 'prompt', body: 'Go on' }))
      expect(answer).toMatchObject(refusal(422, 'PROMPT_IS_HUMAN_ONLY'))
    }
  })

  test('is not earlier than the last change of its session, even if the clock is', async ({ app }) => {
    const session = await (await sessionScene(app)).delegated()
    await session.say('thought')
    const { updated_at } = await session.get()
    app.clock.advance({ milliseconds: -400 })
    for (const post of [() => session.say('action'), () => session.write('Hm')]) {
      expect((await post()).body.created_at).toBe(updated_at)
    }
    await session.change({ plan: [{ content: 'Look', status: 'pending' }] })
    await session.stop()
    const activities = await session.activities()
    expect(activities.map(({ created_at }) => created_at)).toEqual(activities.map(() => updated_at))
    expect((await session.get()).updated_at).toBe(updated_at)
  })
})

describe('an ephemeral activity', () => {
  test(
    'can only be a thought or an action',
    verifies('activity.ephemeral-thought-action', 'activity.ephemeral-other-types-422'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      for (const type of ['elicitation', 'response', 'error'] as const) {
        const answer = await app.unchanged(() => session.say(type, { ephemeral: true }))
        expect(answer).toMatchObject(refusal(422, 'VALIDATION_ERROR', { ephemeral: expect.any(String) }))
      }
      for (const type of ['thought', 'action'] as const) {
        const { status, body } = await session.say(type, { ephemeral: true })
        expect({ status, body }).toMatchObject({ status: 201, body: { ephemeral: true, superseded_by_seq: null } })
        expect(await app.unchanged(() => session.say(type, { ephemeral: 'yes' }))).toMatchObject(invalid)
      }
      for (const type of types) {
        expect(await session.say(type, { ephemeral: false })).toMatchObject({ status: 201, body: { ephemeral: false } })
      }
      expect(await session.write('Hm', { ephemeral: false })).toMatchObject({ status: 201, body: { ephemeral: false } })
    },
  )

  test(
    'is superseded only by the next activity of the app, of any type',
    verifies(
      'activity.ephemeral-superseded',
      'activity.ephemeral-not-superseded-by-person',
      'activity.non-ephemeral-never-superseded',
    ),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const replaced = async (session: Awaited<ReturnType<typeof delegated>>) =>
        (await session.activities()).map(({ superseded_by_seq }) => superseded_by_seq)
      for (const next of types) {
        const session = await delegated()
        await session.say('thought')
        await session.say('thought', { ephemeral: true })
        await session.write('Well?')
        await session.change({ plan: [{ content: 'Look', status: 'pending' }] })
        expect(await replaced(session)).toEqual([null, null, null])
        await session.say('action', { ephemeral: true })
        expect(await replaced(session)).toEqual([null, 4, null, null])
        await session.say(next)
        await session.say('thought')
        expect(await replaced(session)).toEqual([null, 4, null, 5, null, null])
      }
    },
  )

  test('is not superseded by a refused activity', verifies('activity.ephemeral-superseded'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    await session.say('thought', { ephemeral: true })
    await app.unchanged(() => session.say({ type: 'thought', body: '' }))
    expect((await session.activities())[0]?.superseded_by_seq).toBeNull()
  })
})
