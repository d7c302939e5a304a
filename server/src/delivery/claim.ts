import { randomUUID } from 'node:crypto'
import { plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { none, sql, undurably } from '../db/sql.ts'
import { type Claimed, canceled, unclaimed } from './stages.ts'

/** Committed in one go, and sent at once. */
export const batchSize = 64
/** Fewer endpoints with more of each cost less than the reverse; whose turn it was not is first in the next batch. */
const endpointsAtOnce = 16
/** In flight to one endpoint, over all workers. */
const slotsPerEndpoint = 8
/** Of an endpoint that does not answer: enough to notice when it does, and too few to fill a worker with waiting. */
const slotsWhileStruggling = 1
/** Five seconds to send, and time to write it down; then another worker may have it. */
const leaseMs = 30_000
/** How soon an endpoint is looked at again whose slots are all taken, should no worker ring for it sooner. */
const parkedMs = 250

interface Batch {
  claimed: Claimed[]
  /** Endpoints that have no slot free. */
  parked: string[]
}

/** Nobody can have received the delivery `b` yet. */
export const isUnattempted = sql`b.status = 'pending' and b.attempts = 0`

/** decisions 7: it waits until the delivery that it follows was attempted. */
const mayGo = sql`(blocked_by is null or not exists (
  select from deliveries b where b.endpoint_id = deliveries.endpoint_id and b.id = deliveries.blocked_by
    and ${isUnattempted}))`
/** Due from the beginning, also when a clock that has been set back since says that it begins in an hour. */
const isFirst = sql`status = 'pending' and claim_id is null and not is_retry and ${mayGo}`
const isRetry = sql`status = 'pending' and claim_id is null and is_retry`
const isAskedFor = sql`redeliver_at is not null and claim_id is null and ${mayGo}`

/**
 * Claims up to `limit` due deliveries, a fair share of each due endpoint: those whose turn is longest overdue first, and
 * first attempts before retries. A disabled endpoint's deliveries are held, but for those a person asked for.
 *
 * One statement, so one trip. It sees the deliveries as they were when it began, which may be before it had the lock on
 * an endpoint; if the endpoint's turn has changed in between, somebody claimed from it or rang for it, and it is left
 * for the next time. So no slot is given away twice, and `next_due_at` is never put later than it should be. Losing
 * this commit in a crash of the database only means to claim again.
 */
export async function claim(db: Db, now: Date, limit: number): Promise<Batch> {
  const claimId = randomUUID()
  const leaseUntil = plus(now, leaseMs)
  const rows = await db.rows<Row>(sql`
    ${undurably}, held as (
      select e.id, e.url, e.secret, e.state = 'enabled' as open, e.turn, e.struggling,
        exists (select from listeners l where l.endpoint_id = e.id and l.lease_until > ${now}) as listened
      from undurable, endpoints e
      where e.next_due_at <= ${now} and e.deleted_at is null
      order by e.next_due_at limit ${Math.min(limit, endpointsAtOnce)} for no key update of e skip locked
    ), mine as (
      select h.*, greatest(0, least(
        greatest(1, ${limit} / (select count(*) from held)),
        case when h.struggling and not h.listened then ${slotsWhileStruggling}::int else ${slotsPerEndpoint} end
          - (select count(*) from deliveries where endpoint_id = h.id and claim_id is not null)
      ))::int as free
      from held h join endpoints seen on seen.id = h.id and seen.turn = h.turn
    ), picked as (
      select m.id as endpoint_id, d.id, d.kind from mine m, lateral (
        (select id, 'redelivery' as kind from deliveries
          where endpoint_id = m.id and ${isAskedFor} order by redeliver_at limit m.free)
        union all
        (select id, 'scheduled' from deliveries
          where endpoint_id = m.id and ${isFirst} and m.open and redeliver_at is null
          order by next_at limit m.free)
        union all
        (select id, 'scheduled' from deliveries
          where endpoint_id = m.id and ${isRetry} and m.open and redeliver_at is null and next_at <= ${now}
          order by next_at limit m.free)
        limit m.free
      ) d
    ), claimed as (
      update deliveries d set claim_id = ${claimId}, claim_kind = p.kind, lease_until = ${leaseUntil},
        redeliver_at = case when p.kind = 'redelivery' then null else d.redeliver_at end
      from picked p where d.endpoint_id = p.endpoint_id and d.id = p.id and d.claim_id is null
      returning d.id, d.event_id, d.endpoint_id, d.installation_id, d.type, d.claim_kind, d.status, d.attempts,
        d.scheduled, d.next_at, d.settled_at
    ), rotated as (
      update endpoints e set turn = e.turn + 1, next_due_at = case
        when exists (select from picked p where p.endpoint_id = m.id) then ${now}::timestamptz
        when m.free = 0 then ${plus(now, parkedMs)}::timestamptz
        else least(
          (select redeliver_at from deliveries where endpoint_id = m.id and ${isAskedFor}
            order by redeliver_at limit 1),
          (select next_at from deliveries where endpoint_id = m.id and ${isFirst} and m.open
            order by next_at limit 1),
          (select next_at from deliveries where endpoint_id = m.id and ${isRetry} and m.open
            order by next_at limit 1))
        end
      from mine m where e.id = m.id
    )
    select c.endpoint_id as "endpointId", m.url, m.secret, m.struggling, m.listened, c.id, c.type, v.body::text as envelope,
      case when i.id is not null then
        jsonb_build_object('installationId', i.id, 'appUserId', i.app_user_id, 'eventId', v.id, 'revoked',
          i.revoked_at is not null) end as app,
      c.claim_kind as kind, c.status, c.attempts, c.scheduled, c.next_at as "nextAt", c.settled_at as "settledAt"
    from claimed c join events v on v.id = c.event_id join mine m on m.id = c.endpoint_id
    left join installations i on i.id = c.installation_id
    union all
    select id, null, null, null, null, null, null, null, null, null, null, null, null, null, null from mine where free = 0`)
  const stale = rows.filter((row) => isClaimed(row) && isStale(row))
  if (stale.length > 0) await cancelClaimed(db, claimId, stale, now)
  return {
    claimed: rows
      .filter(isClaimed)
      .filter((row) => !stale.includes(row))
      .map((row) => ({ ...row, claimId, leaseUntil })),
    parked: rows.filter((row) => !isClaimed(row)).map(({ endpointId }) => endpointId),
  }
}

/** Recorded while the app was being uninstalled, and committed after it. */
const isStale = ({ app, kind, type }: ClaimedRow) => app?.revoked && kind === 'scheduled' && type !== 'OAuthApp'

const cancelClaimed = (db: Db, claimId: string, stale: Row[], now: Date) =>
  db.run(sql`
    update deliveries set ${canceled(now)}
    where claim_id = ${claimId} and endpoint_id = any(${stale.map(({ endpointId }) => endpointId)})
      and id = any(${stale.map(({ id }) => id)})`)

type ClaimedRow = Omit<Claimed, 'claimId' | 'leaseUntil'>
type Row = ClaimedRow | { endpointId: string; id: null }
const isClaimed = (row: Row): row is ClaimedRow => row.id !== null

/** When a worker that found nothing should look again; null when nothing waits. */
export async function nextDueAt(db: Db): Promise<Date | null> {
  const row = await db.row<{ at: string }>(sql`
    select next_due_at as at from endpoints where next_due_at is not null and deleted_at is null
    order by next_due_at limit 1`)
  return row ? new Date(row.at) : null
}

/**
 * Gives back what a worker claimed and never completed: it died, or was cut off. A lease that ends later than any could
 * was given by a clock that has been set back since. `all` is for the only worker there is, before it begins: every
 * claim is a dead one's.
 */
export const returnExpired = (db: Db, now: Date, { all = false } = {}) =>
  db.tx(async (tx) => {
    const returned = await tx.rows<{ endpoint_id: string }>(sql`
      update deliveries set ${unclaimed},
        redeliver_at = case when claim_kind = 'redelivery' then coalesce(redeliver_at, ${now}) else redeliver_at end
      where (endpoint_id, id) in (
        select endpoint_id, id from deliveries
        where claim_id is not null ${all ? none : sql`and (lease_until <= ${now} or lease_until > ${plus(now, 2 * leaseMs)})`}
        limit 1000 for no key update skip locked)
      returning endpoint_id`)
    tx.tell(
      'due',
      returned.map(({ endpoint_id }) => endpoint_id),
    )
    return returned.length
  })

/** Rings for what a process committed and died before it could ring for it. */
export const findForgotten = (db: Db, now: Date) =>
  db.tx(async (tx) => {
    const forgotten = await tx.rows<{ id: string }>(sql`
      select e.id from endpoints e
      where e.deleted_at is null and (e.next_due_at is null or e.next_due_at > ${now}) and (
        exists (select from deliveries where endpoint_id = e.id and ${isAskedFor})
        or e.state = 'enabled' and (
          exists (select from deliveries where endpoint_id = e.id and ${isFirst})
          or exists (select from deliveries where endpoint_id = e.id and ${isRetry} and next_at <= ${now})))`)
    tx.tell(
      'due',
      forgotten.map(({ id }) => id),
    )
    return forgotten.length
  })
