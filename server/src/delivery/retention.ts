import { limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { storeTakenOver } from './endpoints.ts'
import { canceled } from './stages.ts'

const canceledPerBatch = 5000

/** Cancels deliveries held for 30 days (delivery.held-expire). Deletes endpoints and days that are no longer needed. */
export async function sweepDeliveries(db: Db, now: Date) {
  const before = plus(now, -days(limits.deliveryDays))
  await storeTakenOver(db, now)
  while ((await cancelHeld(db, before, now)) === canceledPerBatch) {}
  await db.run(sql`
    with deleted as (
      delete from endpoints e where e.deleted_at < ${before}
        and not exists (select from deliveries d where d.endpoint_id = e.id) returning id
    )
    delete from endpoint_days where endpoint_id in (select id from deleted)`)
  await sweepDays(db, before)
}

/** Keeps the day of the first success: it is shown as long as the endpoint exists. */
const sweepDays = (db: Db, before: Date) =>
  db.run(sql`
    delete from endpoint_days d where d.day < (${before}::timestamptz at time zone 'UTC')::date
      and (d.first_success_at is null or exists (
        select from endpoint_days f
        where f.endpoint_id = d.endpoint_id and f.day < d.day and f.first_success_at is not null))`)

/** `materialized`: as a subselect of the update, it would be run again for each pending delivery. */
const cancelHeld = (db: Db, before: Date, now: Date) =>
  db.run(sql`
    with held as materialized (
      select d.endpoint_id, d.id from endpoints e join deliveries d on d.endpoint_id = e.id
      where (e.state <> 'enabled' and e.state_since <= ${before} or e.deleted_at is not null)
        and d.status = 'pending' and d.claim_id is null and not e.paused
      limit ${canceledPerBatch} for no key update of d skip locked)
    update deliveries d set ${canceled(now)} from held h
    where d.endpoint_id = h.endpoint_id and d.id = h.id and d.status = 'pending' and d.claim_id is null`)

/**
 * Part of the statement that deletes events: deletes the deliveries of the events in the CTE `old` that were settled
 * before the given time, and their attempts. Leaves the CTE `deliveries_of_old` with event_id and settled.
 *
 * An id begins with the time of the event, so each endpoint's deliveries of all these events are read in one scan of its
 * key. `offset 0` and `materialized` keep the planner from repeating it for each event.
 */
export const deleteSettled = (before: Date) => sql`
  spans as (
    select workspace_id, substr(min(id), 5, 10) as first, substr(max(id), 5, 10) as last from old group by workspace_id
  ), deliveries_of_spans as materialized (
    select d.* from spans s join endpoints e on e.workspace_id = s.workspace_id, lateral (
      select endpoint_id, id, event_id, settled_at < ${before} as settled from deliveries
      where endpoint_id = e.id and id >= 'dlv_' || s.first and id < 'dlv_' || s.last || 'f' offset 0
    ) d
  ), deliveries_of_old as materialized (
    select * from deliveries_of_spans where event_id in (select id from old)
  ), deleted_deliveries as (
    delete from deliveries d using deliveries_of_old o where d.endpoint_id = o.endpoint_id and d.id = o.id and o.settled
  ), deleted_attempts as (
    delete from attempts a using deliveries_of_old o where a.delivery_id = o.id and o.settled
  )`
