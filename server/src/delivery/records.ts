import { type AppDeliveryQuery, type Attempt, type Delivery, type DeliveryDetail, limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import { ApiError, found } from '../http/errors.ts'
import { limitTo, page } from '../http/paging.ts'
import type { Cause } from '../trace.ts'
import { bodyOf, headersOf, traceOf } from './message.ts'
import { type AppRecipient, appRecipient, type BodyFormat, causeOfEvent, isUnattempted } from './stages.ts'

/** `issue` is a column of `more`: what an event contains does not concern this folder. */
type Row = Omit<Delivery, 'attempts'>
/** The id that the receiver gets: the envelope of an event for an app may have a different one. */
const eventId = sql`case when d.installation_id is null then d.event_id else coalesce(
  (select v.body->'data'->>'event_id' from events v where v.id = d.event_id), d.event_id) end as event_id`
/**
 * The claim leaves these out, except redeliveries to a disabled endpoint. Scalar subselects, because PostgreSQL may
 * evaluate `exists` by hashing the whole table.
 */
const isHeld = (endpointId: string) => sql`(
  d.status = 'pending' and d.claim_id is null and (
    (select e.state <> 'enabled' from endpoints e where e.id = ${endpointId})
    or coalesce((select ${isUnattempted} from deliveries b
      where b.endpoint_id = d.endpoint_id and b.id = d.blocked_by), false) or d.waits))`
const columns = (endpointId: string, more: Sql) => sql`
  d.id, ${eventId}, d.type, d.action, d.status, ${isHeld(endpointId)} as held,
  d.origin = 'test' or d.type = 'Ping' as test, d.created_at, d.next_at as next_attempt_at,
  (select v.request_id from events v where v.id = d.event_id) as request_id, ${more}`

/** Literals, because partial indexes need them. Pending deliveries are in one of two indexes, claimed or not. */
const withStatus = {
  pending: sql`
    and (d.status = 'pending' and d.claim_id is null or d.status = 'pending' and d.claim_id is not null)`,
  succeeded: sql`and d.status = 'succeeded'`,
  failed: sql`and d.status = 'failed'`,
  canceled: sql`and d.status = 'canceled'`,
}

/** `more` has the further columns of a delivery `d`, as in the other functions below. */
export async function listDeliveries({ db, keys }: Context, endpointId: string, query: AppDeliveryQuery, more: Sql) {
  const { data, next_cursor } = await page<Row>(
    keys,
    `deliveries of ${endpointId}`,
    query,
    (delivery) => [delivery.id],
    (after, count) => db.rows(selectNewest(endpointId, query, columns(endpointId, more), after?.[0], count)),
  )
  return { data: await withAttempts(db, data), next_cursor }
}

function selectNewest(
  endpointId: string,
  { status, type, agent_session_id: sessionId }: AppDeliveryQuery,
  selected: Sql,
  before: string | undefined,
  count: number,
): Sql {
  const newest = (condition: Sql) => sql`
    select ${selected} from ${sessionId ? deliveriesOfSession(sessionId, endpointId) : sql`deliveries d`}
    where d.endpoint_id = ${endpointId} ${type ? sql`and d.type = ${type}` : none} ${condition}
      ${before ? sql`and d.id < ${before}` : none}
    order by d.id desc ${limitTo(count)}`
  if (status === 'held') return newest(sql`and d.status = 'pending' and d.claim_id is null and ${isHeld(endpointId)}`)
  if (status) return newest(withStatus[status])
  if (!type || sessionId) return newest(none)
  // The index by type has settled deliveries only; pending ones are in the indexes of the claim.
  return sql`
    select * from ((${newest(sql`and d.status <> 'pending'`)}) union all (${newest(withStatus.pending)})) both_kinds
    order by id desc ${limitTo(count)}`
}

const deliveriesOfSession = (sessionId: string, endpointId: string) => sql`
  (select delivery_id(v.id, ${endpointId}) as delivery_id from events v where v.agent_session_id = ${sessionId}) v
  join deliveries d on d.id = v.delivery_id`

type AttemptRow = Attempt & { delivery_id: string; signature: string; standardSignature: string | null }

const readAttempts = (db: Queryable, deliveryIds: string[]) =>
  db.rows<AttemptRow>(sql`
    select delivery_id, number, started_at, duration_ms, http_status, reason, response_excerpt, signature,
      standard_signature as "standardSignature"
    from attempts where delivery_id = any(${deliveryIds}) order by delivery_id, number`)

const withoutKeys = ({ delivery_id: _, signature: __, standardSignature: ___, ...attempt }: AttemptRow): Attempt =>
  attempt

async function withAttempts(db: Queryable, rows: Row[]): Promise<Delivery[]> {
  const attempts = new Map<string, Attempt[]>(rows.map(({ id }) => [id, []]))
  for (const row of await readAttempts(db, [...attempts.keys()])) attempts.get(row.delivery_id)?.push(withoutKeys(row))
  return rows.map((row) => ({ ...row, attempts: attempts.get(row.id) ?? [] }))
}

interface Recorded {
  envelope: string
  app: AppRecipient | null
  format: BodyFormat | null
  protocol: 'webhook' | 'a2a'
  message: DeliveryDetail['request']
  cause: Cause | null
}

/** Includes the request as last sent, rebuilt byte for byte from the recorded envelope and the attempt. */
export async function readDelivery(
  { db }: Context,
  endpointId: string,
  id: string,
  more: Sql,
): Promise<DeliveryDetail> {
  const { envelope, app, format, protocol, message, cause, ...row } = found(
    await db.row<Row & Recorded>(sql`
      select ${columns(endpointId, more)}, coalesce(d.body, v.body::text) as envelope, ${appRecipient} as app, d.format,
        ${causeOfEvent} as cause,
        (select e.protocol from endpoints e where e.id = d.endpoint_id) as protocol,
        (select m.request from a2a_messages m where m.delivery_id = d.id) as message
      from deliveries d join events v on v.id = d.event_id left join installations i on i.id = d.installation_id
      where d.endpoint_id = ${endpointId} and d.id = ${id}`),
  )
  const attempts = await readAttempts(db, [id])
  const last = attempts.at(-1)
  const sentAt = last && new Date(last.started_at)
  return {
    ...row,
    attempts: attempts.map(withoutKeys),
    // A message to an A2A agent is stored as sent, without the credential.
    request:
      protocol === 'a2a'
        ? message
        : sentAt
          ? {
              headers: headersOf(id, row.type, last, sentAt, format, cause, traceOf(cause, id, last.number)),
              body: bodyOf(envelope, endpointId, sentAt, app, format),
            }
          : null,
  }
}

/** Requests one extra attempt, even while the endpoint is disabled. Repeated requests before it give one attempt. */
export const redeliver = ({ db, clock }: Context, endpointId: string, id: string, more: Sql): Promise<Delivery> =>
  db.tx(async (tx) => {
    // Deleting takes the same lock, so a canceled delivery stays canceled.
    found(await tx.row(sql`select 1 from endpoints where id = ${endpointId} and deleted_at is null for no key update`))
    const { redeliveries, ...row } = found(
      await tx.row<Row & { redeliveries: number }>(sql`
        select ${columns(endpointId, more)}, d.redeliveries from deliveries d where d.endpoint_id = ${endpointId} and d.id = ${id} for update`),
    )
    if (row.status === 'canceled') throw new ApiError('DELIVERY_CANCELED')
    if (redeliveries >= limits.redeliveriesPerDelivery) throw new ApiError('REDELIVERY_LIMIT_REACHED')
    await tx.run(sql`
      update deliveries set redeliver_at = coalesce(redeliver_at, ${clock.now()}), redeliveries = redeliveries + 1
      where endpoint_id = ${endpointId} and id = ${id}`)
    tx.afterCommit('due', [endpointId])
    const [delivery] = await withAttempts(tx, [row])
    return found(delivery)
  })
