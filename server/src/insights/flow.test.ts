import type { FlowFigures, FlowInsights } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { refillInsights, rollUpDue } from './rollup.ts'

const dayMs = 86_400_000
const read = async (person: TestPerson, query = ''): Promise<FlowInsights> => {
  const { status, body } = await person.get(`/insights/flow${query}`)
  expect(status).toBe(200)
  return body
}
/** Counts now, however new the figures are. */
async function roll({ ctx }: TestApp, options = {}) {
  await ctx.db.run(sql`update insight_progress set as_of = as_of - interval '9 minutes'`)
  await rollUpDue(ctx, options)
}
const sumOf = ({ periods }: FlowInsights, key: 'created' | 'done') =>
  periods.reduce((sum, { figures }) => sum + figures[key], 0)

interface StoredIssue {
  team_id: string | null
  created_at: string
  completed_at: string | null
  started_at: string | null
}

/** 300 issues of a year in two teams and none, with a history of their status; every tenth is personal. */
async function fillYear(app: TestApp, { workspaceId, user }: TestPerson, teamIds: string[]) {
  const now = app.clock.now().getTime()
  await app.ctx.db.run(sql`
    with made as (
      insert into issues (id, workspace_id, code, title, description, status, priority, type, team_id, reporter_id,
        delegation_revision, completed_at, personal, sort_order, created_at, updated_at)
      select 'iss_flow' || ${workspaceId} || n, ${workspaceId}, 'FLOW-' || n, 'One', '',
        case when n % 3 > 0 then 'done' else 'todo' end, 'low', 'bug',
        case when n % 10 > 0 and n % 7 > 0 then (${teamIds}::text[])[n % 2 + 1] end, ${user.id}, 0,
        case when n % 3 > 0 then t.created + (n * 37 % 4000) * interval '10 minutes' end, n % 10 = 0, n, t.created, t.created
      from generate_series(1, 300) n,
        lateral (select ${new Date(now)}::timestamptz - (n * 131 % 430) * interval '24 hours' - n * interval '7 minutes'
          - interval '30 days' as created) t
      returning id, created_at, completed_at, right(id, 1) as digit)
    insert into issue_changes (id, workspace_id, issue_id, personal, changes, created_at)
    select 'chg_' || c.n || m.id, ${workspaceId}, m.id, false, c.changes::jsonb, c.at
    from made m, lateral (values
      (1, '{"status": {"from": "todo", "to": "in_progress"}}', m.created_at + (m.completed_at - m.created_at) * 0.25),
      (2, '{"status": {"from": "in_progress", "to": "todo"}}', m.created_at + (m.completed_at - m.created_at) * 0.5),
      (3, '{"status": {"from": "todo", "to": "in_progress"}}', m.created_at + (m.completed_at - m.created_at) * 0.75),
      (4, '{"status": {"from": "in_progress", "to": "done"}}', m.completed_at)) c (n, changes, at)
    where m.completed_at is not null and m.digit <> '1' and (m.digit <> '2' or c.n = 4)`)
}

/** The issues themselves, for sums that do without rollups. */
const issuesOf = ({ ctx }: TestApp, workspaceId: string) =>
  ctx.db.rows<StoredIssue>(sql`
    select i.team_id, i.created_at, i.completed_at, coalesce(
      (select min(c.created_at) from issue_changes c
        where c.issue_id = i.id and c.changes->'status'->>'to' = 'in_progress'),
      (select i.created_at from issue_changes c where c.issue_id = i.id)) as started_at
    from issues i where i.workspace_id = ${workspaceId} and not i.personal`)

function expected(issues: readonly StoredIssue[], from: string, to: string) {
  const inside = (time: string | null) => time !== null && time.slice(0, 10) >= from && time.slice(0, 10) <= to
  const end = Date.parse(`${to}T00:00:00.000Z`) + dayMs
  const open = issues.filter(
    ({ created_at, completed_at }) => Date.parse(created_at) < end && !(completed_at && Date.parse(completed_at) < end),
  )
  const age = ({ created_at }: StoredIssue) =>
    (Date.parse(`${to}T00:00:00.000Z`) - Date.parse(`${created_at.slice(0, 10)}T00:00:00.000Z`)) / dayMs
  const aged = (least: number, most: number) => open.filter((issue) => age(issue) > least && age(issue) <= most).length
  const done = issues.filter(({ completed_at }) => inside(completed_at))
  const times = (since: (issue: StoredIssue) => string | null) =>
    done
      .flatMap((issue) =>
        since(issue) ? [Date.parse(issue.completed_at as string) - Date.parse(since(issue) as string)] : [],
      )
      .sort((one, other) => one - other)
  return {
    created: issues.filter(({ created_at }) => inside(created_at)).length,
    done: done.length,
    lead: times(({ created_at }) => created_at),
    cycle: times(({ started_at }) => started_at),
    open: {
      days_7: aged(-1, 7),
      days_30: aged(7, 30),
      days_90: aged(30, 90),
      days_180: aged(90, 180),
      more: aged(180, Number.POSITIVE_INFINITY),
    },
  }
}

function expectDurations(found: FlowFigures['lead_time'], exact: readonly number[]) {
  if (exact.length === 0) return expect(found).toBeNull()
  expect(found?.count).toBe(exact.length)
  for (const [share, ms] of [
    [0.5, found?.p50_ms],
    [0.9, found?.p90_ms],
  ] as const) {
    const value = Math.max(60_000, exact[Math.ceil(share * exact.length) - 1] as number)
    expect(Math.abs((ms as number) - value) / value).toBeLessThanOrEqual(0.19)
  }
}

