import { type EndpointHealth, type EndpointState, limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { found } from '../http/errors.ts'
import { isNotTest } from './stages.ts'

/**
 * Part of the statement that writes attempts: adds them to the days of their endpoints. `kept` has the deliveries,
 * `done` the attempts. Writes in order, so that two workers cannot deadlock.
 */
export const countAttempts = sql`
  insert into endpoint_days
    (endpoint_id, workspace_id, day, succeeded, failed, first_success_at, last_success_at, last_failure)
  select k.endpoint_id, k.workspace_id, (d.started_at at time zone 'UTC')::date,
    count(*) filter (where d.reason is null and not d.by_listener), count(*) filter (where d.failure is not null),
    min(d.started_at) filter (where d.reason is null),
    max(d.started_at) filter (where d.reason is null and not d.by_listener),
    (array_agg(d.failure order by d.started_at desc) filter (where d.failure is not null))[1]
  from kept k join done d on d.id = k.id
  where ${isNotTest}
  group by 1, 2, 3 order by 1, 3
  on conflict (endpoint_id, day) do update set
    succeeded = endpoint_days.succeeded + excluded.succeeded, failed = endpoint_days.failed + excluded.failed,
    first_success_at = least(endpoint_days.first_success_at, excluded.first_success_at),
    last_success_at = greatest(endpoint_days.last_success_at, excluded.last_success_at),
    last_failure = coalesce(excluded.last_failure, endpoint_days.last_failure)`

interface Day {
  date: string
  succeeded: number
  failed: number
  last_success_at: string | null
  last_failure: EndpointHealth['last_failure']
}

export async function readHealth({ db, clock }: Context, endpointId: string): Promise<EndpointHealth> {
  const now = clock.now()
  const endpoint = found(
    await db.row<{ state: EndpointState; state_since: string; held: number }>(sql`
      select e.state, e.state_since, case when e.state = 'enabled' then 0 else (
        select count(*) from (select from deliveries d where d.endpoint_id = e.id and d.status = 'pending'
          and d.claim_id is null limit ${limits.heldCounted}) h) end as held
      from endpoints e where e.id = ${endpointId}`),
  )
  const kept = await db.rows<Day>(sql`
    select to_char(day, 'YYYY-MM-DD') as date, succeeded, failed, last_success_at, last_failure from endpoint_days
    where endpoint_id = ${endpointId} and day > ${dateOf(plus(now, -days(limits.deliveryDays)))}::date order by day`)
  const recent = datesUntil(now).map((date) => {
    const { succeeded = 0, failed = 0 } = kept.find((day) => day.date === date) ?? {}
    return { date, succeeded, failed }
  })
  const succeeded = recent.reduce((sum, day) => sum + day.succeeded, 0)
  const attempts = recent.reduce((sum, day) => sum + day.failed, succeeded)
  return {
    days: recent,
    success_rate: attempts > 0 ? succeeded / attempts : null,
    last_success_at: kept.findLast((day) => day.last_success_at !== null)?.last_success_at ?? null,
    last_failure: kept.findLast((day) => day.last_failure !== null)?.last_failure ?? null,
    failing_since: endpoint.state === 'failing' ? endpoint.state_since : null,
    held: endpoint.held,
  }
}

const dateOf = (time: Date) => time.toISOString().slice(0, 10)

/** Oldest first. */
const datesUntil = (now: Date) =>
  Array.from({ length: limits.healthDays }, (_, index) => dateOf(plus(now, -days(limits.healthDays - 1 - index))))
