import { expect } from 'vitest'
import { bringTo, sessionScene } from '../../test/agent-sessions.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { refillInsights, rollUpDue, startInsights } from './rollup.ts'

/** Every row of figures, without the time of the count. */
const figuresOf = ({ ctx }: TestApp) =>
  ctx.db.rows<{ row: string }>(sql`
    select 'agents ' || to_jsonb(d)::text as row from agent_days d
    union all select 'flow ' || to_jsonb(d)::text from flow_days d
    union all select 'cycle ' || to_jsonb(d)::text from cycle_days d order by 1`)

async function fill(app: TestApp) {
  const scene = await sessionScene(app)
  const { owner, team } = scene
  const { body: cycle } = await owner.post('/cycles', { name: 'Week 1', team_id: team.id })
  for (const state of ['complete', 'error', 'awaitingInput', 'active'] as const) {
    await bringTo(app, await scene.delegated({ cycle_id: cycle.id }), state)
    app.clock.advance({ days: 1 })
  }
  const { data } = (await owner.get('/issues?limit=2')).body
  for (const { id } of data) await owner.put(`/issues/${id}`, { status: 'done' })
  return scene
}

/** The database of a process that dies before the statement with this number: nothing reaches it from then on. */
function dying(db: Db, statements: number) {
  let left = statements
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (name === 'tx') {
            const work = args[0] as (tx: object) => unknown
            return value.call(target, (tx: object) => work(wrap(tx)))
          }
          if (left-- <= 0) return Promise.reject(new Error('killed'))
          return value.apply(target, args)
        }
      },
    })
  return { db: wrap(db), died: () => left < 0 }
}

test('a count that was killed before any of its statements is repeated with the same rows', {
  ...verifies('insight.rollup-repeatable'),
  timeout: 60_000,
}, async ({ startApp }) => {
  const app = await startApp()
  await fill(app)
  expect(await rollUpDue(app.ctx)).toBe(1)
  const expected = await figuresOf(app)
  expect(expected.length).toBeGreaterThan(10)
  let killed = 0
  for (let statements = 1; ; statements++) {
    // As before the first count, and with rows that are wrong.
    await app.ctx.db.run(sql`delete from insight_progress`)
    await app.ctx.db.run(sql`update agent_days set opened = opened + 1, agent_id = agent_id || 'x'`)
    await app.ctx.db.run(sql`update flow_days set open = '{9,9,9,9,9}', day = day - 3`)
    await app.ctx.db.run(sql`delete from cycle_days where scope = 1`)
    const { db, died } = dying(app.ctx.db, statements)
    await rollUpDue({ ...app.ctx, db }).catch(() => {})
    if (!died()) break
    killed++
    // The claim of the dead worker ends.
    const before = app.clock.now()
    await app.ctx.db.run(sql`update insight_progress set claimed_until = ${before}`)
    await rollUpDue(app.ctx)
    expect(await figuresOf(app)).toEqual(expected)
  }
  expect(killed).toBeGreaterThan(10)
  expect(await figuresOf(app)).toEqual(expected)
})

test('a claim keeps other workers away until it ends', verifies('insight.rollup-repeatable'), async ({ startApp }) => {
  const app = await startApp()
  await app.workspace()
  // 1: rows of progress, 2: the claim.
  const { db } = dying(app.ctx.db, 2)
  await rollUpDue({ ...app.ctx, db }).catch(() => {})
  app.clock.advance({ minutes: 2, milliseconds: -1 })
  expect(await rollUpDue(app.ctx)).toBe(0)
  app.clock.advance({ milliseconds: 1 })
  expect(await rollUpDue(app.ctx)).toBe(1)
})

test(
  'counting again writes no row that stays the same',
  verifies('insight.rollup-repeatable'),
  async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await fill(app)
    await rollUpDue(app.ctx)
    const versions = () =>
      app.ctx.db.rows(sql`
      select xmin::text as version from agent_days union all select xmin::text from flow_days
      union all select xmin::text from cycle_days order by 1`)
    const before = await versions()
    await refillInsights(app.ctx.db, owner.workspaceId, app.clock.now())
    app.clock.advance({ minutes: 9 })
    expect(await rollUpDue(app.ctx)).toBe(1)
    expect(await versions()).toEqual(before)
  },
)

test('steps of any size give the same rows', verifies('insight.rollup-repeatable'), async ({ startApp }) => {
  const app = await startApp()
  await fill(app)
  await rollUpDue(app.ctx)
  const expected = await figuresOf(app)
  for (const rowsPerStep of [10, 17, 1000]) {
    await app.ctx.db.run(sql`delete from insight_progress`)
    await app.ctx.db.run(sql`delete from agent_days`)
    await app.ctx.db.run(sql`delete from flow_days`)
    await rollUpDue(app.ctx, { rowsPerStep })
    expect(await figuresOf(app)).toEqual(expected)
  }
})

test('figures are at most 10 minutes old while a worker runs, and have no time before the first count', {
  ...verifies('insight.as-of'),
  timeout: 60_000,
}, async ({ startApp }) => {
  const app = await startApp()
  const { owner, member } = await app.workspace()
  const asOf = async (person: TestPerson, report: string) => (await person.get(`/insights/${report}`)).body.as_of
  expect(await asOf(owner, 'agents')).toBeNull()
  expect(await asOf(member, 'flow')).toBeNull()
  app.clock.advance({ hours: 2 })
  const stop = startInsights(app.ctx)
  let counts = 0
  let last: string | null = null
  for (let third = 0; third < 3 * 40; third++) {
    app.clock.advance({ seconds: 20 })
    // The worker waits for its next look when it has counted.
    await expect.poll(() => app.clock.nextInMs, { timeout: 20_000, interval: 5 }).toBe(20_000)
    const at = await asOf(member, 'flow')
    expect(app.clock.now().getTime() - Date.parse(at)).toBeLessThanOrEqual(600_000)
    if (at !== last) counts++
    last = at
  }
  await stop()
  // It does not count all the time either.
  expect(counts).toBe(5)
})

test('a new workspace is counted every minute for an hour', verifies('insight.as-of'), async ({ startApp }) => {
  const app = await startApp()
  await app.workspace()
  expect(await rollUpDue(app.ctx)).toBe(1)
  app.clock.advance({ seconds: 59 })
  expect(await rollUpDue(app.ctx)).toBe(0)
  app.clock.advance({ seconds: 1 })
  expect(await rollUpDue(app.ctx)).toBe(1)
  app.clock.advance({ minutes: 59 })
  expect(await rollUpDue(app.ctx)).toBe(1)
  app.clock.advance({ minutes: 8, milliseconds: -1 })
  expect(await rollUpDue(app.ctx)).toBe(0)
  app.clock.advance({ milliseconds: 1 })
  expect(await rollUpDue(app.ctx)).toBe(1)
})

test('a workspace that is being deleted is left alone', async ({ startApp }) => {
  const app = await startApp()
  const { id } = await app.workspace()
  await app.ctx.db.run(sql`update workspaces set purged_since = ${app.clock.now()} where id = ${id}`)
  expect(await rollUpDue(app.ctx)).toBe(0)
  expect(await app.ctx.db.rows(sql`select 1 from insight_progress`)).toEqual([])
})
