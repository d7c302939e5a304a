import type { AppEventType } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import { isUnattempted } from '../delivery/claim.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { EventActor } from './record.ts'

/** decisions 7: nobody in particular. */
export const systemActor: EventActor = { id: '', type: 'system', name: '' }

export interface AppEvent {
  type: AppEventType
  action: string
  actor: EventActor | null
  url: string
  data: { event_id: string } & Record<string, unknown>
  /** That it happened in. */
  sessionId?: string
}

/**
 * 6.3: an event for one app alone. It is always delivered, unless the app's webhook is disabled; not before another
 * event's delivery was attempted, if `attemptedAfter` names one that still waits for that.
 */
export async function recordForApp(
  { tx, now }: UnitOfWork,
  installation: { id: string; workspace_id: string; endpointId: string },
  { type, action, actor, url, data, sessionId }: AppEvent,
  { attemptedAfter = null as string | null } = {},
): Promise<string> {
  const eventId = newId('evt')
  const { id: installationId, workspace_id: workspaceId, endpointId } = installation
  const body = { action, type, actor, created_at: now.toISOString(), data, url, workspace_id: workspaceId }
  const told = await tx.run(sql`
    with recorded as (
      insert into events (id, workspace_id, type, action, team_ids, body, created_at, agent_session_id)
      select ${eventId}, ${workspaceId}, ${type}, ${action}, '{}', ${JSON.stringify(body)}::json, ${now},
        ${sessionId ?? null}
      from endpoints where id = ${endpointId} and state = 'enabled' and deleted_at is null
      returning *
    )
    insert into deliveries (id, workspace_id, endpoint_id, event_id, installation_id, type, action, status, attempts,
      scheduled, next_at, created_at, blocked_by)
    select delivery_id(r.id, ${endpointId}), r.workspace_id, ${endpointId}, r.id, ${installationId}, r.type, r.action,
      'pending', 0, 0, r.created_at, r.created_at, (
        select id from deliveries b where endpoint_id = ${endpointId} and id = delivery_id(${attemptedAfter}, ${endpointId})
          and ${isUnattempted})
    from recorded r`)
  if (told > 0) tx.tell('due', [endpointId])
  return eventId
}
