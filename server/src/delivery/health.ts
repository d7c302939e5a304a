import { days, plus } from '../clock.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

const failuresToDisable = 3
const windowMs = days(1)

/** 3.3: no successful delivery and at least three failures in 24 hours. */
export const isFailing = (lately: { succeeded: boolean; failed: number }) =>
  !lately.succeeded && lately.failed >= failuresToDisable

/**
 * Disables the endpoints, which are locked, that the rule says have failed. Only what happened since somebody enabled
 * it counts, because that clears the reason; test pings never do, nor does what a listener answered (decisions 11).
 */
export async function disableFailing(tx: Tx, endpointIds: string[], now: Date) {
  const lately = sql`d.settled_at > ${plus(now, -windowMs)} and d.settled_at >= e.state_since and d.type <> 'Ping'
    and not d.relayed`
  const health = await tx.rows<{
    id: string
    workspaceId: string
    appId: string | null
    succeeded: boolean
    failed: number
  }>(sql`
    select e.id, e.workspace_id as "workspaceId", e.app_id as "appId",
      exists (select from deliveries d where d.endpoint_id = e.id and d.status = 'succeeded' and ${lately}) as succeeded,
      (select count(*) from (
        select from deliveries d where d.endpoint_id = e.id and d.status = 'failed' and ${lately}
        limit ${failuresToDisable}) f) as failed
    from endpoints e where e.id = any(${endpointIds}) and e.state = 'enabled' and e.deleted_at is null`)
  const failing = health.filter(isFailing)
  if (failing.length === 0) return []
  const ids = failing.map(({ id }) => id)
  await tx.run(sql`
    update endpoints set state = 'failing', state_since = ${now}, updated_at = ${now} where id = any(${ids})`)
  return failing
}
