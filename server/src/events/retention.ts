import { limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { deleteSettled } from '../delivery/retention.ts'
import { sweepReplays } from './replay.ts'

/** Bounds a statement: an event has as many deliveries as the workspace has webhooks. */
const eventsPerBatch = 100

/**
 * Deletes events older than 30 days with their settled deliveries (delivery.retention-30-days). An event that still has a
 * delivery is kept.
 */
export async function sweepEvents(db: Db, now: Date) {
  const before = plus(now, -days(limits.deliveryDays))
  let after: Position | undefined
  do {
    after = await sweepBatch(db, before, after)
  } while (after)
  await sweepReplays(db, before)
}

type Position = { at: string; id: string }

/** Returns the position of the last event looked at, or undefined after the last batch. */
const sweepBatch = (db: Db, before: Date, after: Position | undefined): Promise<Position | undefined> =>
  db.tx(async (tx) => {
    // The planner overestimates the deliveries; compiling the statement would take longer than running it.
    await tx.run(sql`set local jit = off`)
    const old = await tx.rows<Position>(sql`
      with old as materialized (
        select id, workspace_id, created_at from events
        where created_at < ${before} ${after ? sql`and (created_at, id) > (${after.at}, ${after.id})` : none}
        order by created_at, id limit ${eventsPerBatch}
      ), ${deleteSettled(before)}, deleted_events as (
        delete from events where id in (select id from old)
          and id not in (select event_id from deliveries_of_old where settled is not true)
      )
      select created_at as at, id from old order by created_at, id`)
    return old.length < eventsPerBatch ? undefined : old.at(-1)
  })
