import { limits, type PingResult } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { sendNow } from '../delivery/send-now.ts'
import { found } from '../http/errors.ts'
import { takeOne } from '../http/rate-limit.ts'
import { newId } from '../ids.ts'
import type { EventActor } from './record.ts'

interface PingedEndpoint {
  url: string
  secret: string
  nextSecret: string | null
  takesOverAt: string | null
  label: string
  appId: string | null
  installationId: string | null
  appUserId: string | null
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
  const { db, clock } = ctx
  const eventId = newId('evt')
  const now = clock.now()
  const endpoint = found(
    await db.row<PingedEndpoint>(sql`
      select e.url, e.secret, e.next_secret as "nextSecret", e.takes_over_at as "takesOverAt", e.label, e.app_id as "appId", i.id as "installationId", i.app_user_id as "appUserId",
        delivery_id(${eventId}, e.id) as "deliveryId"
      from endpoints e left join installations i on i.app_id = e.app_id and i.revoked_at is null
      where e.workspace_id = ${workspaceId} and e.id = ${endpointId} and e.deleted_at is null`),
  )
  const envelope = JSON.stringify({
    action: 'create',
    type: 'Ping',
    actor,
    created_at: now.toISOString(),
    data: { ...(endpoint.appId ? { event_id: eventId } : {}), webhook_id: endpointId, label: endpoint.label },
    url: '',
    workspace_id: workspaceId,
    ...(endpoint.appId ? { installation_id: endpoint.installationId, app_user_id: endpoint.appUserId } : {}),
  })
  await takeOne(db, `ping ${endpointId}`, rateLimit, now)
  const message = {
    id: endpoint.deliveryId,
    workspaceId,
    endpointId,
    eventId,
    type: 'Ping',
    action: 'create',
    envelope,
  }
  const { result, save } = await sendNow(ctx, message, endpoint.url, endpoint)
  await db.tx(async (tx) => {
    await tx.run(sql`
      insert into events (id, workspace_id, type, action, team_ids, body, created_at)
      values (${eventId}, ${workspaceId}, 'Ping', 'create', '{}', ${envelope}::json, ${now})`)
    await save(tx)
  })
  return result
}
