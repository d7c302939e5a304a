import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { days, plus } from '../clock.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'

const eventsPerWorkspace = 600

async function withWebhooks(app: TestApp) {
  const { owner } = await app.workspace()
  for (const label of ['First', 'Second']) {
    const webhook = { label, url: 'https://example.com/', all_teams: true, resource_types: ['Issue'] }
    expect((await owner.post('/webhooks', webhook)).status).toBe(201)
  }
  return owner.workspaceId
}

/**
 * Events in the order of their ids: every tenth is new, although older ones follow it; of every tenth other the delivery
 * to the second webhook was settled today; all other deliveries are old.
 */
async function insertEvents({ ctx, clock }: TestApp, workspaceId: string) {
  const now = clock.now()
  const old = plus(now, -days(31))
  await ctx.db.run(sql`
    insert into events (id, workspace_id, type, action, team_ids, body, created_at)
    select 'evt_' || lpad(n::text, 10, '0') || 'e' || left(md5(${workspaceId} || n), 15), ${workspaceId}, 'Issue', 'create',
      '{}', '{}', case n % 10 when 0 then ${now}::timestamptz else ${old} end
    from generate_series(1, ${eventsPerWorkspace}::int) n`)
  await ctx.db.run(sql`
    insert into deliveries (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, created_at,
      settled_at)
    select delivery_id(v.id, e.id), v.workspace_id, e.id, v.id, v.type, v.action, 'succeeded', 1, 1, v.created_at,
      case when e.label = 'Second' and substr(v.id, 14, 1) = '5' then ${now} else v.created_at end
    from events v join endpoints e on e.workspace_id = v.workspace_id where v.workspace_id = ${workspaceId}`)
  await ctx.db.run(sql`
    insert into attempts (delivery_id, number, workspace_id, started_at, duration_ms, signature)
    select id, 1, workspace_id, created_at, 1, '' from deliveries where workspace_id = ${workspaceId}`)
}

test(
  'deletes what is older than 30 days, and keeps an event that still has a delivery',
  verifies('delivery.retention-30-days'),
  async ({ startApp }) => {
    const app = await startApp()
    const workspaceIds = [await withWebhooks(app), await withWebhooks(app)]
    for (const id of workspaceIds) await insertEvents(app, id)
    await sweep(app.ctx)
    const counts = await app.ctx.db.rows(sql`
      select substr(v.id, 14, 1) as digit, count(distinct v.id) as events, count(d.id) as deliveries,
        count(a.delivery_id) as attempts, array_agg(distinct e.label) as labels
      from events v join deliveries d on d.event_id = v.id join endpoints e on e.id = d.endpoint_id
      left join attempts a on a.delivery_id = d.id group by 1 order by 1`)
    const tenth = (eventsPerWorkspace / 10) * workspaceIds.length
    expect(counts).toEqual([
      { digit: '0', events: tenth, deliveries: 2 * tenth, attempts: 2 * tenth, labels: ['First', 'Second'] },
      { digit: '5', events: tenth, deliveries: tenth, attempts: tenth, labels: ['Second'] },
    ])
    expect(
      await app.ctx.db.row(sql`
        select (select count(*) from events) as events, (select count(*) from deliveries) as deliveries,
          (select count(*) from attempts) as attempts`),
    ).toEqual({ events: 2 * tenth, deliveries: 3 * tenth, attempts: 3 * tenth })

    app.clock.advance({ days: 31 })
    await sweep(app.ctx)
    expect(await app.ctx.db.rows(sql`select id from events`)).toEqual([])
    expect(await app.ctx.db.rows(sql`select id from deliveries`)).toEqual([])
    expect(await app.ctx.db.rows(sql`select delivery_id from attempts`)).toEqual([])
  },
)

test('an event and an endpoint have the same delivery id in every version', async ({ app }) => {
  const [eventId, endpointId] = ['evt_01m84wemwse0123456789abcde', 'whk_01m84wemwse0123456789abcde']
  const hash = createHash('md5').update(`${eventId}${endpointId}`).digest('hex')
  expect(await app.ctx.db.row(sql`select delivery_id(${eventId}, ${endpointId}) as id`)).toEqual({
    id: `dlv_01m84wemwse${hash.slice(0, 2)}8${hash.slice(2, 14)}`,
  })
})
