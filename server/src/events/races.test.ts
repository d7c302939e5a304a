import { expect } from 'vitest'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { collide } from '../../test/races.ts'
import { webhookScene } from '../../test/webhook.ts'
import { sql } from '../db/sql.ts'

const events = 200

test(
  'of replays that start at once one runs; two workers send each of its deliveries once and count each once',
  verifiesOnPostgres('replay.limits', 'replay.stops', 'replay.progress'),
  async ({ startApp, receiver }) => {
    const app = await startApp()
    const second = await startApp({}, app)
    const { owner, path, webhook, workspaceId } = await webhookScene(app, receiver)
    const since = app.clock.now().toISOString()
    await app.ctx.db.run(sql`
      with made as (
        insert into events (id, workspace_id, type, action, team_ids, body, created_at)
        select 'evt_' || lpad(n::text, 26, '0'), ${workspaceId}, 'Issue', 'create', '{}', '{"data":{}}', ${since}
        from generate_series(1, ${events}::int) n returning id
      )
      insert into deliveries (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled,
        created_at, settled_at)
      select delivery_id(id, ${webhook.id}), ${workspaceId}, ${webhook.id}, id, 'Issue', 'create', 'failed', 1, 1,
        ${since}, ${since} from made`)
    const started = await collide(app, sql`select 1 from endpoints where id = ${webhook.id} for update`, () =>
      Array.from({ length: 6 }, () => owner.post(`${path}/replays`, { since })),
    )
    expect(started.map(({ status, body }) => (status === 409 ? body.code : status)).sort()).toEqual([
      202,
      ...Array(5).fill('REPLAY_UNDER_WAY'),
    ])
    const id = started.find(({ status }) => status === 202)?.body.id
    const progress = async () => (await owner.get(`${path}/replays/${id}`)).body
    // A worker leaves when nothing is due for it; the other one may own the endpoint then.
    while ((await progress()).state === 'running') await Promise.all([app.deliver(), second.deliver()])
    expect(await progress()).toMatchObject({
      state: 'done',
      matched: events,
      sent: events,
      succeeded: events,
      failed: 0,
      skipped: 0,
    })
    const ids = receiver.take().map(({ headers }) => headers['svc-delivery'])
    expect(ids).toHaveLength(events)
    expect(new Set(ids).size).toBe(events)
  },
)
