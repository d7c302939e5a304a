import type { AppEventType } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import { type Enqueued, enqueue, unattemptedDelivery } from '../delivery/enqueue.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { writeLinearBodies } from './linear.ts'
import { countEvents, type EventActor } from './record.ts'

/** Actor of events that no user or app caused. */
export const systemActor: EventActor = { id: '', type: 'system', name: '' }

/** How the deliveries of each type of event differ; see the columns of the same names. */
const deliveryRules: Record<AppEventType, { mayBlock: boolean; survivesRevocation: boolean }> = {
  AgentSessionEvent: { mayBlock: true, survivesRevocation: false },
  PermissionChange: { mayBlock: false, survivesRevocation: false },
  OAuthApp: { mayBlock: false, survivesRevocation: true },
}

export interface AppEvent {
  type: AppEventType
  action: string
  actor: EventActor | null
  url: string
  data: { event_id: string } & Record<string, unknown>
  /** The agent session it belongs to. */
  sessionId?: string
}

/**
 * Records an event for one app and its delivery. Nothing is recorded while the app's webhook is disabled. If
 * `attemptedAfter` names an event whose delivery was not attempted yet, this one waits for that attempt.
 */
export async function recordForApp(
  { tx, now, cause }: UnitOfWork,
  installation: { id: string; workspace_id: string; endpointId: string },
  { type, action, actor, url, data, sessionId }: AppEvent,
  { attemptedAfter = null as string | null } = {},
): Promise<string> {
  const eventId = newId('evt')
  const { id: installationId, workspace_id: workspaceId, endpointId } = installation
  const { mayBlock, survivesRevocation } = deliveryRules[type]
  const body = { action, type, actor, created_at: now.toISOString(), data, url, workspace_id: workspaceId }
  const delivered = await tx.rows<Enqueued>(sql`
    with recorded as (
      insert into events
        (id, workspace_id, type, action, team_ids, body, created_at, agent_session_id, request_id, traceparent)
      select ${eventId}, ${workspaceId}, ${type}, ${action}, '{}', ${JSON.stringify(body)}::json, ${now},
        ${sessionId ?? null}, ${cause?.requestId ?? null}, ${cause?.traceparent ?? null}
      from endpoints where id = ${endpointId} and state = 'enabled' and deleted_at is null
        -- An A2A agent receives only messages, and has no use for other events.
        and (protocol = 'webhook' or ${type === 'AgentSessionEvent'}::boolean)
      returning *
    ), recipients as (
      select id as event_id, workspace_id, ${endpointId}::text as endpoint_id, ${installationId}::text as installation_id,
        type, action, created_at, ${unattemptedDelivery(attemptedAfter, endpointId)} as blocked_by,
        ${mayBlock}::boolean as may_block, ${survivesRevocation}::boolean as survives_revocation,
        (select compat from agent_apps where endpoint_id = ${endpointId}) as format
      from recorded
    )
    ${enqueue}`)
  await writeLinearBodies(tx, delivered, new Map([[eventId, body]]))
  if (delivered.length > 0) {
    tx.afterCommit('due', [endpointId])
    countEvents(tx, [{ id: eventId, type }])
  }
  return eventId
}
