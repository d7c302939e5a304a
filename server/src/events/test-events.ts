import { type Compat, limits, type PingResult, receivableTypes, type TestEvent } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { SealedSecrets } from '../delivery/endpoints.ts'
import { sendNow } from '../delivery/send-now.ts'
import { found, invalid } from '../http/errors.ts'
import { takeOne } from '../http/rate-limit.ts'
import { newId } from '../ids.ts'
import { linearBodies } from '../linear-shape/bodies.ts'
import { eventExamples } from './examples.ts'
import { countEvents, type EventActor } from './record.ts'

interface TestedEndpoint extends SealedSecrets {
  url: string
  label: string
  resourceTypes: string[]
  appId: string | null
  installationId: string | null
  appUserId: string | null
  compat: Compat | null
  deliveryId: string
}

interface Example {
  type: string
  action: string
  url: string
  data: object
  updated_from?: Record<string, unknown>
}

const rateLimit = { limit: limits.testsPerMinute, periodMs: 60_000 }

/**
 * Sends one signed Ping or the example of an event, in any state of the endpoint, without retry (webhook.test-once).
 * Listed with the deliveries.
 */
export async function sendTest(
  ctx: Context,
  workspaceId: string,
  endpointId: string,
  actor: EventActor,
  wanted: TestEvent,
): Promise<PingResult> {
  const { db, clock, config, cause } = ctx
  const eventId = newId('evt')
  const now = clock.now()
  const endpoint = found(
    await db.row<TestedEndpoint>(sql`
      select e.url, e.secret, e.next_secret as "nextSecret", e.takes_over_at as "takesOverAt", e.label,
        e.resource_types as "resourceTypes", e.app_id as "appId", i.id as "installationId",
        i.app_user_id as "appUserId", a.compat, delivery_id(${eventId}, e.id) as "deliveryId"
      from endpoints e left join agent_apps a on a.id = e.app_id
        left join installations i on i.app_id = e.app_id and i.revoked_at is null
      where e.workspace_id = ${workspaceId} and e.id = ${endpointId} and e.deleted_at is null`),
  )
  const { appId, installationId, appUserId, compat } = endpoint
  const example = exampleFor(endpoint, wanted, config.rootUrl)
  const { type, action, url, data, updated_from }: Example = example ?? {
    type: 'Ping',
    action: 'create',
    url: '',
    data: { webhook_id: endpointId, label: endpoint.label },
  }
  const event = {
    action,
    type,
    actor,
    created_at: now.toISOString(),
    // A new id, so that receivers do not take it for an event that they have processed.
    data: appId ? { ...data, event_id: eventId } : data,
    ...(updated_from ? { updated_from } : {}),
    url,
    workspace_id: workspaceId,
    ...(appId ? { installation_id: installationId, app_user_id: appUserId } : {}),
    ...(example ? { test: true } : {}),
  }
  const recipient = { installationId: installationId ?? '', endpointId, envelope: event }
  const [envelope = ''] = compat ? await linearBodies(db, [recipient]) : [JSON.stringify(event)]
  await takeOne(db, `ping ${endpointId}`, rateLimit, now)
  const message = {
    id: endpoint.deliveryId,
    workspaceId,
    endpointId,
    eventId,
    type,
    action,
    envelope,
    format: compat,
    cause: cause ?? null,
  }
  const { result, save } = await sendNow(ctx, message, endpoint.url, endpoint)
  // Not under the type of the example: it is no change of an item.
  const recordedType = example ? 'Test' : 'Ping'
  await db.tx(async (tx) => {
    await tx.run(sql`
      insert into events (id, workspace_id, type, action, team_ids, body, created_at, request_id, traceparent)
      values (${eventId}, ${workspaceId}, ${recordedType}, ${action}, '{}', ${JSON.stringify(event)}::json, ${now},
        ${cause?.requestId ?? null}, ${cause?.traceparent ?? null})`)
    countEvents(tx, [{ id: eventId, type: recordedType }])
    await save(tx)
  })
  return result
}

/** The example to send; undefined for a Ping. */
function exampleFor({ resourceTypes, appId }: TestedEndpoint, { type, action }: TestEvent, rootUrl: string) {
  if (type === undefined && action === undefined) return undefined
  if (type === undefined) throw invalid({ type: 'is required with action' })
  if (action === undefined) throw invalid({ action: 'is required with type' })
  const types = receivableTypes(resourceTypes, appId !== null)
  if (!types.includes(type)) throw invalid({ type: `must be a type that this webhook receives: ${types.join(', ')}` })
  const ofType = eventExamples(rootUrl).filter((example) => example.type === type)
  const example = ofType.find((one) => one.action === action)
  if (!example) throw invalid({ action: `must be one of: ${ofType.map((one) => one.action).join(', ')}` })
  return type === 'Ping' ? undefined : (example.body as unknown as Example)
}
