import { exampleId, type SectionWords } from './examples.ts'

const range = {
  from: ['The first day, in UTC; 89 days before `to` if left out', '2026-01-05'],
  to: ['The last day, in UTC; today if left out. At most 366 days', '2026-03-29'],
  by: ['The length of a period; `day` for at most 92 days', 'week'],
} as const

const report = {
  from: ['The first day', '2026-01-05'],
  to: ['The last day', '2026-03-29'],
  by: ['The length of a period', 'week'],
  as_of: 'All changes before this time are counted; null before the first count',
  periods: 'The periods of the range, oldest first; the first and the last may be shorter',
  'periods.from': ['The first day of the period', '2026-01-05'],
  'periods.to': ['The last day of the period', '2026-01-11'],
  'periods.figures': 'Figures of the period',
} as const

const agents = {
  ...range,
  team_id: ['Only sessions on issues of this team', exampleId('team')],
  agent_id: ['Only sessions of this agent; `personal` for all personal agents', exampleId('usr')],
} as const
const flow = { ...range, team_id: ['Only issues of this team', exampleId('team')] } as const

/** Reports of insights. */
export const insights = {
  getAgentInsights: agents,
  exportAgentInsights: agents,
  getFlowInsights: flow,
  exportFlowInsights: flow,
  Durations: {
    count: ['How many values', 42],
    p50_ms: ['Half of them are at most this long; at most 19 % off', 95_137],
    p90_ms: ['Nine of ten are at most this long; at most 19 % off', 1_522_192],
  },
  AgentInsights: {
    ...report,
    agents: 'The agents with most sessions in the range, at most 50',
    'agents.agent': 'The agent; null for all personal agents together',
    'agents.agent.id': 'The user of the agent',
    'agents.agent.name': ['Its name', 'Scout'],
    'agents.figures': 'Figures of the agent in the whole range',
  },
  AgentFigures: {
    opened: ['Sessions opened; the sum of the next six', 20],
    finished: ['Of these: the agent gave a response', 12],
    failed: ['Of these: the agent reported an error', 1],
    stopped: ['Of these: stopped by a person, or ended before the agent was done', 2],
    stale: ['Of these: without an activity for too long', 1],
    waiting: ['Of these: wait for an answer to a question', 1],
    under_way: ['Of these: wait for the agent, or it is working', 3],
    asked: ['Sessions in which the agent asked at least one question', 4],
    first_activity: 'Time from opening to the first activity, of sessions that people opened; null without one',
    answer_time: 'Time until people answered a question; null below 5 answers or 3 people',
    accepted: ['Reviews that were accepted', 9],
    sent_back: ['Reviews that were sent back', 2],
    input_tokens: ['Input tokens, as agents reported them', 180_000],
    output_tokens: ['Output tokens, as agents reported them', 24_000],
    costs: 'Costs that agents reported, by currency',
    'costs.currency': ['The currency', 'USD'],
    'costs.cost_micros': ['The cost in millionths of the currency', 1_250_000],
  },
  FlowInsights: report,
  FlowFigures: {
    created: ['Issues created', 14],
    done: ['Issues done', 11],
    lead_time: 'Time from creation to done; null without an issue',
    cycle_time: 'Time from first in progress to done; null without an issue that was in progress',
    open: 'Open issues at the end of the period, by age',
  },
  OpenByAge: {
    days_7: ['Created at most 7 days before', 10],
    days_30: ['Created 8 to 30 days before', 18],
    days_90: ['Created 31 to 90 days before', 9],
    days_180: ['Created 91 to 180 days before', 4],
    more: ['Created more than 180 days before', 2],
  },
  DeliveryInsights: {
    days: 'The last 30 days, oldest first',
    'days.date': ['The day, in UTC', '2026-03-02'],
    'days.succeeded': ['Attempts that succeeded', 120],
    'days.failed': ['Attempts that failed', 3],
  },
  CycleInsights: {
    cycle_id: 'The cycle',
    from: ['Its first day', '2026-03-02'],
    to: ['Its last day; null if it has none', '2026-03-15'],
    as_of: 'All changes before this time are counted; null before the first count',
    days: 'Days of the cycle until today, oldest first, at most 366',
    'days.date': ['The day, in UTC', '2026-03-02'],
    'days.scope': ['Issues in the cycle at the end of the day', 24],
    'days.done': ['Of these, done by then', 7],
  },
} satisfies Record<string, SectionWords>
