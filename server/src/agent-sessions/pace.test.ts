import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { contents, sessionScene } from '../../test/agent-sessions.ts'
import type { Client, Response } from '../../test/client.ts'
import { type TestApp, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { takeTurn } from './pace.ts'

const tooFast = { status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } }
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const stored = (answers: Response[]) => answers.filter(({ status }) => status === 201)

/** The most that any second holds, wherever it begins. */
const most = (moments: number[]) =>
  Math.max(0, ...moments.map((from) => moments.filter((at) => at >= from && at < from + 1000).length))

/** So many post at once, again and again, with a little time between; nothing breaks, and no second holds too much. */
async function crowd(app: TestApp, clients: Client[], path: string, { rounds = 6, limit = 10 } = {}) {
  const count = 50
  for (let round = 0; round < rounds; round++) {
    const answers = await times(count, (index) =>
      (clients[index % clients.length] as Client).post(`${path}/activities`, {
        content: index % 7 === 3 ? contents.elicitation : contents.thought,
        ...(index % 7 === 5 ? { ephemeral: true } : {}),
      }),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    expect(stored(answers).length).toBeLessThanOrEqual(limit)
    for (const answer of refused) {
      expect(answer).toMatchObject(tooFast)
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    app.clock.advance({ milliseconds: [130, 870, 1, 400, 999, 2000][round % 6] as number })
  }
  const { body } = await (clients[0] as Client).get(`${path}/activities?limit=200`)
  const activities: { seq: number; created_at: string; ephemeral: boolean; superseded_by_seq: number | null }[] =
    body.data
  expect(activities.map(({ seq }) => seq)).toEqual(activities.map((_, index) => index + 1))
  expect(most(activities.map(({ created_at }) => Date.parse(created_at)))).toBe(limit)
  activities.forEach(({ seq, ephemeral, superseded_by_seq }) => {
    expect(superseded_by_seq).toBe(ephemeral && seq < activities.length ? seq + 1 : null)
  })
  return activities
}

describe('an app in one session', () => {
  test(
    'posts ten activities a second, and is told when it may go on',
    verifies('rate.session-activities-10-per-second', 'rate.retry-after', 'config.session-rate'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      for (let said = 0; said < 10; said++) expect((await session.say('thought')).status).toBe(201)
      for (const type of ['thought', 'elicitation', 'response'] as const) {
        const { status, body, headers } = await app.unchanged(() => session.say(type))
        expect({ status, body }).toMatchObject(tooFast)
        expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
        expect(headers.get('ratelimit-remaining')).toBe('0')
      }
      app.clock.advance({ milliseconds: 999 })
      const { headers } = await app.unchanged(() => session.say('thought'))
      app.clock.advance({ seconds: Number(headers.get('retry-after')) })
      expect((await session.say('thought')).status).toBe(201)
    },
  )

  test(
    'has a second that slides, whatever it posts',
    verifies('rate.sliding-window', 'rate.session-activities-10-per-second'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      for (let said = 0; said < 5; said++) await session.say('action')
      app.clock.advance({ milliseconds: 600 })
      for (let said = 0; said < 5; said++) await session.say('elicitation')
      app.clock.advance({ milliseconds: 399 })
      expect(await app.unchanged(() => session.say('thought'))).toMatchObject(tooFast)
      app.clock.advance({ milliseconds: 1 })
      expect(stored(await times(10, () => session.say('response')))).toHaveLength(5)
      app.clock.advance({ milliseconds: 599 })
      expect(await app.unchanged(() => session.say('thought'))).toMatchObject(tooFast)
      app.clock.advance({ milliseconds: 1 })
      expect((await session.say('thought')).status).toBe(201)
    },
  )

  test(
    'leaves others alone: its other sessions, and people',
    verifies('rate.session-limit-is-per-session'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const [one, two] = [await delegated(), await delegated()]
      for (let said = 0; said < 10; said++) await one.say('thought')
      expect((await one.say('thought')).status).toBe(429)
      for (let said = 0; said < 10; said++) expect((await two.say('thought')).status).toBe(201)
      for (let said = 0; said < 15; said++) expect((await one.write('Hm')).status).toBe(201)
      expect((await one.change({ plan: [] })).status).toBe(200)
      expect((await one.stop()).status).toBe(200)
    },
  )

  test('is counted by what is stored alone', verifies('rate.session-activities-10-per-second'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    for (let tried = 0; tried < 20; tried++) await session.say({ type: 'thought', body: '' })
    for (let said = 0; said < 10; said++) expect((await session.say('thought')).status).toBe(201)
    for (let tried = 0; tried < 20; tried++) expect((await session.say('thought')).status).toBe(429)
    app.clock.advance({ seconds: 1 })
    expect(stored(await times(20, () => session.say('thought')))).toHaveLength(10)
  })

  test('has the pace that the operator chose', verifies('config.session-rate'), async ({ startApp }) => {
    const app = await startApp({ BATON_SESSION_RATE: '3' })
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    const answers = await times(5, () => session.say('thought'))
    expect(stored(answers)).toHaveLength(3)
    expect(answers.find(({ status }) => status === 429)?.headers.get('ratelimit-limit')).toBe('3')
  })

  test(
    'with fifty hands keeps its order and its pace',
    verifies(
      'activity.seq-increasing-under-concurrency',
      'rate.sliding-window',
      'rate.session-activities-10-per-second',
      'rate.retry-after',
      'activity.ephemeral-superseded',
    ),
    async ({ app }) => {
      const { delegated, robot } = await sessionScene(app)
      const { path, say } = await delegated()
      await crowd(app, [robot], path)
      expect((await say('thought')).status).toBe(201)
    },
  )

  test(
    'with fifty hands at two processes does so too',
    verifiesOnPostgres(
      'activity.seq-increasing-under-concurrency',
      'rate.sliding-window',
      'rate.session-activities-10-per-second',
    ),
    async ({ startApp }) => {
      const app = await startApp()
      const other = await startApp({}, app)
      const { delegated, robot, id } = await sessionScene(app)
      const { path } = await delegated()
      const headers = { authorization: `Bearer ${robot.token}`, 'x-workspace-id': id }
      await crowd(app, [robot, other.anonymous.with(headers)], path)
    },
  )

  test('and people at once lose no word', verifies('activity.seq-increasing-under-concurrency'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    const answers = await times(40, (index) =>
      index % 4 === 0
        ? session.say('thought')
        : index % 4 === 1
          ? session.change({ plan: [] })
          : session.write(`${index}`),
    )
    const spoken = answers.filter(({ status }) => status === 201)
    expect(spoken).toHaveLength(30)
    const seqs = spoken.map(({ body }) => body.seq).sort((a, b) => a - b)
    expect(seqs).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
    expect((await session.activities()).map(({ seq }) => seq)).toEqual(seqs)
  })
})

const at = (ms: number) => new Date(1_000_000 + ms)

/** When somebody who tries at these moments is let through. */
function spokenAt(attempts: number[], perSecond: number): number[] {
  let recent: number[] = []
  return attempts.filter((ms) => {
    const spoken = takeTurn(recent, at(ms), perSecond)
    if ('waitMs' in spoken) return false
    recent = spoken.recent
    return true
  })
}

describe('a turn', () => {
  test('is free up to the limit, and again a second after the first', () => {
    const ten = Array.from({ length: 10 }, () => 0)
    expect(spokenAt([...ten, 0, 999, 1000], 10)).toEqual([...ten, 1000])
  })

  test('slides: the second does not begin anew', () => {
    expect(spokenAt([0, 900, 1000, 1100, 1899, 1900, 2000], 2)).toEqual([0, 900, 1000, 1900, 2000])
  })

  test('keeps no more than it needs', () => {
    const first = takeTurn([], at(0), 3) as { recent: number[] }
    const later = takeTurn(first.recent, at(1000), 3)
    expect(later).toEqual({ recent: [at(1000).getTime()] })
  })

  test('no second holds more than the limit, and who waits as long as told is let through', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, perSecond) => {
        let now = 0
        let recent: number[] = []
        const spoken: number[] = []
        for (const step of steps) {
          now += step
          const outcome = takeTurn(recent, at(now), perSecond)
          if ('recent' in outcome) {
            recent = outcome.recent
            spoken.push(now)
            continue
          }
          expect(outcome.waitMs).toBeGreaterThan(0)
          expect(outcome.waitMs).toBeLessThanOrEqual(1000)
          expect('waitMs' in takeTurn(recent, at(now + outcome.waitMs - 1), perSecond)).toBe(true)
          expect('recent' in takeTurn(recent, at(now + outcome.waitMs), perSecond)).toBe(true)
        }
        expect(most(spoken)).toBeLessThanOrEqual(perSecond)
      }),
    )
  })

  test('a clock that was set back neither lets anybody through twice nor silences them for long', () => {
    const { recent } = takeTurn([], at(0), 1) as { recent: number[] }
    expect(takeTurn(recent, at(-500), 1)).toEqual({ waitMs: 1500 })
    expect(takeTurn(recent, at(-1000), 1)).toHaveProperty('recent')
  })
})
