import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { contents, sessionScene } from '../../test/agent-sessions.ts'
import type { Client, Response } from '../../test/client.ts'
import { type TestApp, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { admitActivity } from './activity-rate.ts'

const tooFast = { status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } }
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const stored = (answers: Response[]) => answers.filter(({ status }) => status === 201)

/** The largest number of activities in any interval of one second. */
const most = (moments: number[]) =>
  Math.max(0, ...moments.map((from) => moments.filter((at) => at >= from && at < from + 1000).length))

/** Fifty posts at once, in several rounds with some time between; verifies order and rate of the stored activities. */
async function postInParallel(app: TestApp, clients: Client[], path: string, { rounds = 6, limit = 10 } = {}) {
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
    'can post ten activities a second; a refusal says when to retry',
    verifies('rate.session-activities-10-per-second', 'rate.retry-after', 'config.session-rate'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      for (let posted = 0; posted < 10; posted++) expect((await session.say('thought')).status).toBe(201)
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
    'has a sliding limit for all types of activities together',
    verifies('rate.sliding-window', 'rate.session-activities-10-per-second'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      for (let posted = 0; posted < 5; posted++) await session.say('action')
      app.clock.advance({ milliseconds: 600 })
      for (let posted = 0; posted < 5; posted++) await session.say('elicitation')
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
    'is not limited by its other sessions, and people are not limited',
    verifies('rate.session-limit-is-per-session'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const [one, two] = [await delegated(), await delegated()]
      for (let posted = 0; posted < 10; posted++) await one.say('thought')
      expect((await one.say('thought')).status).toBe(429)
      for (let posted = 0; posted < 10; posted++) expect((await two.say('thought')).status).toBe(201)
      for (let posted = 0; posted < 15; posted++) expect((await one.write('Hm')).status).toBe(201)
      expect((await one.change({ plan: [] })).status).toBe(200)
      expect((await one.stop()).status).toBe(200)
    },
  )

  test(
    'is limited by stored activities only, not by refused ones',
    verifies('rate.session-activities-10-per-second'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      for (let tried = 0; tried < 20; tried++) await session.say({ type: 'thought', body: '' })
      for (let posted = 0; posted < 10; posted++) expect((await session.say('thought')).status).toBe(201)
      for (let tried = 0; tried < 20; tried++) expect((await session.say('thought')).status).toBe(429)
      app.clock.advance({ seconds: 1 })
      expect(stored(await times(20, () => session.say('thought')))).toHaveLength(10)
    },
  )

  test('has the limit that the operator configured', verifies('config.session-rate'), async ({ startApp }) => {
    const app = await startApp({ BATON_SESSION_RATE: '3' })
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    const answers = await times(5, () => session.say('thought'))
    expect(stored(answers)).toHaveLength(3)
    expect(answers.find(({ status }) => status === 429)?.headers.get('ratelimit-limit')).toBe('3')
  })

  test(
    'keeps order and limit with fifty concurrent posts',
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
      await postInParallel(app, [robot], path)
      expect((await say('thought')).status).toBe(201)
    },
  )

  test(
    'keeps order and limit with fifty concurrent posts to two processes',
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
      await postInParallel(app, [robot, other.anonymous.with(headers)], path)
    },
  )

  test(
    'loses no activity when people write at the same time',
    verifies('activity.seq-increasing-under-concurrency'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      const answers = await times(40, (index) =>
        index % 4 === 0
          ? session.say('thought')
          : index % 4 === 1
            ? session.change({ plan: [] })
            : session.write(`${index}`),
      )
      const posted = answers.filter(({ status }) => status === 201)
      expect(posted).toHaveLength(30)
      const seqs = posted.map(({ body }) => body.seq).sort((a, b) => a - b)
      expect(seqs).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
      expect((await session.activities()).map(({ seq }) => seq)).toEqual(seqs)
    },
  )
})

const at = (ms: number) => new Date(1_000_000 + ms)

