import { routes } from '@baton/protocol'
import fc from 'fast-check'
import { expect } from 'vitest'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { withDatabase } from '../../test/postgres.ts'
import { Db } from '../db/database.ts'
import { connectPostgres } from '../db/postgres.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { resolveToken } from '../login/tokens.ts'
import { type Taken, takeCall, takeFromWindow } from './rate-window.ts'

const minuteMs = 60_000

interface Call {
  gapMs: number
  max: number
}
const gapMs = fc.oneof(
  fc.integer({ min: 0, max: 9_000 }),
  fc.constantFrom(0, 1, minuteMs - 1, minuteMs, minuteMs + 1, 3 * minuteMs),
  // Another process, whose clock is a little behind.
  fc.integer({ min: -2_000, max: -1 }),
)
const limits = fc.uniqueArray(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 6, max: 30 })), {
  minLength: 1,
  maxLength: 2,
})
const history = limits.chain((sizes) =>
  fc.array(fc.record<Call>({ gapMs, max: fc.constantFrom(...sizes) }), { maxLength: 80 }),
)

/** The same rules, implemented with a list of call times. */
class Model {
  readonly max: number
  readonly times: number[] = []
  constructor(max: number) {
    this.max = max
  }
  take(now: number): Taken {
    const at = Math.max(now, this.times.at(-1) ?? 0)
    const counted = this.times.filter((time) => time > at - minuteMs)
    const allowed = counted.length < this.max
    if (allowed) {
      this.times.push(at)
      counted.push(at)
    }
    return { allowed, remaining: this.max - counted.length, reset_ms: (counted[0] as number) + minuteMs - now }
  }
}

test('a window gives the same results as a list of all call times, for any gaps, limits and clocks', async ({
  app,
}) => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(history, async (calls) => {
      const holder = `run ${++runs}`
      const models = new Map<number, Model>()
      let now = app.clock.now().getTime()
      for (const { gapMs, max } of calls) {
        now += gapMs
        const model = models.get(max) ?? new Model(max)
        models.set(max, model)
        const take = takeFromWindow({ name: 'api', max }, sql`${holder}::text`, new Date(now))
        expect(await app.ctx.db.row(sql`select * from ${take}`)).toEqual(model.take(now))
      }
      for (const { times, max } of models.values()) {
        times.slice(max).forEach((time, index) => {
          expect(time - (times[index] as number)).toBeGreaterThanOrEqual(minuteMs)
        })
      }
    }),
    { numRuns: 40 },
  )
})

test(
  'a window keeps its limit for concurrent calls on several connections',
  verifiesOnPostgres('rate.api-1200-per-minute'),
  async ({ startApp }) => {
    const app = await startApp({ BATON_API_RATE: '30' })
    const { owner } = await app.workspace()
    const { caller } = await resolveToken(app.ctx, (await app.installed(owner)).token, undefined, null)
    const [database] = await app.ctx.db.rows<{ name: string }>(sql`select current_database() as name`)
    const url = withDatabase(process.env.DATABASE_URL as string, database?.name ?? '')
    const nodes = [1, 2].map(() => new Db(connectPostgres(url, () => {})))
    const take = async (index: number) => {
      const ctx = { ...app.ctx, db: nodes[index % 2] as Db }
      return takeCall(ctx, caller, routes.getMe).then(
        () => 'let through',
        ({ code }) => code,
      )
    }
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => take(index)))
      expect(answers.filter((answer) => answer === 'let through')).toHaveLength(30)
      expect(answers.filter((answer) => answer === 'RATE_LIMIT_EXCEEDED')).toHaveLength(20)
      app.clock.advance({ minutes: 1 })
    }
    for (const db of nodes) await db.close()
  },
)

test('a window is deleted two minutes after its last call has left it, or when it is in the future', async ({
  startApp,
}) => {
  const app = await startApp({ BATON_API_RATE: '2' })
  const { owner } = await app.workspace()
  const robot = await app.installed(owner)
  const stored = () =>
    app.ctx.db.row(sql`
      select (select count(*) from rate_windows) as windows, (select count(*) from rate_window_calls) as calls`)
  await robot.get('/auth/me')
  app.clock.advance({ seconds: 59 })
  await robot.get('/auth/me')
  app.clock.advance({ seconds: 59 })
  await sweep(app.ctx)
  expect((await robot.get('/auth/me')).headers.get('ratelimit-remaining')).toBe('0')
  app.clock.advance({ minutes: 2, milliseconds: -1 })
  await sweep(app.ctx)
  expect(await stored()).toEqual({ windows: 1, calls: 2 })
  app.clock.advance({ milliseconds: 1 })
  await sweep(app.ctx)
  expect(await stored()).toEqual({ windows: 0, calls: 0 })
  // Written by a clock that was far ahead and has since been corrected.
  await robot.get('/auth/me')
  await app.ctx.db.run(sql`update rate_windows set last_at = last_at + ${minuteMs}`)
  await sweep(app.ctx)
  expect(await stored()).toEqual({ windows: 1, calls: 1 })
  await app.ctx.db.run(sql`update rate_windows set last_at = last_at + 1`)
  await sweep(app.ctx)
  expect(await stored()).toEqual({ windows: 0, calls: 0 })
})
