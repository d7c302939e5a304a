import { type Compat, limits, type PingResult } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { sendNow } from '../delivery/send-now.ts'
import { found } from '../http/errors.ts'
import { takeOne } from '../http/rate-limit.ts'
import { newId } from '../ids.ts'
import { linearBodies } from '../linear-shape/bodies.ts'
import type { EventActor } from './record.ts'

interface PingedEndpoint {
  url: string
  secret: string
  label: string
  appId: string | null
  installationId: string | null
  appUserId: string | null
  compat: Compat | null
  deliveryId: string
}

const rateLimit = { limit: limits.testsPerMinute, periodMs: 60_000 }

/** Sends one signed Ping, in any state of the endpoint, without retry (webhook.test-once). Listed with the deliveries. */
export async function ping(
  ctx: Context,
  workspaceId: string,
  endpointId: string,
  actor: EventActor,
): Promise<PingResult> {
  const { db, clock, keys } = ctx
  const eventId = newId('evt')
  const now = clock.now()
  const endpoint = found(
    await db.row<PingedEndpoint>(sql`
      select e.url, e.secret, e.label, e.app_id as "appId", i.id as "installationId", i.app_user_id as "appUserId",
        a.compat, delivery_id(${eventId}, e.id) as "deliveryId"
      from endpoints e left join agent_apps a on a.id = e.app_id
        left join installations i on i.app_id = e.app_id and i.revoked_at is null
      where e.workspace_id = ${workspaceId} and e.id = ${endpointId} and e.deleted_at is null`),
  )
  const event = {
    action: 'create',
    type: 'Ping',
    actor,
    created_at: now.toISOString(),
    data: { ...(endpoint.appId ? { event_id: eventId } : {}), webhook_id: endpointId, label: endpoint.label },
    url: '',
    workspace_id: workspaceId,
    ...(endpoint.appId ? { installation_id: endpoint.installationId, app_user_id: endpoint.appUserId } : {}),
  }
  const recipient = { installationId: endpoint.installationId ?? '', endpointId, envelope: event }
  const [envelope] = endpoint.compat ? await linearBodies(db, [recipient]) : [JSON.stringify(event)]
  await takeOne(db, `ping ${endpointId}`, rateLimit, now)
  const message = {
    id: endpoint.deliveryId,
    workspaceId,
    endpointId,
    eventId,
    type: 'Ping',
    action: 'create',
    envelope: envelope as string,
    format: endpoint.compat,
  }
  const { result, save } = await sendNow(ctx, message, endpoint.url, keys.open(endpoint.secret, endpointId))
  await db.tx(async (tx) => {
    await tx.run(sql`
      insert into events (id, workspace_id, type, action, team_ids, body, created_at)
      values (${eventId}, ${workspaceId}, 'Ping', 'create', '{}', ${JSON.stringify(event)}::json, ${now})`)
    await save(tx)
  })
  return result
}
