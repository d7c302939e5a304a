import { describe, expect } from 'vitest'
import { contents, ended, invalid, refusal, sessionScene } from '../../test/agent-sessions.ts'
import { test, verifies, verifiesOnPostgres } from '../../test/harness.ts'

const keyed = (key: string) => ({ 'idempotency-key': key })
const reused = refusal(409, 'IDEMPOTENCY_KEY_REUSED')

describe('an Idempotency-Key', () => {
  test(
    'sent again is answered with the original, and stores nothing',
    verifies('activity.idempotency-replay', 'activity.idempotency-other-body-409'),
    async ({ app }) => {
      const { delegated, robot } = await sessionScene(app)
      const session = await delegated()
      for (const type of ['thought', 'elicitation', 'response'] as const) {
        const first = await session.say(type, {}, keyed(type))
        expect(first.status).toBe(201)
        app.clock.advance({ seconds: 5 })
        await session.say('thought')
        const again = await app.unchanged(() => session.say(type, {}, keyed(type)))
        expect(again).toMatchObject({ status: 201, body: first.body })
        const turned = Object.fromEntries(Object.entries(contents[type]).reverse())
        const other = await app.unchanged(() => session.say(turned, {}, keyed(type)))
        expect(other).toMatchObject({ status: 201, body: first.body })
        const bodies = [
          { content: { ...contents[type], body: 'Else' } },
          { content: contents.error },
          { content: contents[type], ephemeral: false },
        ]
        for (const body of bodies) {
          const refused = await app.unchanged(() =>
            robot.post(`${session.path}/activities`, body, { headers: keyed(type) }),
          )
          expect(refused).toMatchObject(reused)
        }
      }
    },
  )

  test('is known in its session alone', verifies('activity.idempotency-scoped-to-session'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const [one, two] = [await delegated(), await delegated()]
    const first = await one.say('thought', {}, keyed('k'))
    const second = await two.say('thought', {}, keyed('k'))
    const third = await two.say('response', {}, keyed('l'))
    expect([first.status, second.status, third.status]).toEqual([201, 201, 201])
    expect(second.body.id).not.toBe(first.body.id)
    expect([await one.activities(), await two.activities()]).toMatchObject([[first.body], [second.body, third.body]])
  })

  test('has 1 to 64 characters', verifies('activity.idempotency-key-length'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    for (const key of ['', 'k'.repeat(65), 'k'.repeat(1000)]) {
      const field = { 'Idempotency-Key': expect.any(String) }
      const answer = await app.unchanged(() => session.say('thought', {}, keyed(key)))
      expect(answer).toMatchObject(refusal(422, 'VALIDATION_ERROR', field))
      expect(await app.unchanged(() => session.write('Hm', {}, keyed(key)))).toMatchObject(invalid)
    }
    for (const key of ['k', 'k'.repeat(64), "'; drop table x; -- %"]) {
      const { status, body } = await session.say('thought', {}, keyed(key))
      expect(status).toBe(201)
      expect((await session.say('thought', {}, keyed(key))).body).toEqual(body)
    }
  })

  test('is not used up by what was refused', verifies('activity.idempotency-replay'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    await app.unchanged(() => session.say({ type: 'thought', body: '' }, {}, keyed('k')))
    for (let said = 0; said < 10; said++) await session.say('thought')
    expect((await app.unchanged(() => session.say('thought', {}, keyed('k')))).status).toBe(429)
    app.clock.advance({ seconds: 1 })
    expect(await session.say('thought', {}, keyed('k'))).toMatchObject({ status: 201, body: { seq: 11 } })
  })

  test(
    'of a person works the same, and is not the app’s',
    verifies('activity.idempotency-replay', 'activity.idempotency-other-body-409'),
    async ({ app }) => {
      const { delegated, owner } = await sessionScene(app)
      const session = await delegated()
      const first = await session.write('Hello', {}, keyed('k'))
      expect(await app.unchanged(() => session.write('Hello', {}, keyed('k')))).toMatchObject({
        status: 201,
        body: first.body,
      })
      expect(await app.unchanged(() => session.write('Hi', {}, keyed('k')))).toMatchObject(reused)
      expect(await app.unchanged(() => session.say('thought', {}, keyed('k')))).toMatchObject(reused)
      const body = { content: { type: 'prompt', body: 'Hello' } }
      const other = () => owner.post(`${session.path}/activities`, body, { headers: keyed('k') })
      expect(await app.unchanged(other)).toMatchObject(reused)
    },
  )

  test('is answered after the end too', verifies('activity.replay-after-end'), async ({ app }) => {
    const { delegated, owner } = await sessionScene(app)
    const ends = [
      async (session: Awaited<ReturnType<typeof delegated>>) => {
        await session.stop()
        app.clock.advance({ seconds: 60 })
        return 'stopped'
      },
      async (session: Awaited<ReturnType<typeof delegated>>) => {
        await owner.delete(`/issues/${(await session.get()).issue?.id}`)
        return 'issue_deleted'
      },
    ]
    for (const end of ends) {
      const session = await delegated()
      const said = await session.say('thought', {}, keyed('k'))
      const asked = await session.say('elicitation', {}, keyed('l'))
      const written = await session.write('Hello', {}, keyed('m'))
      const reason = await end(session)
      await app.unchanged(async () => {
        const replayed = [
          await session.say('thought', {}, keyed('k')),
          await session.say('elicitation', {}, keyed('l')),
          await session.write('Hello', {}, keyed('m')),
        ]
        expect(replayed).toMatchObject([said, asked, written].map(({ body }) => ({ status: 201, body })))
        expect(await session.say('error', {}, keyed('k'))).toMatchObject(reused)
        expect(await session.say('thought', {}, keyed('n'))).toMatchObject(ended(reason))
      })
    }
  })

  test(
    'is answered over the limit, and does not count towards it',
    verifies('activity.replay-not-limited'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      const first = await session.say('thought', {}, keyed('k'))
      for (let again = 0; again < 20; again++) expect((await session.say('thought', {}, keyed('k'))).status).toBe(201)
      for (let said = 0; said < 9; said++) expect((await session.say('thought')).status).toBe(201)
      expect((await app.unchanged(() => session.say('thought'))).status).toBe(429)
      expect(await session.say('thought', {}, keyed('k'))).toMatchObject({ status: 201, body: first.body })
      app.clock.advance({ seconds: 1 })
      expect(await session.say('thought')).toMatchObject({ status: 201, body: { seq: 11 } })
    },
  )

  for (const type of ['thought', 'response'] as const) {
    test(
      `of a ${type} that comes a hundred times at once is stored once`,
      verifies('activity.idempotency-replay', 'activity.seq-increasing-under-concurrency'),
      async ({ app }) => {
        const { delegated, member } = await sessionScene(app)
        const session = await delegated()
        const answers = await Promise.all(Array.from({ length: 100 }, () => session.say(type, {}, keyed('k'))))
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
        expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
        expect(await session.activities()).toEqual([answers[0]?.body])
        const finished = (await member.get('/inbox')).body.data.filter(({ kind }: { kind: string }) => {
          return kind === 'agent_finished'
        })
        expect(finished).toHaveLength(type === 'response' ? 1 : 0)
      },
    )
  }

  test(
    'that comes to two processes at once is stored once',
    verifiesOnPostgres('activity.idempotency-replay', 'activity.seq-increasing-under-concurrency'),
    async ({ startApp }) => {
      const app = await startApp()
      const other = await startApp({}, app)
      const { delegated, robot, id } = await sessionScene(app)
      const { path, activities } = await delegated()
      const headers = { authorization: `Bearer ${robot.token}`, 'x-workspace-id': id }
      const nodes = [app, other].map(({ anonymous }) => anonymous.with(headers))
      for (const content of [contents.thought, contents.response]) {
        const answers = await Promise.all(
          Array.from({ length: 100 }, (_, index) =>
            nodes[index % 2]?.post(`${path}/activities`, { content }, { headers: keyed(content.type) }),
          ),
        )
        expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([201]))
        expect(new Set(answers.map((answer) => JSON.stringify(answer?.body))).size).toBe(1)
      }
      expect((await activities()).map(({ seq, type }) => [seq, type])).toEqual([
        [1, 'thought'],
        [2, 'response'],
      ])
    },
  )
})
