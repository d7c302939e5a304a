import { limits } from '@baton/protocol'
import { counters } from '../counters.ts'
import type { Db, Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Outcome } from '../outbound/client.ts'
import { disableFailing, reportFailing } from './health.ts'
import { trackOutages } from './outage.ts'
import { noteReplayed } from './replayed.ts'
import { afterAttempt } from './schedule.ts'
import type { Attempted } from './stages.ts'
import { countAttempts } from './track-record.ts'

/**
 * Writes the outcomes of attempts in one statement. An attempt changes nothing if the delivery was canceled meanwhile, or
 * if the endpoint's next owner has made an attempt with the same number. Returns the endpoints that have more to send,
 * or may have an unblocked delivery.
 */
export async function complete(db: Db, attempted: Attempted[], retryDelaysMs: readonly number[], now: Date) {
  const results = attempted.map((one) => resultOf(one, retryDelaysMs))
  const failed = results.filter(({ status, kind, relayed }) => status === 'failed' && kind === 'scheduled' && !relayed)
  const mayBeFailing = [...new Set(failed.map(({ endpoint_id }) => endpoint_id))]
  const pending =
    mayBeFailing.length === 0
      ? await write(db, results)
      : await db.tx(async (tx) => {
          // Locked before the failures are written, so that the second of two workers sees what the first one wrote.
          await lockEndpoints(tx, mayBeFailing)
          const written = await write(tx, results)
          await disableAndNotify(tx, mayBeFailing, now)
          return written
        })
  countSettled(results)
  // Best effort: the next attempt sets both again.
  await updateStruggling(db, attempted).catch(() => {})
  await trackOutages(db, attempted, now).catch(() => {})
  return new Set(pending.map(({ endpoint_id }) => endpoint_id))
}

function resultOf(
  { claimed, prepared, outcome, relayed, endedAt, isFinal = false }: Attempted,
  retryDelaysMs: readonly number[],
) {
  const { kind } = claimed
  const scheduled = claimed.scheduled + (kind === 'scheduled' ? 1 : 0)
  const after = afterAttempt(claimed, { kind, ok: outcome.ok, endedAt, scheduled, isFinal }, retryDelaysMs)
  return {
    id: claimed.id,
    endpoint_id: claimed.endpointId,
    kind,
    status_before: claimed.status,
    redeliveries: claimed.redeliveries,
    number: claimed.attempts + 1,
    scheduled,
    status: after.status,
    next_at: after.nextAt,
    settled_at: after.settledAt,
    // Null keeps the value.
    relayed: after === claimed ? null : relayed,
    by_listener: relayed,
    failure: outcome.ok || relayed ? null : failureOf(claimed.id, prepared.startedAt, outcome),
    started_at: prepared.startedAt,
    duration_ms: Math.round(outcome.durationMs),
    http_status: outcome.status,
    reason: outcome.ok ? null : outcome.reason,
    response_excerpt: outcome.status === null ? null : excerpt(outcome.body),
    signature: prepared.signature,
    standard_signature: prepared.standardSignature,
    replay_id: claimed.replayId,
    ended_at: endedAt,
  }
}

function countSettled(results: ReturnType<typeof resultOf>[]) {
  for (const { status, status_before } of results)
    if (status_before === 'pending' && status !== 'pending') counters.settled.inc({ outcome: status })
}

/** In the format of an endpoint's health. */
const failureOf = (id: string, startedAt: Date, { reason, status }: Outcome & { ok: false }) => ({
  at: startedAt,
  reason,
  http_status: status,
  delivery_id: id,
})

/** The start of a response as text that PostgreSQL can store. */
export function excerpt(bytes: Buffer): string {
  // A character has at most four bytes.
  const text = bytes.subarray(0, limits.webhookResponseKept * 4).toString('utf8')
  return Array.from(text.replaceAll('\0', '\ufffd')).slice(0, limits.webhookResponseKept).join('')
}

const write = (db: Queryable, results: object[]) =>
  db.rows<{ endpoint_id: string }>(sql`
    with done as (
      select * from json_to_recordset(${JSON.stringify(results)}::json) as d (
        endpoint_id text, id text, kind text, status_before text, redeliveries int, number int, scheduled int, status text, next_at timestamptz,
        settled_at timestamptz, relayed boolean, by_listener boolean, failure json, started_at timestamptz,
        duration_ms int, http_status int, reason text, response_excerpt text, signature text,
        standard_signature text, replay_id text, ended_at timestamptz)
    ), kept as (
      update deliveries d set attempts = done.number, scheduled = done.scheduled, status = done.status,
        next_at = done.next_at, settled_at = done.settled_at, relayed = coalesce(done.relayed, d.relayed),
        -- A request that came while a redelivery was in flight asks for one more.
        redeliver_at = case when done.kind <> 'redelivery' or d.redeliveries > done.redeliveries then d.redeliver_at end,
        replay_id = case when done.kind <> 'replay' then d.replay_id end
      from done where d.endpoint_id = done.endpoint_id and d.id = done.id and d.attempts = done.number - 1
        and d.status = done.status_before and d.claim_id is null
      returning d.endpoint_id, d.id, d.workspace_id, d.type, d.origin, d.attempts, d.status, d.redeliver_at, d.may_block,
        done.kind
    ), logged as (
      insert into attempts
        (delivery_id, number, workspace_id, started_at, duration_ms, http_status, reason, response_excerpt, signature,
          standard_signature)
      select k.id, d.number, k.workspace_id, d.started_at, d.duration_ms, d.http_status, d.reason, d.response_excerpt,
        d.signature, d.standard_signature
      from kept k join done d on d.id = k.id
    ), counted as (${countAttempts}), replayed as (${noteReplayed})
    select endpoint_id from kept
    where status = 'pending' or redeliver_at is not null or (may_block and attempts = 1) or kind = 'replay'`)

const lockEndpoints = (tx: Tx, ids: string[]) =>
  tx.rows(sql`select id from endpoints where id = any(${ids}) order by id for no key update`)

async function disableAndNotify(tx: Tx, endpointIds: string[], now: Date) {
  for (const endpoint of await disableFailing(tx, endpointIds, now)) await reportFailing(tx, now, endpoint)
}

/** An endpoint whose attempt timed out gets fewer slots until one succeeds. Relayed attempts do not count. */
async function updateStruggling(db: Db, attempted: Attempted[]) {
  const changed = new Map<string, boolean>()
  for (const { claimed, outcome, relayed } of attempted) {
    if (relayed) continue
    const now = outcome.ok ? false : outcome.reason === 'timeout' ? true : claimed.struggling
    if (now !== claimed.struggling) changed.set(claimed.endpointId, now)
  }
  for (const [id, struggling] of changed) {
    await db.run(sql`
      update endpoints set struggling = ${struggling}
      where id in (select id from endpoints where id = ${id} for no key update skip locked)`)
  }
}
