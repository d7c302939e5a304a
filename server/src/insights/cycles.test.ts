import type { CycleInsights } from '@baton/protocol'
import { expect } from 'vitest'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { rollUpDue } from './rollup.ts'

async function roll({ ctx }: TestApp, options = {}) {
  await ctx.db.run(sql`update insight_progress set as_of = as_of - interval '9 minutes'`)
  await rollUpDue(ctx, options)
}

const day = ({ clock }: TestApp, after = 0) =>
  new Date(clock.now().getTime() + after * 86_400_000).toISOString().slice(0, 10)

const burnUp = async (person: TestPerson, id: string): Promise<CycleInsights> =>
  (await person.get(`/insights/cycles/${id}`)).body

async function cyclesScene(app: TestApp) {
  const { owner, member } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const make = async (name: string, fields = {}) =>
    (await owner.post('/cycles', { name, team_id: team.id, ...fields })).body
  const from = day(app)
  const cycle = await make('Week 1', {
    starts_at: `${from}T00:00:00.000Z`,
    ends_at: `${day(app, 6)}T23:59:59.000Z`,
  })
  const issue = async (fields = {}) => (await owner.post('/issues', { title: 'One', team_id: team.id, ...fields })).body
  return { owner, member, team, cycle, other: await make('Week 2'), issue, from }
}

test(
  'the burn-up has the scope and the issues done of each day, with moves in and out',
  verifies('insight.cycle'),
  async ({ app }) => {
    const { owner, member, cycle, other, issue, from } = await cyclesScene(app)
    const change = (id: string, fields: object) => owner.put(`/issues/${id}`, fields)
    // Day 1: three in the cycle, one in the other.
    const [a, b, c] = [await issue({ cycle_id: cycle.id }), await issue({ cycle_id: cycle.id }), await issue()]
    await change(c.id, { cycle_id: cycle.id })
    const d = await issue({ cycle_id: other.id })
    // Day 2: one done, one moved to the other cycle, one created.
    app.clock.advance({ days: 1 })
    await change(a.id, { status: 'done' })
    await change(b.id, { cycle_id: other.id })
    await issue({ cycle_id: cycle.id })
    // Day 3: in and out on the same day counts at its end; the done one leaves.
    app.clock.advance({ days: 1 })
    await change(d.id, { cycle_id: cycle.id })
    await change(d.id, { cycle_id: null })
    await change(a.id, { cycle_id: null })
    // Day 4: nothing. Day 5: one comes back.
    app.clock.advance({ days: 2 })
    await change(b.id, { cycle_id: cycle.id, status: 'done' })
    // One that is deleted was never there.
    const gone = await issue({ cycle_id: cycle.id })
    await owner.delete(`/issues/${gone.id}`)
    await roll(app, { rowsPerStep: 20 })
    const expected = [
      [3, 0],
      [3, 1],
      [2, 0],
      [2, 0],
      [3, 1],
    ]
    const found = await burnUp(member, cycle.id)
    expect(found).toMatchObject({ cycle_id: cycle.id, from, to: day(app, 2), as_of: app.clock.now().toISOString() })
    expect(found.days.map(({ date, scope, done }) => [date, scope, done])).toEqual(
      expected.map(([scope, done], index) => [day(app, index - 4), scope, done]),
    )
    expect((await burnUp(member, other.id)).days.map(({ scope }) => scope)).toEqual([1, 2, 1, 1, 0])

    // After the end its days stay.
    app.clock.advance({ days: 3 })
    await roll(app)
    const ended = (await burnUp(member, cycle.id)).days
    expect(ended.map(({ scope }) => scope)).toEqual([3, 3, 2, 2, 3, 3, 3])
    app.clock.advance({ days: 5 })
    await issue({ cycle_id: cycle.id })
    await roll(app)
    expect((await burnUp(member, cycle.id)).days).toEqual(ended)
  },
)

test('other dates of a cycle change its days', verifies('insight.cycle'), async ({ app }) => {
  const { owner, cycle, issue } = await cyclesScene(app)
  await issue({ cycle_id: cycle.id })
  await roll(app)
  expect((await burnUp(owner, cycle.id)).days).toHaveLength(1)
  await owner.put(`/cycles/${cycle.id}`, { starts_at: `${day(app, -2)}T00:00:00.000Z` })
  await roll(app)
  expect((await burnUp(owner, cycle.id)).days.map(({ scope }) => scope)).toEqual([0, 0, 1])
  // One that has not begun has none.
  await owner.put(`/cycles/${cycle.id}`, { starts_at: `${day(app, 1)}T00:00:00.000Z` })
  await roll(app)
  expect((await burnUp(owner, cycle.id)).days).toEqual([])
})

test(
  'a cycle of another workspace is not found, and a deleted one leaves nothing',
  verifies('insight.cycle'),
  async ({ app }) => {
    const { owner, cycle, issue } = await cyclesScene(app)
    const { owner: stranger } = await app.workspace()
    await issue({ cycle_id: cycle.id })
    await roll(app)
    expect(await app.unchanged(() => stranger.get(`/insights/cycles/${cycle.id}`))).toMatchObject({
      status: 404,
      body: { code: 'RESOURCE_NOT_FOUND' },
    })
    await owner.delete(`/cycles/${cycle.id}`)
    expect((await owner.get(`/insights/cycles/${cycle.id}`)).status).toBe(404)
    expect(await app.ctx.db.rows(sql`select 1 from cycle_days where cycle_id = ${cycle.id}`)).toEqual([])
  },
)