describe('flow', () => {
  test(
    'agrees with the issues themselves, for a year and for each team',
    verifies('insight.flow', 'insight.durations'),
    async ({ app }) => {
      const { owner, member, id } = await app.workspace()
      const teams = [
        (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body,
        (await owner.post('/teams', { name: 'Design', key: 'DES' })).body,
      ]
      await fillYear(
        app,
        owner,
        teams.map((team) => team.id),
      )
      // Small steps read every issue once, whatever their size.
      await roll(app, { rowsPerStep: 70 })
      const issues = await issuesOf(app, id)
      expect(issues).toHaveLength(270)
      const from = new Date(app.clock.now().getTime() - 365 * dayMs).toISOString().slice(0, 10)
      for (const [query, some] of [
        ['', issues],
        [`&team_id=${teams[0].id}`, issues.filter(({ team_id }) => team_id === teams[0].id)],
      ] as const) {
        const { periods } = await read(member, `?from=${from}&by=month${query}`)
        expect(periods.length).toBeGreaterThan(11)
        for (const { from, to, figures } of periods) {
          const exact = expected(some, from, to)
          expect({ from, figures }).toMatchObject({
            from,
            figures: { created: exact.created, done: exact.done, open: exact.open },
          })
          expectDurations(figures.lead_time, exact.lead)
          expectDurations(figures.cycle_time, exact.cycle)
        }
        expect(sumOf({ periods } as FlowInsights, 'done')).toBeGreaterThan(50)
      }
    },
  )

  test('follows changes through the API, without personal issues', verifies('insight.flow'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const make = async (fields = {}) =>
      (await owner.post('/issues', { title: 'One', team_id: team.id, ...fields })).body
    const [started, never] = [await make(), await make()]
    await make({ team_id: undefined, personal: true })
    app.clock.advance({ hours: 2 })
    await owner.put(`/issues/${started.id}`, { status: 'in_progress' })
    app.clock.advance({ hours: 4 })
    for (const { id } of [started, never]) await owner.put(`/issues/${id}`, { status: 'done' })
    const begun = await make({ status: 'in_progress' })
    await roll(app)
    const today = `?from=${app.clock.now().toISOString().slice(0, 10)}&by=day`
    const { periods } = await read(owner, today)
    expect(periods[0]?.figures).toMatchObject({
      ...{ created: 3, done: 2, open: { days_7: 1, days_30: 0, days_90: 0, days_180: 0, more: 0 } },
      ...{ lead_time: { count: 2 }, cycle_time: { count: 1 } },
    })
    expectDurations(periods[0]?.figures.lead_time ?? null, [6 * 3_600_000, 6 * 3_600_000])
    expectDurations(periods[0]?.figures.cycle_time ?? null, [4 * 3_600_000])

    // Created in progress: its cycle time begins with it. One that is reopened is not done.
    app.clock.advance({ hours: 8 })
    await owner.put(`/issues/${begun.id}`, { status: 'done' })
    await owner.put(`/issues/${never.id}`, { status: 'todo' })
    await roll(app)
    const after = (await read(owner, today)).periods[0]?.figures
    expect(after).toMatchObject({ created: 3, done: 2, cycle_time: { count: 2 }, open: { days_7: 1 } })
    expectDurations(after?.cycle_time ?? null, [4 * 3_600_000, 8 * 3_600_000])
  })

  test('counts the issues of an import on their days', verifies('insight.flow'), async ({ app }) => {
    const { owner, id } = await app.workspace()
    await roll(app)
    expect(sumOf(await read(owner), 'created')).toBe(0)
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    await fillYear(app, owner, [team.id, team.id])
    await roll(app)
    // Two days are counted again; without the end of an import nothing older is.
    expect(sumOf(await read(owner), 'created')).toBe(0)
    await refillInsights(app.ctx.db, id, app.clock.now())
    await roll(app)
    expect(sumOf(await read(owner), 'created')).toBeGreaterThan(20)
    const progress = await app.ctx.db.row(sql`
      select refill_at, claim_id from insight_progress where workspace_id = ${id}`)
    expect(progress).toEqual({ refill_at: null, claim_id: null })
  })
})

describe('the range', () => {
  for (const [query, field] of [
    ['from=2025-01-01&to=2026-01-02', 'from'],
    ['from=2026-01-01&to=2026-04-03&by=day', 'by'],
    ['from=2026-02-02&to=2026-02-01', 'from'],
    ['from=2026-02-30', 'from'],
    ['to=soon', 'to'],
    ['by=year', 'by'],
  ] as const) {
    test(`refuses ${query}`, verifies('insight.range'), async ({ app }) => {
      const { owner } = await app.workspace()
      for (const report of ['agents', 'agents/export', 'flow', 'flow/export']) {
        const response = await app.unchanged(() => owner.get(`/insights/${report}?${query}`))
        expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
        expect(Object.keys(response.body.details)).toEqual([field])
      }
    })
  }

  for (const [query, periods] of [
    ['from=2025-01-01&to=2026-01-01', 53],
    ['from=2025-01-01&to=2026-01-01&by=month', 13],
    ['from=2026-01-01&to=2026-04-02&by=day', 92],
    ['from=2026-02-01&to=2026-02-01&by=day', 1],
  ] as const) {
    test(`accepts ${query}`, verifies('insight.range'), async ({ app }) => {
      const { owner } = await app.workspace()
      for (const report of ['agents', 'flow']) {
        const { status, body } = await owner.get(`/insights/${report}?${query}`)
        expect([status, body.periods.length]).toEqual([200, periods])
      }
    })
  }
})
