import type { Tx } from '../db/database.ts'
import { type Enqueued, setBodies } from '../delivery/enqueue.ts'
import { type Envelope, linearBodies } from '../linear-shape/bodies.ts'

/** Writes Linear's bodies for the deliveries that need one, from the recorded events by id. */
export async function writeLinearBodies(tx: Tx, deliveries: Enqueued[], events: Map<string, Envelope>) {
  const linear = deliveries.filter(({ format }) => format === 'linear')
  if (linear.length === 0) return
  const recipients = linear.map(({ endpoint_id, event_id, installation_id }) => ({
    endpointId: endpoint_id,
    installationId: installation_id ?? '',
    envelope: events.get(event_id) as Envelope,
  }))
  await setBodies(tx, linear, await linearBodies(tx, recipients))
}
