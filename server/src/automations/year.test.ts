import { expect } from 'vitest'
import { automationScene, daily } from '../../test/automations.ts'
import { test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const zone = 'America/New_York'
/** By the platform, which knows nothing of cron. */
const parts = new Intl.DateTimeFormat('en-CA', {
  timeZone: zone,
  dateStyle: 'short',
  timeStyle: 'short',
  hourCycle: 'h23',
})
const localTime = (instant: string | Date) => parts.format(new Date(instant)).replace(', ', ' ')
const dayOf = (instant: string | Date) => localTime(instant).slice(0, 10)

test('a schedule of a year runs once a day on two workers, through both changes of summer time', {
  ...verifies('automation.once-on-nodes', 'automation.dst-gap', 'automation.dst-overlap', 'automation.runs-at-instant'),
  timeout: 300_000,
}, async ({ startApp }) => {
  const app = await startApp()
  const { automate, work } = await automationScene(app)
  const actions = [{ type: 'create_issue', title: 'Report {{date}}' }] as const
  // On 8 March 2026 there is no 02:30 in New York, and on 1 November there are two of 01:30.
  const inGap = await automate({ trigger: daily('30 2 * * *', zone), actions: [...actions] })
  const inOverlap = await automate({ trigger: daily('30 1 * * *', zone), actions: [...actions] })

  const days = new Set<string>()
  for (let day = 0; day < 366; day++) {
    app.clock.advance({ days: 1 })
    days.add(dayOf(app.clock.now()))
    await Promise.all([work(), work()])
  }
  expect(days.size).toBe(366)

  for (const [{ id }, expected] of [
    [inGap, (day: string) => `${day} ${day === '2026-03-08' ? '03:00' : '02:30'}`],
    [inOverlap, (day: string) => `${day} 01:30`],
  ] as const) {
    const runs = await app.ctx.db.rows<{ cause: string; state: string }>(
      sql`select cause, state from automation_runs where automation_id = ${id} order by cause`,
    )
    expect(runs.filter(({ state }) => state !== 'done')).toEqual([])
    const times = runs.map(({ cause }) => localTime(cause))
    expect(times).toEqual([...days].map(expected))
  }
  const { count } = (await app.ctx.db.row<{ count: number }>(sql`
      select count(*)::int as count from issues where title like 'Report %'`)) as { count: number }
  const { runs } = (await app.ctx.db.row<{ runs: number }>(sql`
      select count(*)::int as runs from automation_runs`)) as { runs: number }
  expect(count).toBe(runs)
})
