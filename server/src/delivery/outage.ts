import { minutes } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { notifyManagers } from '../inbox/notify.ts'
import type { Attempted } from './stages.ts'

/** Consecutive failed attempts, and the time since the first, that are reported. */
const reportedAttempts = 5
const reportedAfterMs = minutes(10)

interface Outage {
  /** Consecutive failed attempts. */
  attempts: number
  since: string | null
  /** The managers have an inbox entry. */
  reported: boolean
}

/** Whether an outage is long enough to be reported (standard-webhook.alert). */
export const isStruggling = ({ attempts, since, reported }: Outage, now: Date) =>
  !reported &&
  since !== null &&
  attempts >= reportedAttempts &&
  now.getTime() - new Date(since).getTime() >= reportedAfterMs

/** What the attempts of a batch change about the outage of their endpoint. */
interface Change {
  id: string
  /** Failed attempts since the last success, or of the whole batch. */
  failed: number
  since: Date | null
  recovered: boolean
}

/**
 * Counts consecutive failed attempts of endpoints and reports an outage once. Tests and relayed attempts do not count.
 * Writes nothing while attempts succeed and no outage was known when they were claimed.
 */
export async function trackOutages(db: Db, attempted: Attempted[], now: Date) {
  const changes = changesOf(attempted)
  if (changes.length === 0) return
  await db.tx(async (tx) => {
    const outages = await tx.rows<Outage & { id: string; workspaceId: string; registrant: string | null }>(sql`
      with changed as (
        select * from json_to_recordset(${JSON.stringify(changes)}::json)
          as c (id text, failed int, since timestamptz, recovered boolean)
      ), held as (
        select e.id from endpoints e join changed c on c.id = e.id where e.deleted_at is null
        order by e.id for no key update of e
      )
      update endpoints e set
        outage_attempts = case when c.recovered then 0 else e.outage_attempts end + c.failed,
        outage_since = case when c.failed = 0 then null when c.recovered then c.since
          else coalesce(e.outage_since, c.since) end,
        outage_reported = e.outage_reported and not c.recovered
      from held h join changed c on c.id = h.id where e.id = h.id
      returning e.id, e.workspace_id as "workspaceId", e.outage_attempts as attempts, e.outage_since as since,
        e.outage_reported as reported, (select owner_user_id from agent_apps a where a.id = e.app_id) as registrant`)
    for (const { id, workspaceId, registrant, ...outage } of outages) {
      if (!isStruggling(outage, now)) continue
      await tx.run(sql`update endpoints set outage_reported = true where id = ${id}`)
      const unit = { tx, now, caller: { id: null, workspaceId } }
      await notifyManagers(unit, 'webhook_struggling', { endpointId: id }, registrant ? [registrant] : [])
    }
  })
}

function changesOf(attempted: Attempted[]): Change[] {
  const changes = new Map<string, Change & { known: boolean }>()
  for (const { claimed, prepared, outcome, relayed } of attempted) {
    if (relayed || claimed.isTest) continue
    const { endpointId: id } = claimed
    const before = changes.get(id) ?? { id, failed: 0, since: null, recovered: false, known: false }
    const known = before.known || claimed.hasOutage
    if (outcome.ok) changes.set(id, { id, failed: 0, since: null, recovered: true, known: known || before.failed > 0 })
    else
      changes.set(id, { ...before, failed: before.failed + 1, since: before.since ?? prepared.startedAt, known: true })
  }
  return [...changes.values()].filter(({ known }) => known).map(({ known: _, ...change }) => change)
}