const admit = (recent: number[], now: Date, perSecond: number, lastChange = now) =>
  admitActivity(recent, { now, lastChange }, perSecond)

/** Those of the attempts that are admitted. */
function admittedAt(attempts: number[], perSecond: number): number[] {
  let recent: number[] = []
  return attempts.filter((ms) => {
    const outcome = admit(recent, at(ms), perSecond)
    if ('waitMs' in outcome) return false
    recent = outcome.recent
    return true
  })
}

describe('admission of an activity', () => {
  test('is given up to the limit, and again one second after the first', () => {
    const ten = Array.from({ length: 10 }, () => 0)
    expect(admittedAt([...ten, 0, 999, 1000], 10)).toEqual([...ten, 1000])
  })

  test('uses a sliding window, not fixed seconds', () => {
    expect(admittedAt([0, 900, 1000, 1100, 1899, 1900, 2000], 2)).toEqual([0, 900, 1000, 1900, 2000])
  })

  test('stores only the times within the window', () => {
    const first = admit([], at(0), 3) as { recent: number[] }
    const later = admit(first.recent, at(1000), 3)
    expect(later).toEqual({ recent: [at(1000).getTime()] })
  })

  test('never exceeds the limit in any second, and is given after the stated wait', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, perSecond) => {
        let now = 0
        let recent: number[] = []
        const admitted: number[] = []
        for (const step of steps) {
          now += step
          const outcome = admit(recent, at(now), perSecond)
          if ('recent' in outcome) {
            recent = outcome.recent
            admitted.push(now)
            continue
          }
          expect(outcome.waitMs).toBeGreaterThan(0)
          expect(outcome.waitMs).toBeLessThanOrEqual(1000)
          expect('waitMs' in admit(recent, at(now + outcome.waitMs - 1), perSecond)).toBe(true)
          expect('recent' in admit(recent, at(now + outcome.waitMs), perSecond)).toBe(true)
        }
        expect(most(admitted)).toBeLessThanOrEqual(perSecond)
      }),
    )
  })

  test('counts activities that were stored while the caller waited for the lock', () => {
    const { recent } = admit([], at(3000), 1) as { recent: number[] }
    expect(admit(recent, at(0), 1)).toEqual({ waitMs: 4000 })
    expect(admit(recent, at(0), 2)).toEqual({ recent: [at(3000).getTime(), at(3000).getTime()] })
  })

  test('counts from the last change of the session, if that is later than now', () => {
    const times = admit([], at(0), 1, at(3000)) as { recent: number[] }
    expect(times).toEqual({ recent: [at(3000).getTime()] })
    expect(admit(times.recent, at(3999), 1)).toEqual({ waitMs: 1 })
  })

  test('never exceeds the limit, by the times of the activities, however long callers waited for the lock', () => {
    const posts = fc.array(fc.record({ step: fc.nat(400), lag: fc.nat(4_999), change: fc.boolean() }), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(posts, fc.integer({ min: 1, max: 5 }), (steps, perSecond) => {
        let [clock, lastChange] = [0, 0]
        let recent: number[] = []
        const admitted: number[] = []
        for (const { step, lag, change } of steps) {
          clock += step
          const now = clock - lag
          const time = Math.max(now, lastChange)
          const outcome = change ? undefined : admit(recent, at(now), perSecond, at(lastChange))
          if (outcome && 'waitMs' in outcome) continue
          if (outcome) {
            recent = outcome.recent
            admitted.push(time)
          }
          lastChange = time
        }
        expect(most(admitted)).toBeLessThanOrEqual(perSecond)
      }),
    )
  })

  test('ignores times that are far ahead, after the clock was set back', () => {
    const { recent } = admit([], at(0), 1) as { recent: number[] }
    expect(admit(recent, at(-500), 1, at(0))).toEqual({ waitMs: 1500 })
    expect(admit(recent, at(-5_000), 1, at(0))).toEqual({ recent: [at(-5_000).getTime()] })
  })
})
