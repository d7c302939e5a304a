import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

// Deliveries that a replay sends once more (deliveries.replay_id), and what came of them.

export interface ReplayedEvent {
  event_id: string
  workspace_id: string
  type: string
  action: string
  created_at: string
}

/** Marks settled deliveries of these events. Returns how many: one may have been canceled or deleted meanwhile. */
export const markReplayed = (tx: Tx, replayId: string, endpointId: string, deliveryIds: string[]) =>
  tx.run(sql`
    update deliveries set replay_id = ${replayId}
    where endpoint_id = ${endpointId} and id = any(${deliveryIds}) and status in ('failed', 'succeeded')`)

/** Creates deliveries of events that have none. They are pending, but only the replay sends them, and only once. */
export const createReplayed = (tx: Tx, replayId: string, endpointId: string, events: ReplayedEvent[]) =>
  tx.run(sql`
    insert into deliveries
      (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, created_at, may_block, origin,
        replay_id)
    select delivery_id(event_id, ${endpointId}), workspace_id, ${endpointId}, event_id, type, action, 'pending', 0, 0,
      created_at, false, 'replay', ${replayId}
    from json_to_recordset(${JSON.stringify(events)}::json)
      as e (event_id text, workspace_id text, type text, action text, created_at timestamptz)
    on conflict (endpoint_id, id) do nothing`)

/** Deliveries that the replay has still to send, counted up to `limit`. */
export async function countReplayed(db: Queryable, replayId: string, endpointId: string, limit: number) {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from (
      select from deliveries where endpoint_id = ${endpointId} and replay_id is not null and replay_id = ${replayId}
      limit ${limit}) r`)
  return row?.count ?? 0
}

/** Leaves the rest unsent. Deliveries that the replay created are deleted, so that another one finds their events. */
export async function releaseReplayed(tx: Tx, replayId: string, endpointId: string) {
  const ofReplay = sql`endpoint_id = ${endpointId} and replay_id is not null and replay_id = ${replayId}`
  await tx.run(sql`
    delete from deliveries where ${ofReplay} and origin = 'replay' and status = 'pending' and attempts = 0`)
  await tx.run(sql`update deliveries set replay_id = null where ${ofReplay}`)
}

/** Part of the statement that writes attempts: notes the outcomes of replayed deliveries. */
export const noteReplayed = sql`
  insert into replay_outcomes (replay_id, delivery_id, succeeded, ended_at)
  select d.replay_id, k.id, d.reason is null, d.ended_at from kept k join done d on d.id = k.id
  where d.kind = 'replay'
  on conflict do nothing`

/** Removes the outcomes that were noted, and returns them in the order in which the attempts ended. */
export async function takeOutcomes(tx: Tx, replayId: string): Promise<boolean[]> {
  const taken = await tx.rows<{ succeeded: boolean; ended_at: string }>(sql`
    delete from replay_outcomes where replay_id = ${replayId} returning succeeded, ended_at`)
  return taken.sort((a, b) => a.ended_at.localeCompare(b.ended_at)).map(({ succeeded }) => succeeded)
}
