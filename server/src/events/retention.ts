import { limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import { type Db, isTimedOut } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { deleteSettled } from '../delivery/retention.ts'
import { sweepReplays } from './replay.ts'

/** An event may have thousands of deliveries, so the size of a batch follows from how long the one before took. */
const firstBatch = 100
const largestBatch = 1000
const batchMs = 1000

/**
 * Deletes events older than 30 days with their settled deliveries (delivery.retention-30-days). An event that still has a
 * delivery is kept.
 */
export async function sweepEvents(db: Db, now: Date) {
  const before = plus(now, -days(limits.deliveryDays))
  let rest: { after?: Position } | null = {}
  let size = firstBatch
  while (rest) {
    const began = performance.now()
    try {
      rest = await sweepBatch(db, before, rest.after, size)
      size = performance.now() - began > batchMs ? Math.ceil(size / 2) : Math.min(size * 2, largestBatch)
    } catch (error) {
      if (!isTimedOut(error) || size === 1) throw error
      size = Math.ceil(size / 2)
    }
  }
  await sweepReplays(db, before)
}

type Position = { at: string; id: string }

/** Returns the position of the last event looked at, or null after the last batch. */
const sweepBatch = (db: Db, before: Date, after: Position | undefined, size: number) =>
  db.tx(async (tx) => {
    // The planner overestimates the deliveries; compiling the statement would take longer than running it.
    await tx.run(sql`set local jit = off`)
    const old = await tx.rows<Position>(sql`
      with old as materialized (
        select id, workspace_id, created_at from events
        where created_at < ${before} ${after ? sql`and (created_at, id) > (${after.at}, ${after.id})` : none}
        order by created_at, id limit ${size}
      ), ${deleteSettled(before)}, deleted_events as (
        delete from events where id in (select id from old)
          and id not in (select event_id from deliveries_of_old where settled is not true)
      )
      select created_at as at, id from old order by created_at, id`)
    return old.length < size ? null : { after: old.at(-1) as Position }
  })
