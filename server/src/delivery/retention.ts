import { limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { canceled } from './stages.ts'

const eventsAtOnce = 1000
const heldAtOnce = 5000

/** decisions 7: deliveries and attempts stay 30 days; what was held for 30 days is canceled. */
export async function sweepDeliveries(db: Db, now: Date) {
  const before = plus(now, -days(limits.deliveryDays))
  while ((await cancelHeld(db, before, now)) === heldAtOnce) {}
  let after: Position | undefined
  do {
    after = await sweepEvents(db, before, after)
  } while (after)
  await db.run(sql`
    with gone as (
      delete from endpoints e where e.deleted_at < ${before}
        and not exists (select from deliveries d where d.endpoint_id = e.id) returning id
    )
    delete from endpoint_days where endpoint_id in (select id from gone)`)
  await sweepDays(db, before)
}

/** The day of the first success stays, because it is asked for as long as there is the endpoint. */
const sweepDays = (db: Db, before: Date) =>
  db.run(sql`
    delete from endpoint_days d where d.day < (${before}::timestamptz at time zone 'UTC')::date
      and (d.first_success_at is null or exists (
        select from endpoint_days f
        where f.endpoint_id = d.endpoint_id and f.day < d.day and f.first_success_at is not null))`)

const cancelHeld = (db: Db, before: Date, now: Date) =>
  db.run(sql`
    update deliveries set ${canceled(now)}
    where status = 'pending' and claim_id is null and (endpoint_id, id) in (
      select d.endpoint_id, d.id from endpoints e join deliveries d on d.endpoint_id = e.id
      where (e.state <> 'enabled' and e.state_since <= ${before} or e.deleted_at is not null)
        and d.status = 'pending' and d.claim_id is null
      limit ${heldAtOnce} for no key update of d skip locked)`)

type Position = { at: string; id: string }

/** The oldest events, with their deliveries that were settled long ago; what is still shown keeps its event. */
async function sweepEvents(db: Db, before: Date, after: Position | undefined): Promise<Position | undefined> {
  const old = await db.rows<Position>(sql`
    with old as materialized (
      select id, workspace_id, created_at from events
      where created_at < ${before} ${after ? sql`and (created_at, id) > (${after.at}, ${after.id})` : none}
      order by created_at, id limit ${eventsAtOnce}
    ), theirs as materialized (
      select d.endpoint_id, d.id, d.event_id, d.settled_at < ${before} as over from old o
      join endpoints e on e.workspace_id = o.workspace_id
      join deliveries d on d.endpoint_id = e.id and d.id = delivery_id(o.id, e.id)
    ), gone as (
      delete from deliveries where (endpoint_id, id) in (select endpoint_id, id from theirs where over)
    ), gone_attempts as (
      delete from attempts where delivery_id in (select id from theirs where over)
    ), gone_events as (
      delete from events where id in (select id from old)
        and id not in (select event_id from theirs where over is not true)
    )
    select created_at as at, id from old order by created_at, id`)
  return old.length < eventsAtOnce ? undefined : old.at(-1)
}
