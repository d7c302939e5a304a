import type { EndReason, SessionState, SessionUsage } from '@baton/protocol'
import { advance, type TimeRules } from '../agent-sessions/state.ts'
import type { Queryable } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import { type Buckets, count } from './buckets.ts'
import { columnLists } from './columns.ts'
import { type Day, dayOf } from './days.ts'
import { type DecidedReviews, reviewsDecided } from './reviews.ts'

/** Columns of agent_days that count sessions and reviews. */
export const agentCounts = [
  'opened',
  'finished',
  'failed',
  'stopped',
  'stale',
  'waiting',
  'under_way',
  'asked',
  'accepted',
  'sent_back',
] as const

export type AgentCounts = Record<(typeof agentCounts)[number], number>
export const noAgentCounts = Object.fromEntries(agentCounts.map((name) => [name, 0])) as AgentCounts

/** A row of agent_days. */
export interface AgentDay extends AgentCounts {
  day: Day
  team_id: string
  agent_id: string
  first_activity: Buckets | null
  answer_time: Buckets | null
  answered_by: number[]
  input_tokens: number
  output_tokens: number
  costs: Record<string, number>
}

export type Outcome = 'finished' | 'failed' | 'stopped' | 'stale' | 'waiting' | 'under_way'

/** More people in one row say no more: the rule of privacy asks whether there are three. */
const peopleKept = 3

interface SessionFacts {
  id: string
  created_at: string
  team_id: string
  agent_id: string
  state: SessionState
  quiet_since: string
  stopping_since: string | null
  answered_at: string | null
  end_reason: EndReason | null
  ended_at: string | null
  updated_at: string
  opened_by_agent: boolean
  personal: boolean
  usage: SessionUsage | null
  /** The agent's latest response or error. */
  last_word: 'response' | 'error' | null
  asked: boolean | null
  answers: { ms: number; by: number }[] | null
}

/**
 * What became of a session. An end without the agent, such as that of a deleted issue, makes every session complete: then
 * its last word says whether it was done before.
 */
export function outcomeOf(
  state: SessionState,
  endReason: EndReason | null,
  lastWord: SessionFacts['last_word'],
): Outcome {
  if (endReason === 'stopped' || endReason === 'undelegated') return 'stopped'
  switch (state) {
    case 'pending':
    case 'active':
      return 'under_way'
    case 'awaitingInput':
      return 'waiting'
    case 'stopping':
      return 'stopped'
    case 'stale':
      return 'stale'
    case 'error':
      return 'failed'
    case 'complete':
      if (endReason === null) return 'finished'
      return lastWord === null ? 'stopped' : lastWord === 'error' ? 'failed' : 'finished'
  }
}

/** Counts sessions into rows by day, team and agent. */
export class AgentDays {
  readonly #rows = new Map<string, AgentDay>()
  readonly #now: Date
  readonly #rules: TimeRules

  constructor(now: Date, rules: TimeRules) {
    this.#now = now
    this.#rules = rules
  }

  get size() {
    return this.#rows.size
  }

  /** Removes and returns the rows before a day. */
  take(before: Day): AgentDay[] {
    const taken = [...this.#rows].filter(([, { day }]) => day < before)
    for (const [key] of taken) this.#rows.delete(key)
    return taken.map(([, row]) => row)
  }

  add(session: SessionFacts, reviews: DecidedReviews | undefined) {
    const row = this.#rowOf(dayOf(session.created_at), session.team_id, session.agent_id)
    row.opened++
    row[this.#outcomeOf(session)]++
    if (session.asked) row.asked++
    if (session.answered_at && !session.opened_by_agent) {
      const ms = Date.parse(session.answered_at) - Date.parse(session.created_at)
      row.first_activity = count(row.first_activity, 'first_activity', ms)
    }
    for (const { ms, by } of session.answers ?? []) {
      row.answer_time = count(row.answer_time, 'answer_time', ms)
      if (!row.answered_by.includes(by) && row.answered_by.length < peopleKept) row.answered_by.push(by)
    }
    row.accepted += reviews?.accepted ?? 0
    row.sent_back += reviews?.sent_back ?? 0
    const { input_tokens, output_tokens, cost_micros, currency } = session.usage ?? {}
    row.input_tokens = sum(row.input_tokens, input_tokens)
    row.output_tokens = sum(row.output_tokens, output_tokens)
    if (currency && cost_micros) row.costs[currency] = sum(row.costs[currency] ?? 0, cost_micros)
  }

  #outcomeOf(session: SessionFacts): Outcome {
    const date = (text: string | null) => (text === null ? null : new Date(text))
    const { state, endReason } = advance(
      {
        state: session.state,
        quietSince: new Date(session.quiet_since),
        stoppingSince: date(session.stopping_since),
        answeredAt: date(session.answered_at),
        endReason: session.end_reason,
        endedAt: date(session.ended_at),
        updatedAt: new Date(session.updated_at),
      },
      this.#now,
      this.#rules,
    )
    return outcomeOf(state, endReason, session.last_word)
  }

  #rowOf(day: Day, team_id: string, agent_id: string): AgentDay {
    const key = `${day} ${team_id} ${agent_id}`
    const row = this.#rows.get(key) ?? {
      day,
      team_id,
      agent_id,
      ...noAgentCounts,
      ...{ first_activity: null, answer_time: null, answered_by: [] },
      ...{ input_tokens: 0, output_tokens: 0, costs: {} },
    }
    this.#rows.set(key, row)
    return row
  }
}

