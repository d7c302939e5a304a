import { limits, programLimits } from '@baton/protocol'
import { plus } from '../clock.ts'
import { none, sql } from '../db/sql.ts'
import { found } from '../http/errors.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/**
 * Requests one extra attempt of each delivery that its receiver may have missed, oldest first, without changing their
 * schedules (run.listen-catch-up). If this was done less than a minute ago, only of those that were not attempted since.
 */
export async function requestMissed({ tx, now }: UnitOfWork, endpointId: string) {
  const { caughtUpAt } = found(
    await tx.row<{ caughtUpAt: string | null }>(sql`
      select caught_up_at as "caughtUpAt" from endpoints where id = ${endpointId} for no key update`),
  )
  const agoMs = caughtUpAt === null ? Number.POSITIVE_INFINITY : Math.abs(now.getTime() - Date.parse(caughtUpAt))
  const isRepeated = agoMs < programLimits.catchUpSeconds * 1000
  // Not moved by a repeated request: each would make attempts since the one before count as missed.
  if (!isRepeated) await tx.run(sql`update endpoints set caught_up_at = ${now} where id = ${endpointId}`)
  const notSince = sql`and not exists (
    select from attempts t where t.delivery_id = d.id and t.started_at >= ${caughtUpAt})`
  const requested = await tx.run(sql`
    with missed as (
      select d.id from deliveries d
      where d.endpoint_id = ${endpointId} and d.created_at > ${plus(now, -programLimits.catchUpHours * 3_600_000)}
        and (d.status = 'pending' or d.status = 'failed') and d.redeliver_at is null
        and d.redeliveries < ${limits.redeliveriesPerDelivery} ${isRepeated ? notSince : none}
      order by d.id limit ${programLimits.catchUpDeliveries} for update
    ), placed as (select id, row_number() over (order by id) as place from missed)
    -- The claim takes redeliveries in the order of these times.
    update deliveries d set redeliveries = d.redeliveries + 1,
      redeliver_at = ${now}::timestamptz - (${programLimits.catchUpDeliveries}::int - p.place) * interval '1 millisecond'
    from placed p where d.endpoint_id = ${endpointId} and d.id = p.id`)
  if (requested > 0) tx.afterCommit('due', [endpointId])
}
