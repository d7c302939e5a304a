import { recordAudit } from '../audit/record.ts'
import { days, plus } from '../clock.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { notifyManagers } from '../inbox/notify.ts'
import { hintOfLists, sendHints } from '../live/hint.ts'
import { isNotTest } from './stages.ts'

const failuresToDisable = 3
const windowMs = days(1)

/** No successful delivery and at least three failed ones in 24 hours (webhook.auto-disable). */
export const isFailing = (recent: { succeeded: boolean; failed: number }) =>
  !recent.succeeded && recent.failed >= failuresToDisable

/**
 * Disables those of the locked endpoints that are failing. Only deliveries since the endpoint was enabled count
 * (webhook.enable). Tests, relayed deliveries and those that a replay created do not (listen.not-counted,
 * replay.one-attempt).
 */
export async function disableFailing(tx: Tx, endpointIds: string[], now: Date) {
  const isRecent = sql`d.settled_at > ${plus(now, -windowMs)} and d.settled_at >= e.state_since and ${isNotTest}
    and d.origin = 'event' and not d.relayed`
  const health = await tx.rows<{
    id: string
    workspaceId: string
    appId: string | null
    succeeded: boolean
    failed: number
  }>(sql`
    select e.id, e.workspace_id as "workspaceId", e.app_id as "appId",
      exists (select from deliveries d where d.endpoint_id = e.id and d.status = 'succeeded' and ${isRecent}) as succeeded,
      (select count(*) from (
        select from deliveries d where d.endpoint_id = e.id and d.status = 'failed' and ${isRecent}
        limit ${failuresToDisable}) f) as failed
    from endpoints e where e.id = any(${endpointIds}) and e.state = 'enabled' and e.deleted_at is null`)
  const failing = health.filter(isFailing)
  if (failing.length === 0) return []
  const ids = failing.map(({ id }) => id)
  await tx.run(sql`
    update endpoints set state = 'failing', state_since = ${now}, updated_at = ${now} where id = any(${ids})`)
  return failing
}

interface FailingEndpoint {
  id: string
  workspaceId: string
  appId: string | null
}

/** Tells managers that an endpoint is failing. */
export async function reportFailing(tx: Tx, now: Date, { id, workspaceId, appId }: FailingEndpoint) {
  const unit = { tx, now, caller: { id: null, workspaceId } }
  await recordAudit(unit, { action: 'webhook.failing', subjectId: id })
  await notifyManagers(unit, 'webhook_failing', { endpointId: id })
  // The app is no longer available for delegation.
  if (appId) sendHints(tx, [hintOfLists(workspaceId, 'Agents')])
}