/** Sums stay numbers that JavaScript and JSON represent exactly. */
const sum = (one: number, other: number | null | undefined) => Math.min(Number.MAX_SAFE_INTEGER, one + (other ?? 0))

/** Without plan, links and context, which are large. */
const sessionColumns = sql`
  id, created_at, agent_id, issue_id, state, quiet_since, stopping_since, answered_at, end_reason, ended_at, updated_at,
  opened_by_agent, personal_of, usage`

export interface SessionPosition {
  at: string
  id: string
}

/**
 * Reads sessions opened since `from`, oldest first, with at most `rows` rows of sessions and activities, and counts them.
 * Sessions on personal items are their owners' alone. Returns where to go on, and null at the end.
 *
 * A person who answered becomes a number of 32 bits: enough to tell three people apart, and no id.
 */
export async function countSessions(
  db: Queryable,
  workspaceId: string,
  after: SessionPosition,
  rows: number,
  into: AgentDays,
): Promise<SessionPosition | null> {
  const sessions = await db.rows<SessionFacts & { more: boolean }>(sql`
    with listed as (
      select ${sessionColumns}, last_seq + 1 as cost from agent_sessions
      where workspace_id = ${workspaceId} and (created_at, id) > (${after.at}::timestamptz, ${after.id})
      order by created_at, id limit ${rows}
    ), summed as (
      select *, sum(cost) over (order by created_at, id) as total, count(*) over () as listed from listed
    ), picked as (
      select * from summed where total <= ${rows} or total = cost
    )
    select s.id, s.created_at, coalesce(i.team_id, '') as team_id,
      case when u.agent_kind = 'personal' then '' else s.agent_id end as agent_id,
      s.state, s.quiet_since, s.stopping_since, s.answered_at, s.end_reason, s.ended_at, s.updated_at,
      s.opened_by_agent, s.personal_of is not null as personal, s.usage, t.last_word, t.asked, t.answers,
      s.listed = ${rows} or s.listed > (select count(*) from picked) as more
    from picked s
    join users u on u.id = s.agent_id
    left join issues i on i.id = s.issue_id
    left join lateral (
      select bool_or(type = 'elicitation') as asked,
        (array_agg(type order by seq desc) filter (where type in ('response', 'error')))[1] as last_word,
        jsonb_agg(jsonb_build_object(
          'ms', round(extract(epoch from next_at - created_at) * 1000),
          'by', ('x' || substr(md5(workspace_id || next_author), 1, 8))::bit(32)::int
        ) order by seq) filter (where type = 'elicitation' and next_type = 'prompt' and next_signal is null) as answers
      from (
        select workspace_id, seq, type, created_at, lead(type) over turns as next_type, lead(signal) over turns as next_signal,
          lead(created_at) over turns as next_at, lead(author_id) over turns as next_author
        from agent_activities
        where session_id = s.id and type in ('elicitation', 'prompt', 'response', 'error')
        window turns as (order by seq)
      ) a
    ) t on true
    order by s.created_at, s.id`)
  const shared = sessions.filter(({ personal }) => !personal)
  const reviews = await reviewsDecided(
    db,
    shared.map(({ id }) => id),
  )
  for (const session of shared) into.add(session, reviews.get(session.id))
  const last = sessions.at(-1)
  return last?.more ? { at: last.created_at, id: last.id } : null
}

const {
  plain: figures,
  current,
  excluded,
} = columnLists([
  ...agentCounts,
  'first_activity',
  'answer_time',
  'answered_by',
  'input_tokens',
  'output_tokens',
  'costs',
])

/** Replaces the rows of the days from `from` to before `until`. A row that stays the same is not written. */
export const writeAgentDays = (tx: Queryable, workspaceId: string, from: Day, until: Day, rows: readonly AgentDay[]) =>
  tx.run(sql`
    with counted as materialized (
      select * from jsonb_populate_recordset(null::agent_days, ${json(
        rows.map((row) => ({ ...row, workspace_id: workspaceId })),
      )})
    ), gone as (
      delete from agent_days d
      where d.workspace_id = ${workspaceId} and d.day >= ${from}::date and d.day < ${until}::date
        and not exists (select from counted c where c.day = d.day and c.team_id = d.team_id and c.agent_id = d.agent_id)
    )
    insert into agent_days as t (workspace_id, day, team_id, agent_id, ${figures})
    select workspace_id, day, team_id, agent_id, ${figures} from counted
    on conflict (workspace_id, day, team_id, agent_id) do update set (${figures}) = (select ${excluded})
    where (${current}) is distinct from (${excluded})`)
