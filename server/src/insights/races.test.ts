import { expect } from 'vitest'
import { bringTo, sessionScene } from '../../test/agent-sessions.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { rollUpDue } from './rollup.ts'

test('several nodes count each workspace once, with the rows of one node', {
  ...verifiesOnPostgres('insight.rollup-repeatable'),
  timeout: 60_000,
}, async ({ startApp }) => {
  const first = await startApp()
  const nodes = [first, await startApp({}, first), await startApp({}, first)]
  for (let workspace = 0; workspace < 6; workspace++) {
    const scene = await sessionScene(first)
    await bringTo(first, await scene.delegated(), 'complete')
    await scene.delegated()
  }
  const figures = () =>
    first.ctx.db.rows(sql`
      select to_jsonb(d)::text as row from agent_days d union all select to_jsonb(d)::text from flow_days d order by 1`)
  expect(await rollUpDue(first.ctx)).toBe(6)
  const expected = await figures()
  for (let round = 0; round < 4; round++) {
    // As before the first count.
    await first.ctx.db.run(sql`update insight_progress set as_of = null`)
    if (round % 2 === 0) await first.ctx.db.run(sql`delete from agent_days`)
    const counted = await Promise.all(nodes.map(({ ctx }) => rollUpDue(ctx)))
    expect(counted.reduce((sum, one) => sum + one, 0)).toBe(6)
    expect(await figures()).toEqual(expected)
  }
})
