import { expect } from 'vitest'
import { type TestApp, test } from '../../test/harness.ts'
import { OtherWorker } from '../../test/other-worker.ts'
import { sql } from '../db/sql.ts'

test('deliveries of the previous version survive a revocation like those of this version', async ({ startApp }) => {
  const { ctx, clock } = await startApp()
  const insert = (type: string) =>
    ctx.db.row(sql`
      insert into deliveries
        (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, next_at, created_at)
      values (${`dlv_${type}`}, 'wsp_a', 'whk_a', 'evt_a', ${type}, 'x', 'pending', 0, 0, ${clock.now()}, ${clock.now()})
      returning may_block, survives_revocation`)
  expect(await insert('OAuthApp')).toEqual({ may_block: true, survives_revocation: true })
  expect(await insert('AgentSessionEvent')).toEqual({ may_block: true, survives_revocation: false })
})

/** The previous version marks single deliveries as taken. */
const takeAsBefore = ({ ctx, clock }: TestApp) =>
  ctx.db.run(sql`
    update deliveries set claim_id = 'old', claim_kind = 'scheduled', lease_until = ${new Date(clock.now().getTime() + 30_000)}
    where status = 'pending' and claim_id is null`)

async function withDelivery(app: TestApp, url: string) {
  const { owner } = await app.workspace()
  await owner.post('/webhooks', { label: 'Hook', url, all_teams: true, resource_types: ['Issue'] })
  await owner.post('/issues', { title: 'A bug' })
  await app.endpointsWoken()
}

test('a worker of the previous version takes nothing from an owned endpoint', async ({ startApp, receiver }) => {
  const app = await startApp()
  await withDelivery(app, receiver.url)
  const worker = new OtherWorker(app)
  const { claimed } = await worker.claim()
  expect(claimed).toHaveLength(1)
  // The trigger compares with the time of the database.
  await app.ctx.db.run(sql`update endpoints set owner_until = now() + interval '30 seconds' where owner is not null`)
  expect(await takeAsBefore(app)).toBe(0)
  await worker.complete(claimed)
  expect(await app.ctx.db.rows(sql`select status, attempts from deliveries`)).toEqual([
    { status: 'succeeded', attempts: 1 },
  ])
})

test('an endpoint is not claimed while the previous version has a delivery of it', async ({ startApp, receiver }) => {
  const app = await startApp()
  await withDelivery(app, receiver.url)
  expect(await takeAsBefore(app)).toBe(1)
  await app.deliver()
  expect(receiver.take()).toEqual([])
  // Its worker died.
  app.clock.advance({ seconds: 30 })
  await app.deliver()
  expect(receiver.take()).toHaveLength(1)
})
