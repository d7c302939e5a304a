import type { AppBudget, BudgetDetails, SessionUsage } from '@baton/protocol'
import { sql } from '../db/sql.ts'

/** What all sessions of an app used in one month. */
export interface MonthUsage {
  tokens: number
  /** By currency. */
  costs: Record<string, number>
}

/** The budget of an app, and what it used this month; null if nothing was reported in it. */
export interface Spending {
  budget: AppBudget
  month: MonthUsage | null
}

/** The UTC month, such as 2026-03. */
export const monthOf = (time: Date) => time.toISOString().slice(0, 7)

/** The Spending of the app `a`; null if it has no budget. */
export const spendingOf = (now: Date) => sql`
  case when a.budget is not null then jsonb_build_object('budget', a.budget, 'month', (
    select jsonb_build_object('tokens', m.input_tokens + m.output_tokens, 'costs', m.costs)
    from app_usage m where m.app_id = a.id and m.month = ${monthOf(now)})) end`

/** The limits that a session is at or over. Costs in another currency do not count. */
export function limitsOfSession({ budget }: Spending, usage: SessionUsage | null): BudgetDetails[] {
  const cost = usage !== null && usage.currency === budget.currency ? (usage.cost_micros ?? 0) : 0
  return reached('session', budget, {
    cost: [budget.session_cost_micros, cost],
    tokens: [budget.session_tokens, (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0)],
  })
}

/** The limits that the app is at or over this month. */
export const limitsOfMonth = ({ budget, month }: Spending): BudgetDetails[] =>
  reached('month', budget, {
    cost: [budget.month_cost_micros, (budget.currency && month?.costs[budget.currency]) || 0],
    tokens: [budget.month_tokens, month?.tokens ?? 0],
  })

type Use = [allowed: number | null, used: number]

function reached(limit: BudgetDetails['limit'], { currency }: AppBudget, { cost, tokens }: { cost: Use; tokens: Use }) {
  const uses = [
    { unit: 'cost_micros', use: cost, currency },
    { unit: 'tokens', use: tokens, currency: null },
  ] as const
  return uses.flatMap(({ unit, use: [allowed, used], currency }) =>
    allowed !== null && used >= allowed ? [{ limit, unit, allowed, used, currency }] : [],
  )
}
