import {
  type CycleInsights,
  type DeliveryInsights,
  type FlowFigures,
  type FlowInsights,
  type InsightQuery,
  limits,
} from '@baton/protocol'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { bucketCount, durations } from './buckets.ts'
import { summedBuckets } from './columns.ts'
import { windowOf } from './cycle-days.ts'
import { dayOf, earlier, everyDay, periodsOf, plusDays, rangeOf } from './days.ts'
import { ageClasses } from './flow-days.ts'
import { readAsOf } from './read-agents.ts'

interface Row {
  period: number
  created: number
  done: number
  lead_time: number[]
  cycle_time: number[]
  open: number[]
}

export async function readFlowInsights(
  { db, clock }: Context,
  { workspaceId }: Member,
  query: Omit<InsightQuery, 'agent_id'>,
): Promise<FlowInsights> {
  const range = rangeOf(query, clock.now())
  const periods = periodsOf(range)
  const as_of = await readAsOf(db, workspaceId)
  // Of a period that goes on, the last day that was counted.
  const lastDays = periods.map(({ to }) => (as_of ? earlier(to, dayOf(as_of)) : to))
  const rows = await db.rows<Row>(sql`
    select p.period, sum(d.created)::int as created, sum(d.done)::int as done,
      ${summedBuckets('d.lead_time', bucketCount)} as lead_time,
      ${summedBuckets('d.cycle_time', bucketCount)} as cycle_time,
      ${summedBuckets('o.open', ageClasses.length)} as open
    from unnest(${periods.map(({ from }) => from)}::date[], ${periods.map(({ to }) => to)}::date[], ${lastDays}::date[])
      with ordinality as p (first, last, counted, period)
    join flow_days d on d.workspace_id = ${workspaceId} and d.day >= p.first and d.day <= p.last
      and d.day >= ${range.from}::date and d.day <= ${range.to}::date
      ${query.team_id === undefined ? none : sql`and d.team_id = ${query.team_id}`}
    left join lateral (select d.open where d.day = p.counted) o on true
    group by p.period`)
  const byPeriod = new Map(rows.map((row) => [row.period, row]))
  return {
    ...range,
    as_of,
    periods: periods.map((period, index) => ({ ...period, figures: toFigures(byPeriod.get(index + 1)) })),
  }
}

function toFigures(row: Row | undefined): FlowFigures {
  const [days_7 = 0, days_30 = 0, days_90 = 0, days_180 = 0, more = 0] = row?.open ?? []
  return {
    created: row?.created ?? 0,
    done: row?.done ?? 0,
    lead_time: durations('lead_time', row?.lead_time ?? []),
    cycle_time: durations('cycle_time', row?.cycle_time ?? []),
    open: { days_7, days_30, days_90, days_180, more },
  }
}

/** Days that attempts of deliveries are counted for (delivery/track-record.ts). */
export async function readDeliveryInsights({ db, clock }: Context, { workspaceId }: Member): Promise<DeliveryInsights> {
  const today = dayOf(clock.now())
  const first = plusDays(today, 1 - limits.deliveryDays)
  const rows = await db.rows<DeliveryInsights['days'][number]>(sql`
    select to_char(day, 'YYYY-MM-DD') as date, sum(succeeded)::int as succeeded, sum(failed)::int as failed
    from endpoint_days where workspace_id = ${workspaceId} and day >= ${first}::date and day <= ${today}::date
    group by day`)
  const byDate = new Map(rows.map((row) => [row.date, row]))
  return { days: everyDay(first, today).map((date) => byDate.get(date) ?? { date, succeeded: 0, failed: 0 }) }
}

export async function readCycleInsights(
  { db, clock }: Context,
  { workspaceId }: Member,
  id: string,
): Promise<CycleInsights> {
  const cycle = found(
    await db.row<{ id: string; starts_at: string | null; ends_at: string | null; created_at: string }>(sql`
      select id, starts_at, ends_at, created_at from cycles where workspace_id = ${workspaceId} and id = ${id}`),
  )
  const { first, last } = windowOf(cycle, dayOf(clock.now()))
  const [as_of, days] = await Promise.all([
    readAsOf(db, workspaceId),
    db.rows<CycleInsights['days'][number]>(sql`
      select to_char(day, 'YYYY-MM-DD') as date, scope, done from cycle_days
      where workspace_id = ${workspaceId} and cycle_id = ${id} and day >= ${first}::date and day <= ${last}::date
      order by day`),
  ])
  return {
    cycle_id: id,
    from: dayOf(cycle.starts_at ?? cycle.created_at),
    to: cycle.ends_at && dayOf(cycle.ends_at),
    as_of,
    days,
  }
}
