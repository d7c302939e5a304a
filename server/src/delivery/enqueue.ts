import { sql } from '../db/sql.ts'
import { isUnattempted } from './stages.ts'

/**
 * The end of a statement that records events: inserts one delivery for each row of the CTE `recipients`. The deliveries
 * belong to the transaction of the change, so neither is committed without the other.
 *
 * `recipients` has event_id, workspace_id, endpoint_id, installation_id, type, action, created_at, blocked_by, may_block
 * and survives_revocation.
 */
export const enqueue = sql`
  insert into deliveries
    (id, workspace_id, endpoint_id, event_id, installation_id, type, action, status, attempts, scheduled, next_at,
      created_at, blocked_by, may_block, survives_revocation)
  select delivery_id(event_id, endpoint_id), workspace_id, endpoint_id, event_id, installation_id, type, action,
    'pending', 0, 0, created_at, created_at, blocked_by, may_block, survives_revocation
  from recipients
  returning endpoint_id`

/** Id of the delivery of an event to an endpoint, or null once it was attempted. */
export const unattemptedDelivery = (eventId: string | null, endpointId: string) => sql`
  (select b.id from deliveries b
    where b.endpoint_id = ${endpointId} and b.id = delivery_id(${eventId}, ${endpointId}) and ${isUnattempted})`
