import { type Static, Type } from 'typebox'
import { closed, id, nullable, Timestamp } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref } from './tracker.ts'

const Day = Type.String({ format: 'date' })
const AskedDay = Type.String({
  format: 'date',
  pattern: '^(19|2\\d)\\d\\d-',
  'x-message': 'must be a day from 1900 to 2999, such as 2026-03-02',
})
const Count = Type.Integer({ minimum: 0 })

const InsightPeriodLength = Type.Enum(['day', 'week', 'month'], { 'x-message': 'must be day, week or month' })
export type InsightPeriodLength = Static<typeof InsightPeriodLength>

const range = {
  from: Type.Optional(AskedDay),
  to: Type.Optional(AskedDay),
  by: Type.Optional(InsightPeriodLength),
  team_id: Type.Optional(Ref),
}
const FlowQuery = Type.Object(range, closed)
const AgentQuery = Type.Object({ ...range, agent_id: Type.Optional(Ref) }, closed)
export type InsightQuery = Static<typeof AgentQuery>

/** From 48 buckets, each √2 wide: a quantile is at most 19 % off. */
const Durations = Type.Object({ count: Count, p50_ms: Count, p90_ms: Count }, { ...closed, title: 'Durations' })
export type Durations = Static<typeof Durations>

const agentFigures = {
  opened: Count,
  finished: Count,
  failed: Count,
  stopped: Count,
  stale: Count,
  waiting: Count,
  under_way: Count,
  asked: Count,
  first_activity: nullable(Durations),
  answer_time: nullable(Durations),
  accepted: Count,
  sent_back: Count,
  input_tokens: Count,
  output_tokens: Count,
  costs: Type.Array(Type.Object({ currency: Type.String(), cost_micros: Count }, closed)),
}
const AgentFigures = Type.Object(agentFigures, { ...closed, title: 'AgentFigures' })
export type AgentFigures = Static<typeof AgentFigures>

const report = { from: Day, to: Day, by: InsightPeriodLength, as_of: nullable(Timestamp) }

export const AgentInsights = Type.Object(
  {
    ...report,
    periods: Type.Array(Type.Object({ from: Day, to: Day, figures: AgentFigures }, closed)),
    agents: Type.Array(
      Type.Object(
        { agent: nullable(Type.Object({ id: id('usr'), name: Type.String() }, closed)), figures: AgentFigures },
        closed,
      ),
      { maxItems: limits.insightAgents },
    ),
  },
  { ...closed, title: 'AgentInsights' },
)
export type AgentInsights = Static<typeof AgentInsights>

const OpenByAge = Type.Object(
  { days_7: Count, days_30: Count, days_90: Count, days_180: Count, more: Count },
  { ...closed, title: 'OpenByAge' },
)
export type OpenByAge = Static<typeof OpenByAge>

const FlowFigures = Type.Object(
  {
    created: Count,
    done: Count,
    lead_time: nullable(Durations),
    cycle_time: nullable(Durations),
    open: OpenByAge,
  },
  { ...closed, title: 'FlowFigures' },
)
export type FlowFigures = Static<typeof FlowFigures>

export const FlowInsights = Type.Object(
  { ...report, periods: Type.Array(Type.Object({ from: Day, to: Day, figures: FlowFigures }, closed)) },
  { ...closed, title: 'FlowInsights' },
)
export type FlowInsights = Static<typeof FlowInsights>

export const DeliveryInsights = Type.Object(
  { days: Type.Array(Type.Object({ date: Day, succeeded: Count, failed: Count }, closed)) },
  { ...closed, title: 'DeliveryInsights' },
)
export type DeliveryInsights = Static<typeof DeliveryInsights>

export const CycleInsights = Type.Object(
  {
    cycle_id: id('cyc'),
    from: Day,
    to: nullable(Day),
    as_of: nullable(Timestamp),
    days: Type.Array(Type.Object({ date: Day, scope: Count, done: Count }, closed)),
  },
  { ...closed, title: 'CycleInsights' },
)
export type CycleInsights = Static<typeof CycleInsights>

const csv = { produces: 'text/csv', returns: { 200: Type.Unknown() } } as const

export const insights = {
  getAgentInsights: operation(routes.getAgentInsights, {
    summary: 'Get how agents did, by the day on which their sessions were opened; 90 days by week if left out',
    query: AgentQuery,
    returns: { 200: AgentInsights },
  }),
  exportAgentInsights: operation(routes.exportAgentInsights, {
    summary: 'Export how agents did as CSV, one row a period',
    query: AgentQuery,
    ...csv,
  }),
  getDeliveryInsights: operation(routes.getDeliveryInsights, {
    summary: 'Get how many attempts of deliveries succeeded and failed on each of the last 30 days',
    returns: { 200: DeliveryInsights },
  }),
  getFlowInsights: operation(routes.getFlowInsights, {
    summary: 'Get how issues flow: created, done, lead and cycle time, open by age; 90 days by week if left out',
    query: FlowQuery,
    returns: { 200: FlowInsights },
  }),
  exportFlowInsights: operation(routes.exportFlowInsights, {
    summary: 'Export how issues flow as CSV, one row a period',
    query: FlowQuery,
    ...csv,
  }),
  getCycleInsights: operation(routes.getCycleInsights, {
    summary: 'Get the burn-up of a cycle: the issues in it and those done, at the end of each day',
    returns: { 200: CycleInsights },
  }),
}
