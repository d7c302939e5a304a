// 20,000 due deliveries over 50 endpoints, against a bare loop that signs and posts the same bytes.
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { addEndpoints, sampleEvent, startReceiver } from '../setting.mjs'

export const count = 20_000
export const endpoints = 50
export const concurrency = 256
const drainedWithinMs = 300_000

export const rows = [
  {
    name: 'deliveries drained, 20,000 over 50 endpoints',
    unit: 'a second',
    better: 'more',
    target: 0.75,
    embeddedTarget: 0.55,
    floorIs: 'a bare loop that signs and posts, with no database',
  },
]

export async function run(setting) {
  const receiver = await startReceiver()
  try {
    return [{ ours: await drain(setting, receiver), floor: await floor(receiver) }]
  } finally {
    receiver.stop()
  }
}

/** Returns deliveries per second. */
export async function drain(setting, receiver) {
  const { db, sql, ctx } = setting
  const urls = Array.from({ length: endpoints }, (_, index) => `${receiver.url}/hook/${index}`)
  const { workspaceId, endpointIds } = await addEndpoints(setting, urls)
  const now = ctx.clock.now()
  const { type, action, teamIds: _, ...rest } = sampleEvent()
  const body = JSON.stringify({ action, type, ...rest, created_at: now, workspace_id: workspaceId })
  await db.run(sql`
    with made as (
      insert into events (id, workspace_id, type, action, team_ids, body, created_at)
      select 'evt_' || right(${endpointIds[0]}, 6) || lpad(n::text, 20, '0'), ${workspaceId}, 'Issue', 'create', '{}', ${body}::json, ${now}
      from generate_series(1, ${count / endpoints}::int) n returning *
    )
    insert into deliveries
      (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, next_at, created_at,
        may_block)
    select delivery_id(m.id, e.id), m.workspace_id, e.id, m.id, m.type, m.action, 'pending', 0, 0, ${now}, ${now}, false
    from made m, endpoints e where e.workspace_id = ${workspaceId}`)
  const pending = sql`select 1 from deliveries where workspace_id = ${workspaceId} and status = 'pending' limit 1`
  let worker
  const perSecond = await timeDrain(
    receiver,
    () => {
      worker = setting.startWorker()
    },
    () => db.row(pending),
  )
  await worker.stop()
  return perSecond
}

/** Deliveries per second from `start` until all have arrived and `isPending` finds none. */
export async function timeDrain(receiver, start, isPending) {
  await receiver.ask('reset')
  const started = performance.now()
  await start()
  const waiting = async () => (await receiver.ask('count')) < count
  for (const [isWaiting, pauseMs] of [
    [waiting, 20],
    [isPending, 5],
  ]) {
    while (await isWaiting()) {
      if (performance.now() - started > drainedWithinMs) throw new Error('the deliveries were not drained in time')
      await sleep(pauseMs)
    }
  }
  const seconds = (performance.now() - started) / 1000
  if ((await receiver.ask('count')) !== count) throw new Error('some deliveries were sent twice')
  return count / seconds
}

/** Signs and posts a delivery, with no database. */
export async function signAndPost(agent, origin, endpoint, body, at) {
  const answer = await agent.request({
    origin,
    path: `/hook/${endpoint}`,
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Svc-Webhook/1',
      'svc-delivery': 'dlv_bench',
      'svc-event': 'Issue',
      'svc-signature': createHmac('sha256', 'pwhsec_bench').update(body).digest('hex'),
      'svc-timestamp': String(at),
    },
    body,
  })
  await answer.body.dump()
  if (answer.statusCode >= 300) throw new Error(`the receiver answered ${answer.statusCode}`)
}

async function floor(receiver) {
  const agent = new Agent({ connections: concurrency })
  const envelope = JSON.stringify({ ...sampleEvent(), created_at: new Date(), workspace_id: 'wsp_bench' }).slice(0, -1)
  let left = count
  const loop = async () => {
    while (left-- > 0) {
      const at = Date.now()
      const body = Buffer.from(`${envelope},"webhook_id":"whk_bench","webhook_timestamp":${at}}`)
      await signAndPost(agent, receiver.url, left % endpoints, body, at)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: concurrency }, loop))
  const seconds = (performance.now() - started) / 1000
  await agent.close()
  return count / seconds
}
