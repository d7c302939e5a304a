import { type AgentFigures, type AgentInsights, type InsightQuery, limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { type AgentCounts, agentCounts, noAgentCounts } from './agent-days.ts'
import { bucketCount, durations } from './buckets.ts'
import { summed, summedBuckets } from './columns.ts'
import { periodsOf, rangeOf } from './days.ts'

/** Below these numbers the time to answer would say how fast single people answer (insight.answer-time-privacy). */
const fewestAnswers = 5
const fewestPeople = 3

type Row = AgentCounts & {
  /** Of the period, from 1; null in the row of an agent. */
  period: number | null
  agent_id: string | null
  name: string | null
  first_activity: number[]
  answer_time: number[]
  people: number
  input_tokens: number
  output_tokens: number
  costs: Record<string, number>
}

const empty = {
  ...noAgentCounts,
  ...{ input_tokens: 0, output_tokens: 0, first_activity: [], answer_time: [], people: 0, costs: {} },
}

/** When the figures of a workspace were last counted; null before the first time. */
export const readAsOf = async (db: Queryable, workspaceId: string) =>
  (await db.row<{ as_of: string | null }>(sql`select as_of from insight_progress where workspace_id = ${workspaceId}`))
    ?.as_of ?? null

export async function readAgentInsights({ db, clock }: Context, { workspaceId }: Member, query: InsightQuery) {
  const range = rangeOf(query, clock.now())
  const periods = periodsOf(range)
  const { team_id, agent_id } = query
  // The whole range as a condition of its own is what the index is read by.
  const filter = sql`and a.day >= ${range.from}::date and a.day <= ${range.to}::date
    ${team_id === undefined ? none : sql`and a.team_id = ${team_id}`}
    ${agent_id === undefined ? none : sql`and a.agent_id = ${agent_id === 'personal' ? '' : agent_id}`}`
  const [as_of, rows] = await Promise.all([
    readAsOf(db, workspaceId),
    db.rows<Row>(figures(workspaceId, periods, filter)),
  ])
  const byPeriod = new Map(rows.map((row) => [row.period, row]))
  const report: AgentInsights = {
    ...range,
    as_of,
    periods: periods.map((period, index) => ({ ...period, figures: toFigures(byPeriod.get(index + 1) ?? empty) })),
    agents: rows
      .filter(({ period }) => period === null)
      .slice(0, limits.insightAgents)
      .map((row) => ({
        agent: row.agent_id ? { id: row.agent_id, name: row.name ?? 'Deleted agent' } : null,
        figures: toFigures(row),
      })),
  }
  return report
}

/** A row for each period with sessions, and one for each agent, those with most sessions first. */
const figures = (workspaceId: string, periods: readonly { from: string; to: string }[], filter: Sql) => sql`
  with days as materialized (
    select p.period, a.* from unnest(${periods.map(({ from }) => from)}::date[], ${periods.map(({ to }) => to)}::date[])
      with ordinality as p (first, last, period)
    join agent_days a on a.workspace_id = ${workspaceId} and a.day >= p.first and a.day <= p.last ${filter}
  ), sums as (
    select period, agent_id, ${summed(agentCounts)}, ${sum(sql`sum(input_tokens)`)} as input_tokens,
      ${sum(sql`sum(output_tokens)`)} as output_tokens,
      ${summedBuckets('first_activity', bucketCount)} as first_activity,
      ${summedBuckets('answer_time', bucketCount)} as answer_time
    from days group by grouping sets ((period), (agent_id))
  ), people as (
    select period, agent_id, count(distinct person)::int as people
    from days, unnest(answered_by) as person group by grouping sets ((period), (agent_id))
  ), costs as (
    select period, agent_id, jsonb_object_agg(currency, cost) as costs from (
      select period, agent_id, c.key as currency, ${sum(sql`sum(c.value::numeric)`)} as cost
      from days, jsonb_each_text(days.costs) c group by grouping sets ((period, c.key), (agent_id, c.key))
    ) c group by period, agent_id
  )
  select s.*, u.display_name as name, coalesce(p.people, 0) as people, coalesce(c.costs, '{}') as costs
  from sums s
  left join people p on p.period is not distinct from s.period and p.agent_id is not distinct from s.agent_id
  left join costs c on c.period is not distinct from s.period and c.agent_id is not distinct from s.agent_id
  left join users u on u.id = s.agent_id
  order by s.period nulls last, s.opened desc, s.agent_id limit ${periods.length + limits.insightAgents}`

/** Sums stay numbers that JavaScript and JSON represent exactly. */
const sum = (value: Sql) => sql`least(${value}, ${Number.MAX_SAFE_INTEGER}::numeric)::bigint`

function toFigures(row: typeof empty | Row): AgentFigures {
  const answers = durations('answer_time', row.answer_time)
  const isPrivate = answers === null || answers.count < fewestAnswers || row.people < fewestPeople
  return {
    ...(Object.fromEntries(agentCounts.map((name) => [name, row[name]])) as AgentCounts),
    first_activity: durations('first_activity', row.first_activity),
    answer_time: isPrivate ? null : answers,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    costs: Object.entries(row.costs)
      .map(([currency, cost_micros]) => ({ currency, cost_micros }))
      .sort((one, other) => one.currency.localeCompare(other.currency)),
  }
}
