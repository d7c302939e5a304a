import { randomUUID } from 'node:crypto'
import { plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { none, sql, undurably } from '../db/sql.ts'
import { appRecipient, type Claimed, canceled, isUnattempted, unclaimed } from './stages.ts'

/** Maximum number of deliveries in one claim. */
export const batchSize = 64
/** A few endpoints with many deliveries each cost less than the reverse. Endpoints left out come first next time. */
const endpointsPerClaim = 16
/** Maximum number of deliveries in flight to one endpoint, across all workers. */
const slotsPerEndpoint = 8
/** For an endpoint whose attempts time out: enough to notice a recovery, too few to fill a worker with waiting requests. */
const slotsWhileStruggling = 1
/** Five seconds to send, and time to write the outcome; after that another worker may claim the delivery. */
const leaseMs = 30_000
/** How soon an endpoint without a free slot is tried again, unless a worker wakes it sooner. */
const parkedMs = 250

interface Batch {
  claimed: Claimed[]
  /** Endpoints without a free slot. */
  parked: string[]
}

/** The delivery that it waits for, if any, was attempted (delivery.prompted-after-created). */
const isUnblocked = sql`(blocked_by is null or not exists (
  select from deliveries b where b.endpoint_id = deliveries.endpoint_id and b.id = deliveries.blocked_by
    and ${isUnattempted}))`
/** Due at once, regardless of `next_at`: the clock may have been set back since it was written. */
const isFirst = sql`status = 'pending' and claim_id is null and not is_retry and ${isUnblocked}`
const isRetry = sql`status = 'pending' and claim_id is null and is_retry`
const isRedelivery = sql`redeliver_at is not null and claim_id is null and ${isUnblocked}`

/**
 * Claims up to `limit` due deliveries, a fair share of each due endpoint: the endpoints that have waited longest first,
 * and first attempts before retries. Of a disabled endpoint only redeliveries are claimed; the others are held.
 *
 * One statement, so one round trip. Its snapshot of the deliveries may be older than its lock on an endpoint. If the
 * endpoint's `turn` has changed in between, another claim or wake-up came first, and the endpoint is left for the next
 * claim. So no slot is used twice, and `next_due_at` is never set too late. If the database crashes and loses this
 * commit, the deliveries are claimed again.
 */
export async function claim(db: Db, now: Date, limit: number): Promise<Batch> {
  const claimId = randomUUID()
  const leaseUntil = plus(now, leaseMs)
  const rows = await db.rows<Row>(sql`
    ${undurably}, held as (
      select e.id, e.url, e.secret, e.state = 'enabled' as enabled, e.turn, e.struggling,
        exists (select from listeners l where l.endpoint_id = e.id and l.lease_until > ${now}) as has_listener
      from undurable, endpoints e
      where e.next_due_at <= ${now} and e.deleted_at is null
      order by e.next_due_at limit ${Math.min(limit, endpointsPerClaim)} for no key update of e skip locked
    ), mine as (
      select h.*, greatest(0, least(
        greatest(1, ${limit} / (select count(*) from held)),
        case when h.struggling and not h.has_listener then ${slotsWhileStruggling}::int else ${slotsPerEndpoint} end
          - (select count(*) from deliveries where endpoint_id = h.id and claim_id is not null)
      ))::int as free
      from held h join endpoints seen on seen.id = h.id and seen.turn = h.turn
    ), picked as (
      select m.id as endpoint_id, d.id, d.kind from mine m, lateral (
        (select id, 'redelivery' as kind from deliveries
          where endpoint_id = m.id and ${isRedelivery} order by redeliver_at limit m.free)
        union all
        (select id, 'scheduled' from deliveries
          where endpoint_id = m.id and ${isFirst} and m.enabled and redeliver_at is null
          order by next_at limit m.free)
        union all
        (select id, 'scheduled' from deliveries
          where endpoint_id = m.id and ${isRetry} and m.enabled and redeliver_at is null and next_at <= ${now}
          order by next_at limit m.free)
        limit m.free
      ) d
    ), claimed as (
      update deliveries d set claim_id = ${claimId}, claim_kind = p.kind, lease_until = ${leaseUntil},
        redeliver_at = case when p.kind = 'redelivery' then null else d.redeliver_at end
      from picked p where d.endpoint_id = p.endpoint_id and d.id = p.id and d.claim_id is null
      returning d.id, d.event_id, d.endpoint_id, d.installation_id, d.type, d.claim_kind, d.status, d.attempts,
        d.scheduled, d.next_at, d.settled_at, d.survives_revocation
    ), rotated as (
      update endpoints e set turn = e.turn + 1, next_due_at = case
        when exists (select from picked p where p.endpoint_id = m.id) then ${now}::timestamptz
        when m.free = 0 then ${plus(now, parkedMs)}::timestamptz
        else least(
          (select redeliver_at from deliveries where endpoint_id = m.id and ${isRedelivery}
            order by redeliver_at limit 1),
          (select next_at from deliveries where endpoint_id = m.id and ${isFirst} and m.enabled
            order by next_at limit 1),
          (select next_at from deliveries where endpoint_id = m.id and ${isRetry} and m.enabled
            order by next_at limit 1))
        end
      from mine m where e.id = m.id
    )
    select c.endpoint_id as "endpointId", m.url, m.secret, m.struggling, m.has_listener as "hasListener", c.id, c.type,
      v.body::text as envelope, ${appRecipient} as app, c.survives_revocation as "survivesRevocation",
      c.claim_kind as kind, c.status, c.attempts, c.scheduled, c.next_at as "nextAt", c.settled_at as "settledAt"
    from claimed c join events v on v.id = c.event_id join mine m on m.id = c.endpoint_id
    left join installations i on i.id = c.installation_id
    union all
    select id, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
    from mine where free = 0`)
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
const isStale = ({ app, kind, survivesRevocation }: ClaimedRow) =>
  app?.revoked && kind === 'scheduled' && !survivesRevocation

const cancelClaimed = (db: Db, claimId: string, stale: Row[], now: Date) =>
  db.run(sql`
    update deliveries set ${canceled(now)}
    where claim_id = ${claimId} and endpoint_id = any(${stale.map(({ endpointId }) => endpointId)})
      and id = any(${stale.map(({ id }) => id)})`)

type ClaimedRow = Omit<Claimed, 'claimId' | 'leaseUntil'> & { survivesRevocation: boolean }
type Row = ClaimedRow | { endpointId: string; id: null }
const isClaimed = (row: Row): row is ClaimedRow => row.id !== null

/** When the next delivery becomes due; null if none is pending. */
export async function nextDueAt(db: Db): Promise<Date | null> {
  const row = await db.row<{ at: string }>(sql`
    select next_due_at as at from endpoints where next_due_at is not null and deleted_at is null
    order by next_due_at limit 1`)
  return row ? new Date(row.at) : null
}

/**
 * Releases claims that were never completed, because the worker died or lost its connection. A lease that ends too far in
 * the future was written before the clock was set back. `all` releases every claim: for a single worker before it starts.
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
    tx.afterCommit(
      'due',
      returned.map(({ endpoint_id }) => endpoint_id),
    )
    return returned.length
  })

/** Marks endpoints due whose deliveries were committed by a process that died before it could do so. */
export const wakeOverlooked = (db: Db, now: Date) =>
  db.tx(async (tx) => {
    const overlooked = await tx.rows<{ id: string }>(sql`
      select e.id from endpoints e
      where e.deleted_at is null and (e.next_due_at is null or e.next_due_at > ${now}) and (
        exists (select from deliveries where endpoint_id = e.id and ${isRedelivery})
        or e.state = 'enabled' and (
          exists (select from deliveries where endpoint_id = e.id and ${isFirst})
          or exists (select from deliveries where endpoint_id = e.id and ${isRetry} and next_at <= ${now})))`)
    tx.afterCommit(
      'due',
      overlooked.map(({ id }) => id),
    )
    return overlooked.length
  })
