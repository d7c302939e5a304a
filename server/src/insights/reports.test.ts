import { expect } from 'vitest'
import { bringTo, sessionScene } from '../../test/agent-sessions.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { rollUpDue } from './rollup.ts'

/** The statements that are sent while `work` runs. */
async function sentDuring({ ctx }: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = []
  ctx.db.observe({ waited: () => {}, ran: (text) => sent.push(text) })
  await work()
  return sent
}

const linesOf = (csv: string) =>
  csv
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))

test(
  'a report sends at most four statements, and reads figures that were counted',
  verifies('insight.bounded'),
  async ({ startApp }) => {
    const app = await startApp()
    const scene = await sessionScene(app)
    const { owner, team, robot } = scene
    const { body: cycle } = await owner.post('/cycles', { name: 'Week 1', team_id: team.id })
    await bringTo(app, await scene.delegated({ cycle_id: cycle.id }), 'complete')
    await rollUpDue(app.ctx)
    for (const path of [
      'agents',
      `agents?team_id=${team.id}&agent_id=${robot.userId}&by=month`,
      'agents/export',
      'flow',
      `flow?team_id=${team.id}`,
      'flow/export',
      'deliveries',
      `cycles/${cycle.id}`,
    ]) {
      const sent = await sentDuring(app, async () => {
        expect((await owner.get(`/insights/${path}`)).status).toBe(200)
      })
      expect({ path, count: sent.length }).toMatchObject({
        path,
        count: expect.toSatisfy((count: number) => count <= 4),
      })
      const tables = new Set(
        sent.flatMap((text) =>
          [...text.matchAll(/\b(?:from|join)\s+(\w+)/gi)].map(([, table]) => table?.toLowerCase()),
        ),
      )
      for (const big of ['issues', 'issue_changes', 'agent_sessions', 'agent_activities', 'deliveries', 'attempts'])
        expect({ path, reads: tables.has(big), big }).toEqual({ path, reads: false, big })
    }
  },
)

test('the export has the figures of the report, one row a period', verifies('insight.csv'), async ({ app }) => {
  const scene = await sessionScene(app)
  const { owner, robot } = scene
  for (const [index, currency] of ['USD', 'EUR', 'USD'].entries()) {
    const session = await scene.delegated()
    await session.say('thought')
    await robot.patch(session.path, {
      usage: { input_tokens: 100, output_tokens: 10, cost_micros: 1000 * (index + 1), currency },
    })
    app.clock.advance({ days: 4 })
  }
  await app.ctx.db.run(sql`update issues set completed_at = created_at + interval '2 days', status = 'done'
    where workspace_id = ${owner.workspaceId}`)
  await rollUpDue(app.ctx)
  for (const report of ['agents', 'flow']) {
    const { body } = await owner.get(`/insights/${report}?by=week`)
    const file = await owner.get(`/insights/${report}/export?by=week`)
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(file.headers.get('content-disposition')).toBe(
      `attachment; filename="${report}-${body.from}-to-${body.to}.csv"`,
    )
    const [head, ...rows] = linesOf(file.body) as [string[], ...string[][]]
    expect(rows).toHaveLength(body.periods.length)
    const cells = rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index]])))
    for (const [index, { from, to, figures }] of body.periods.entries()) {
      const { first_activity, answer_time, lead_time, cycle_time, open, costs, ...counts } = figures
      const expected: Record<string, unknown> = { from, to, ...counts }
      for (const [name, durations] of Object.entries({ first_activity, answer_time, lead_time, cycle_time })) {
        if (durations === undefined) continue
        for (const key of ['count', 'p50_ms', 'p90_ms'])
          expected[`${name}_${key}`] = (durations as Record<string, number> | null)?.[key] ?? ''
      }
      for (const [age, issues] of Object.entries(open ?? {})) expected[`open_${age}`] = issues
      if (costs) {
        for (const currency of ['EUR', 'USD'])
          expected[`cost_micros_${currency}`] =
            costs.find((cost: { currency: string }) => cost.currency === currency)?.cost_micros ?? 0
      }
      expect(cells[index]).toEqual(
        Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, String(value)])),
      )
    }
    // Something is in it, and a spreadsheet runs none of it.
    expect(rows.flat().some((cell) => Number(cell) > 0)).toBe(true)
    for (const cell of [...head, ...rows.flat()]) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
  }
})

test('a cell that a spreadsheet would run gets a leading apostrophe', verifies('insight.csv'), async () => {
  const { agentsCsv } = await import('./csv.ts')
  const figures = {
    ...{ opened: 1, finished: 0, failed: 0, stopped: 0, stale: 0, waiting: 0, under_way: 1, asked: 0, accepted: 0 },
    ...{ sent_back: 0, input_tokens: 0, output_tokens: 0, first_activity: null, answer_time: null, costs: [] },
  }
  for (const start of ['=', '+', '-', '@', '\t', '\r']) {
    const period = { from: `${start}1`, to: '2026-03-02', figures }
    const { body } = agentsCsv({ from: '', to: '', by: 'day', as_of: null, periods: [period], agents: [] })
    expect(body.split('\r\n')[1]).toMatch(start === '\r' ? /^"'\r1",/ : new RegExp(`^'\\${start}1,`))
  }
})

test('deliveries are counted by day, 30 days', async ({ app, receiver }) => {
  const { owner } = await app.workspace()
  const hook = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
  for (const _ of [1, 2]) await owner.post('/webhooks', hook)
  await owner.post('/issues', { title: 'One' })
  await app.deliver()
  app.clock.advance({ days: 1 })
  receiver.answer = 500
  await owner.post('/issues', { title: 'Two' })
  await app.deliver()
  const { days } = (await owner.get('/insights/deliveries')).body
  expect(days).toHaveLength(30)
  const day = (before: number) => new Date(app.clock.now().getTime() - before * 86_400_000).toISOString().slice(0, 10)
  expect(days.slice(-3)).toEqual([
    { date: day(2), succeeded: 0, failed: 0 },
    { date: day(1), succeeded: 2, failed: 0 },
    { date: day(0), succeeded: 0, failed: 2 },
  ])
  const { owner: stranger } = await app.workspace()
  expect((await stranger.get('/insights/deliveries')).body.days.at(-1)).toMatchObject({ succeeded: 0, failed: 0 })
})
