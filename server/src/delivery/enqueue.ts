import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { isUnattempted } from './stages.ts'

/**
 * The end of a statement that records events: inserts one delivery for each row of the CTE `recipients`. The deliveries
 * belong to the transaction of the change, so neither is committed without the other.
 *
 * `recipients` has event_id, workspace_id, endpoint_id, installation_id, type, action, created_at, blocked_by, may_block,
 * survives_revocation and format: null for the body of the event, otherwise `setBodies` writes another one.
 */
export const enqueue = sql`
  insert into deliveries
    (id, workspace_id, endpoint_id, event_id, installation_id, type, action, status, attempts, scheduled, next_at,
      created_at, blocked_by, may_block, survives_revocation, format)
  select delivery_id(event_id, endpoint_id), workspace_id, endpoint_id, event_id, installation_id, type, action,
    'pending', 0, 0, created_at, created_at, blocked_by, may_block, survives_revocation, format
  from recipients
  returning id, endpoint_id, event_id, installation_id, format`

/** A delivery that was just enqueued. */
export interface Enqueued {
  id: string
  endpoint_id: string
  event_id: string
  installation_id: string | null
  format: 'linear' | null
}

/** Writes the bodies of deliveries whose format is not that of the event, in the transaction that enqueued them. */
export const setBodies = (tx: Queryable, deliveries: Pick<Enqueued, 'id' | 'endpoint_id'>[], bodies: string[]) =>
  tx.run(sql`
    update deliveries d set body = n.body
    from unnest(${deliveries.map(({ endpoint_id }) => endpoint_id)}::text[], ${deliveries.map(({ id }) => id)}::text[],
      ${bodies}::text[]) as n (endpoint_id, id, body)
    where d.endpoint_id = n.endpoint_id and d.id = n.id`)

/** Id of the delivery of an event to an endpoint, or null once it was attempted. */
export const unattemptedDelivery = (eventId: string | null, endpointId: string) => sql`
  (select b.id from deliveries b
    where b.endpoint_id = ${endpointId} and b.id = delivery_id(${eventId}, ${endpointId}) and ${isUnattempted})`
