import { describe, expect } from 'vitest'
import { type AppActivityType, invalid, refusal, sessionScene } from '../../test/agent-sessions.ts'
import { eventsOf } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'

const auth = { signal: 'auth', signal_metadata: { url: 'https://example.com/connect' } }
const select = { signal: 'select', signal_metadata: { options: [{ value: 'main' }, { value: 'next' }] } }
const options = (count: number) => Array.from({ length: count }, (_, index) => ({ value: `v${index}` }))
const offer = (signal_metadata: unknown) => ({ signal: 'select', signal_metadata })

describe('an app can ask', () => {
  const accepted: Record<string, Record<string, unknown>> = {
    'for a connection': auth,
    'for a connection with a user': {
      signal: 'auth',
      signal_metadata: { url: 'https://example.com/a?b=c#d', provider_name: 'Example' },
    },
    'for a choice': select,
    'for several of one': offer({ options: options(1), allow_multiple: true }),
    'for one of fifty': offer({ options: options(50), allow_multiple: false }),
    'with labels': offer({ options: [{ value: 'main', label: 'Main', description: 'The branch' }] }),
  }
  const refused: Record<string, Record<string, unknown>> = {
    'for a stop': { signal: 'stop' },
    'for something else': { signal: 'dance', signal_metadata: {} },
    'for nothing': { signal: '' },
    'with metadata alone': { signal_metadata: select.signal_metadata },
    'without metadata': { signal: 'auth' },
    'for a choice without metadata': { signal: 'select' },
    'without a url': { signal: 'auth', signal_metadata: { provider_name: 'Example' } },
    'over http': { signal: 'auth', signal_metadata: { url: 'http://example.com' } },
    'with a script': { signal: 'auth', signal_metadata: { url: 'javascript:alert(1)' } },
    'with a url that is none': { signal: 'auth', signal_metadata: { url: 'https://' } },
    'with a secret beside it': { signal: 'auth', signal_metadata: { ...auth.signal_metadata, token: 'x' } },
    'with a name that is a number': { signal: 'auth', signal_metadata: { ...auth.signal_metadata, provider_name: 7 } },
    'for a choice as for a connection': { signal: 'select', signal_metadata: auth.signal_metadata },
    'without options': offer({}),
    'for one of none': offer({ options: [] }),
    'for one of fifty-one': offer({ options: options(51) }),
    'with an option without value': offer({ options: [{ label: 'Main' }] }),
    'with an option that is text': offer({ options: ['main'] }),
    'with an option that has more': offer({ options: [{ value: 'main', color: 'red' }] }),
    'with more beside the options': offer({ options: options(1), title: 'Branch' }),
    'with the same value twice': offer({ options: [{ value: 'main' }, { value: 'next' }, { value: 'main' }] }),
    'perhaps for several': offer({ options: options(2), allow_multiple: 'yes' }),
  }

  test(
    'with an elicitation, for a connection or a choice',
    verifies(
      'activity.signal-stored',
      'activity.signal-names',
      'activity.signal-auth-metadata',
      'activity.signal-select-metadata',
      'activity.signal-select-option-count',
    ),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      for (const [what, asked] of Object.entries(accepted)) {
        expect(await session.say('elicitation', asked), what).toMatchObject({ status: 201, body: asked })
      }
      expect(await session.activities()).toMatchObject(Object.values(accepted))
    },
  )

  test(
    'with no other signals or metadata',
    verifies(
      'activity.signal-names',
      'activity.signal-auth-metadata',
      'activity.signal-select-metadata',
      'activity.signal-select-option-count',
      'activity.signal-select-unique-values',
    ),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      await app.unchanged(async () => {
        for (const [what, asked] of Object.entries(refused)) {
          expect(await session.say('elicitation', asked), what).toMatchObject(invalid)
        }
      })
    },
  )

  test('for the connection of members only', async ({ app }) => {
    const { delegated, member, robot } = await sessionScene(app)
    const { member: stranger } = await app.workspace()
    const session = await delegated()
    const connecting = (user_id: string) => ({ ...auth, signal_metadata: { ...auth.signal_metadata, user_id } })
    for (const user of [stranger.user.id, robot.userId, 'u-1', '']) {
      const answer = await app.unchanged(() => session.say('elicitation', connecting(user)))
      expect(answer, user).toMatchObject(invalid)
      expect(Object.keys(answer.body.details)).toEqual(['signal_metadata.user_id'])
    }
    const asked = connecting(member.user.id)
    expect(await session.say('elicitation', asked)).toMatchObject({ status: 201, body: asked })
  })

  test('only with an elicitation', verifies('activity.signal-only-on-elicitation'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    for (const type of ['thought', 'action', 'response', 'error'] satisfies AppActivityType[]) {
      for (const asked of [auth, select, { signal: 'auth' }, { signal_metadata: {} }]) {
        expect(await app.unchanged(() => session.say(type, asked)), type).toMatchObject(invalid)
      }
    }
  })
})

