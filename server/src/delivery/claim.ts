import { plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { none, sql, undurably } from '../db/sql.ts'
import { appRecipient, type Claimed, canceled, causeOfEvent, isUnattempted, unclaimed } from './stages.ts'

/** Maximum number of deliveries in one claim. */
export const batchSize = 64
/** A few endpoints with many deliveries each cost less than the reverse. Endpoints left out come first next time. */
const endpointsPerClaim = 16
/** Of these, at most so many that were woken, so that those marked due are not passed over. */
export const wokenPerClaim = 8
/** Maximum number of deliveries in flight to one endpoint. Only its owner sends to it. */
const slotsPerEndpoint = 8
/** Replayed deliveries leave one free, so that a new event need not wait for one of them (replay.live-first). */
const slotsForReplay = slotsPerEndpoint - 1
/** For an endpoint whose attempts time out: enough to notice a recovery, too few to fill a worker with waiting requests. */
const slotsWhileStruggling = 1
/**
 * Five seconds to send, and time to write the outcome. Each claim renews it. A worker that died loses its endpoints then,
 * or earlier if it held a lock (`DeadOwners`).
 */
export const leaseMs = 15_000
/** No lease of any version is longer than half of this. */
const leaseTooLongMs = 60_000
/** How long an endpoint has waited for its owner before an idle worker asks for it. */
export const wantedAfterMs = 250
/** The worker that asked for an endpoint has this long to claim it. */
const handOverMs = 1000

/** The worker that claims, and what only it knows. */
export interface Claimant {
  /** Its name as an owner. */
  owner: string
  /** At most `wokenPerClaim` endpoints that may have something to send, in addition to those that are marked due. */
  woken: string[]
  /** Deliveries that it sends now, or whose outcome is not written yet. */
  inFlight: { endpointId: string; id: string }[]
}

interface Batch {
  claimed: Claimed[]
  /** Endpoints that were looked at. */
  seen: string[]
  /** Of these, endpoints without a free slot. */
  full: string[]
}

/** The delivery that it waits for, if any, was attempted (delivery.prompted-after-created). */
const isUnblocked = sql`(blocked_by is null or not exists (
  select from deliveries b where b.endpoint_id = deliveries.endpoint_id and b.id = deliveries.blocked_by
    and ${isUnattempted}))`
/** Due at once, regardless of `next_at`: the clock may have been set back since it was written. */
export const isFirst = sql`status = 'pending' and claim_id is null and not is_retry and replay_id is null and not waits
  and ${isUnblocked}`
export const isRetry = sql`status = 'pending' and claim_id is null and is_retry and not waits`
const isReplayed = sql`replay_id is not null and claim_id is null and redeliver_at is null and not waits`
export const isRedelivery = sql`redeliver_at is not null and claim_id is null and not waits and ${isUnblocked}`

const picked = sql`id, event_id, installation_id, type, origin, status, attempts, scheduled, redeliveries, next_at, settled_at,
  survives_revocation, replay_id, format, body`

/** Ids as an array. Hundreds of them are sent faster as one text than as an array of the driver. */
const list = (ids: string[]) => sql`string_to_array(${ids.join()}, ',')`

/** No worker owns the endpoint. A lease that ends too far in the future was written before the clock was set back. */
const isFree = (now: Date) =>
  sql`(owner is null or owner_until <= ${now} or owner_until > ${plus(now, leaseTooLongMs)})`

const isMine = (now: Date, owner: string) => sql`(owner = ${owner} or ${isFree(now)})`

/**
 * Takes up to `limit` due deliveries, a fair share of each due endpoint: the endpoints that have waited longest first,
 * first attempts before retries, and these before replayed deliveries. Of a disabled endpoint only redeliveries are
 * taken; the others are held. Of a paused endpoint none is taken (export.deletion-read-only).
 *
 * The worker becomes the owner of these endpoints, so the deliveries themselves are not written: it knows which it has
 * in flight, and no other worker sends to the endpoint. An endpoint with nothing to send and nothing in flight is
 * given up.
 *
 * One statement, so one round trip. Its snapshot of the deliveries may be older than its lock on an endpoint. If the
 * endpoint's `turn` has changed in between, another claim or wake-up came first, and the endpoint is left for the next
 * claim. So `next_due_at` is never set too late. If the database crashes and loses this commit, the endpoint is claimed
 * again.
 */
export async function claim(db: Db, now: Date, limit: number, { owner, woken, inFlight }: Claimant): Promise<Batch> {
  const leaseUntil = plus(now, leaseMs)
  const dueTaken = Math.max(0, Math.min(limit, endpointsPerClaim) - woken.length)
  const available = isMine(now, owner)
  const rows = await db.rows<Row>(sql`
    ${undurably}, due as materialized (
      select id from endpoints where next_due_at <= ${now} and deleted_at is null and not paused and ${available}
      order by next_due_at limit ${dueTaken}
    ), held as (
      select e.id, e.protocol, e.url, e.secret, e.next_secret, e.takes_over_at, e.state = 'enabled' as enabled, e.turn, e.struggling,
        e.outage_since is not null as has_outage, e.wanted_by,
        exists (select from listeners l where l.endpoint_id = e.id and l.lease_until > ${now}) as has_listener
      from undurable, endpoints e
      where e.id = any(array(select id from due) || ${woken}::text[]) and e.deleted_at is null and not e.paused and ${available}
        -- Taken by a worker of the version before.
        and not exists (select from deliveries c where c.endpoint_id = e.id and c.claim_id is not null)
      for no key update of e skip locked
    ), flights as (
      select endpoint_id, array_agg(id) as ids
      from unnest(${list(inFlight.map((one) => one.endpointId))}, ${list(inFlight.map((one) => one.id))})
        as f (endpoint_id, id) group by endpoint_id
    ), mine as (
      select h.*, coalesce(f.ids, '{}') as flying, case when h.wanted_by is not null then 0 else greatest(0, least(
        greatest(1, ${limit} / (select count(*) from held)),
        case when h.struggling and not h.has_listener then ${slotsWhileStruggling}::int else ${slotsPerEndpoint} end
          - coalesce(cardinality(f.ids), 0)
      ))::int end as free
      from held h join endpoints seen on seen.id = h.id and seen.turn = h.turn left join flights f on f.endpoint_id = h.id
    ), picked as (
      select m.id as endpoint_id, d.* from mine m, lateral (
        (select 'redelivery' as kind, ${picked} from deliveries
          where endpoint_id = m.id and ${isRedelivery} and id <> all(m.flying) order by redeliver_at limit m.free)
        union all
        (select 'scheduled', ${picked} from deliveries
          where endpoint_id = m.id and ${isFirst} and m.enabled and redeliver_at is null and id <> all(m.flying)
          order by next_at limit m.free)
        union all
        (select 'scheduled', ${picked} from deliveries
          where endpoint_id = m.id and ${isRetry} and m.enabled and redeliver_at is null and next_at <= ${now}
            and id <> all(m.flying)
          order by next_at limit m.free)
        union all
        (select 'replay', ${picked} from deliveries
          where endpoint_id = m.id and ${isReplayed} and m.enabled and id <> all(m.flying)
          order by event_id limit greatest(0, least(m.free,
            case when m.struggling then ${slotsWhileStruggling}::int else ${slotsForReplay} end - cardinality(m.flying))))
        limit m.free
      ) d
    ), next as (
      select m.id, m.wanted_by, cardinality(m.flying) > 0 or sends as owned, case
        when sends then ${now}::timestamptz
        when m.free > 0 then least(
          (select redeliver_at from deliveries where endpoint_id = m.id and ${isRedelivery} and id <> all(m.flying)
            order by redeliver_at limit 1),
          (select next_at from deliveries where endpoint_id = m.id and ${isFirst} and m.enabled and id <> all(m.flying)
            order by next_at limit 1),
          (select next_at from deliveries where endpoint_id = m.id and ${isRetry} and m.enabled and id <> all(m.flying)
            order by next_at limit 1))
        end as due_at
      from mine m, lateral (select exists (select from picked p where p.endpoint_id = m.id) as sends) s
    ), owned as (
      update endpoints e set turn = e.turn + 1, owner = ${owner}, owner_until = ${leaseUntil},
        next_due_at = least(n.due_at, ${leaseUntil})
      from next n where e.id = n.id and n.owned
    ), given_up as (
      update endpoints e set turn = e.turn + 1, owner = n.wanted_by, wanted_by = null,
        owner_until = case when n.wanted_by is not null then ${plus(now, handOverMs)}::timestamptz end,
        next_due_at = case when n.wanted_by is not null then ${now}::timestamptz else n.due_at end
      from next n where e.id = n.id and not n.owned
    )
    select m.id as "endpointId", m.protocol, m.url, m.secret, m.next_secret as "nextSecret",
      m.takes_over_at as "takesOverAt", m.struggling, m.has_outage as "hasOutage", m.has_listener as "hasListener", m.free = 0 as full,
      p.id, p.kind, p.type, p.format, p.origin = 'test' or p.type = 'Ping' as "isTest",
      coalesce(p.body, v.body::text) as envelope, ${appRecipient} as app, ${causeOfEvent} as cause,
      p.survives_revocation as "survivesRevocation", p.status, p.attempts, p.scheduled, p.redeliveries,
      p.next_at as "nextAt", p.settled_at as "settledAt", p.replay_id as "replayId"
    from mine m left join picked p on p.endpoint_id = m.id
    left join events v on v.id = p.event_id left join installations i on i.id = p.installation_id`)
  const found = rows.filter(isPicked)
  const stale = found.filter(isStale)
  if (stale.length > 0) await cancelStale(db, stale, now)
  return {
    claimed: found.filter((row) => !stale.includes(row)).map((row) => ({ ...row, leaseUntil })),
    seen: [...new Set(rows.map(({ endpointId }) => endpointId))],
    full: rows.filter(({ full }) => full).map(({ endpointId }) => endpointId),
  }
}

/** Recorded while the app was being uninstalled, and committed after it. */
const isStale = ({ app, kind, survivesRevocation }: PickedRow) =>
  app?.revoked && kind === 'scheduled' && !survivesRevocation

const cancelStale = (db: Db, stale: PickedRow[], now: Date) =>
  db.run(sql`
    update deliveries set ${canceled(now)}
    where status = 'pending' and endpoint_id = any(${stale.map(({ endpointId }) => endpointId)})
      and id = any(${stale.map(({ id }) => id)})`)

type PickedRow = Omit<Claimed, 'leaseUntil'> & { survivesRevocation: boolean; full: boolean }
type Row = PickedRow | { endpointId: string; full: boolean; id: null }
const isPicked = (row: Row): row is PickedRow => row.id !== null

/** When the next endpoint that is not another worker's becomes due; null if none has anything to send. */
export async function nextDueAt(db: Db, now: Date, owner: string): Promise<Date | null> {
  const row = await db.row<{ at: string }>(sql`
    select next_due_at as at from endpoints
    where next_due_at is not null and deleted_at is null and not paused and ${isMine(now, owner)}
    order by next_due_at limit 1`)
  return row ? new Date(row.at) : null
}

/** Asks other workers for endpoints that wait for them. Called by a worker that has nothing to do. */
export const askForShare = (db: Db, owner: string, now: Date) =>
  db.run(sql`
    update endpoints set wanted_by = ${owner} where id in (
      select id from endpoints
      where next_due_at <= ${plus(now, -wantedAfterMs)} and deleted_at is null and not paused and wanted_by is null
        and owner <> ${owner} and not ${isFree(now)}
      order by next_due_at limit ${endpointsPerClaim} for no key update skip locked)`)

/**
 * Releases deliveries that a worker of the version before took and never completed. `all` releases every one: for a
 * single worker before it starts.
 */
export const returnExpired = (db: Db, now: Date, { all = false } = {}) =>
  db.tx(async (tx) => {
    const returned = await tx.rows<{ endpoint_id: string }>(sql`
      update deliveries set ${unclaimed},
        redeliver_at = case when claim_kind = 'redelivery' then coalesce(redeliver_at, ${now}) else redeliver_at end
      where (endpoint_id, id) in (
        select endpoint_id, id from deliveries
        where claim_id is not null ${all ? none : sql`and (lease_until <= ${now} or lease_until > ${plus(now, leaseTooLongMs)})`}
        limit 1000 for no key update skip locked)
      returning endpoint_id`)
    tx.afterCommit(
      'due',
      returned.map(({ endpoint_id }) => endpoint_id),
    )
    return returned.length
  })

/**
 * Marks endpoints due whose deliveries were committed by a process that died before it could do so. An owner looks at
 * its endpoint again when nothing is in flight to it.
 */
export const wakeOverlooked = (db: Db, now: Date) =>
  db.tx(async (tx) => {
    const overlooked = await tx.rows<{ id: string }>(sql`
      select e.id from endpoints e
      where e.deleted_at is null and not e.paused and (e.next_due_at is null or e.next_due_at > ${now}) and ${isFree(now)} and (
        exists (select from deliveries where endpoint_id = e.id and ${isRedelivery})
        or e.state = 'enabled' and (
          exists (select from deliveries where endpoint_id = e.id and ${isFirst})
          or exists (select from deliveries where endpoint_id = e.id and ${isRetry} and next_at <= ${now})
          or exists (select from deliveries where endpoint_id = e.id and ${isReplayed})))`)
    tx.afterCommit(
      'due',
      overlooked.map(({ id }) => id),
    )
    return overlooked.length
  })
