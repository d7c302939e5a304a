import { expect } from 'vitest'
import { test } from '../../test/harness.ts'
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