describe('a person can answer', () => {
  test(
    'with a message',
    verifies('activity.person-message', 'activity.author-shape', 'activity.optional-defaults'),
    async ({ app }) => {
      const { delegated, member } = await sessionScene(app)
      const session = await delegated()
      const { status, body } = await session.write('**Hello**')
      expect(status).toBe(201)
      expect(body).toEqual({
        id: expect.stringMatching(/^act_/),
        seq: 1,
        type: 'prompt',
        content: { type: 'prompt', body: '**Hello**' },
        ephemeral: false,
        superseded_by_seq: null,
        signal: null,
        signal_metadata: null,
        author: { kind: 'user', id: member.user.id, name: member.user.display_name, avatar_url: null },
        created_at: app.clock.now().toISOString(),
      })
      expect(await session.activities()).toEqual([body])
    },
  )

  test('only with a prompt', verifies('activity.person-prompt-only'), async ({ app }) => {
    const { delegated, member } = await sessionScene(app)
    const { path, say } = await delegated()
    await say('elicitation', select)
    const bodies = [
      ...['thought', 'response', 'error', 'elicitation', 'action'].map((type) => ({ content: { type, body: 'Hm' } })),
      { content: { type: 'prompt', body: '' } },
      { content: { type: 'prompt', body: 'x'.repeat(32_001) } },
      { content: { type: 'prompt' } },
      { content: { type: 'prompt', body: 'Stop' }, signal: 'stop' },
      { content: { type: 'prompt', body: 'Hm' }, ephemeral: true },
      {},
    ]
    await app.unchanged(async () => {
      for (const body of bodies) {
        expect(await member.post(`${path}/activities`, body), JSON.stringify(body)).toMatchObject(invalid)
      }
    })
  })

  test('a choice with offered values', verifies('activity.person-select-answer'), async ({ app }) => {
    const { delegated, id: workspaceId } = await sessionScene(app)
    const session = await delegated()
    const { body: one } = await session.say('elicitation', select)
    const { body: many } = await session.say('elicitation', offer({ options: options(3), allow_multiple: true }))
    const answers = [
      { in_reply_to: one.id, selected: ['next'] },
      { in_reply_to: many.id, selected: ['v0'] },
      { in_reply_to: many.id, selected: ['v2', 'v0'] },
    ]
    for (const signal_metadata of answers) {
      const events = await eventsOf(app, workspaceId, async () => {
        expect(await session.write('This', { signal_metadata })).toMatchObject({
          status: 201,
          body: { signal_metadata },
        })
      })
      expect(events).toMatchObject([{ action: 'prompted', body: { data: { agent_activity: { signal_metadata } } } }])
    }
    expect((await session.activities()).slice(2)).toMatchObject(
      answers.map((signal_metadata) => ({ signal: null, signal_metadata })),
    )
    expect((await session.get()).state).toBe('pending')
  })

  test(
    'a choice only with values, and as many, as were offered',
    verifies('activity.person-select-answer'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      const elsewhere = await delegated()
      const { body: one } = await session.say('elicitation', select)
      const { body: connection } = await session.say('elicitation', auth)
      const { body: plain } = await session.say('elicitation')
      const { body: theirs } = await elsewhere.say('elicitation', select)
      const { body: prompt } = await session.write('Hm')
      const bad: [string, unknown][] = [
        ['signal_metadata.selected', { in_reply_to: one.id, selected: ['other'] }],
        ['signal_metadata.selected', { in_reply_to: one.id, selected: ['main', 'next'] }],
        ['signal_metadata.selected', { in_reply_to: one.id, selected: [] }],
        ['signal_metadata.selected', { in_reply_to: one.id, selected: ['main', 'main'] }],
        ['signal_metadata.selected', { in_reply_to: one.id }],
        ['signal_metadata.selected', { in_reply_to: one.id, selected: 'main' }],
        ['signal_metadata.in_reply_to', { selected: ['main'] }],
        ['signal_metadata.in_reply_to', { in_reply_to: connection.id, selected: ['main'] }],
        ['signal_metadata.in_reply_to', { in_reply_to: plain.id, selected: ['main'] }],
        ['signal_metadata.in_reply_to', { in_reply_to: prompt.id, selected: ['main'] }],
        ['signal_metadata.in_reply_to', { in_reply_to: theirs.id, selected: ['main'] }],
        ['signal_metadata.in_reply_to', { in_reply_to: 'act_00000000000000000000000000', selected: ['main'] }],
        ['signal_metadata.reason', { in_reply_to: one.id, selected: ['main'], reason: 'stopped' }],
      ]
      await app.unchanged(async () => {
        for (const [field, signal_metadata] of bad) {
          const answer = await session.write('This', { signal_metadata })
          expect(answer, JSON.stringify(signal_metadata)).toMatchObject(
            refusal(422, 'VALIDATION_ERROR', { [field]: expect.any(String) }),
          )
        }
      })
    },
  )
})
