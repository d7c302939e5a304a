import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Claimed, canceled } from './stages.ts'

// Messages to A2A agents that wait until the task of their session rests (deliveries.waits).

export const holdForTask = (tx: Queryable, endpointId: string, id: string) =>
  tx.run(sql`update deliveries set waits = true where endpoint_id = ${endpointId} and id = ${id} and not waits`)

/** All that wait in the session. Those that have to wait for another one are held again when they are taken. */
export async function releaseHeld(tx: Tx, endpointId: string, sessionId: string) {
  const released = await tx.run(sql`
    update deliveries d set waits = false from events v
    where v.agent_session_id = ${sessionId} and d.endpoint_id = ${endpointId} and d.id = delivery_id(v.id, ${endpointId})
      and d.waits`)
  if (released > 0) tx.afterCommit('due', [endpointId])
}

/** A pending delivery that is of no use any more. A settled one keeps its status. */
export const cancelDelivery = (tx: Tx, { endpointId, id, status }: Claimed, now: Date) =>
  status === 'pending'
    ? tx.run(sql`
        update deliveries set ${canceled(now)} where endpoint_id = ${endpointId} and id = ${id} and status = 'pending'`)
    : tx.run(sql`
        update deliveries set redeliver_at = null, replay_id = null where endpoint_id = ${endpointId} and id = ${id}`)
