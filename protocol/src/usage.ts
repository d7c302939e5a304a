import { type Static, Type } from 'typebox'
import { closed, nullable, Timestamp, text } from './common.ts'
import { limits, programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

const Amount = Type.Integer({
  minimum: 0,
  maximum: limits.reportedNumber,
  'x-message': `must be a whole number from 0 to ${limits.reportedNumber.toLocaleString('en')}`,
})
const Currency = Type.String({
  pattern: `^[A-Za-z]{1,${limits.currency}}$`,
  'x-message': `must have 1 to ${limits.currency} letters`,
})

const amounts = {
  model: nullable(text(1, programLimits.modelName)),
  input_tokens: nullable(Amount),
  output_tokens: nullable(Amount),
  /** Millionths of the currency. */
  cost_micros: nullable(Amount),
  currency: nullable(Currency),
}

/** What a session has used so far, as its agent reports it; Baton measures nothing. */
export const SessionUsage = Type.Object({ ...amounts, reported_at: Timestamp }, { ...closed, title: 'SessionUsage' })
export type SessionUsage = Static<typeof SessionUsage>

/** Totals of the session. A key left out keeps its value. */
export const UsageReport = Type.Partial(Type.Object(amounts), closed)
export type UsageReport = Static<typeof UsageReport>

export const AppBudget = Type.Object(
  {
    /** Costs in other currencies do not count. */
    currency: nullable(Currency),
    session_cost_micros: nullable(Amount),
    month_cost_micros: nullable(Amount),
    /** Tokens are input plus output. */
    session_tokens: nullable(Amount),
    month_tokens: nullable(Amount),
  },
  { ...closed, title: 'AppBudget' },
)
export type AppBudget = Static<typeof AppBudget>

/** Sums over sessions can exceed the largest number of one report. */
const Sum = Type.Integer({ minimum: 0 })

export const AppUsage = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          month: Type.String({ pattern: '^\\d{4}-\\d\\d$' }),
          /** Sessions that reported in this month. */
          sessions: Sum,
          input_tokens: Sum,
          output_tokens: Sum,
          costs: Type.Array(Type.Object({ currency: Currency, cost_micros: Sum }, closed)),
        },
        closed,
      ),
    ),
    /** Null if it was never set. */
    budget: nullable(AppBudget),
    /** Whether this month is at or over a limit. */
    month_reached: Type.Boolean(),
  },
  { ...closed, title: 'AppUsage' },
)
export type AppUsage = Static<typeof AppUsage>

/** Details of BUDGET_REACHED. */
export interface BudgetDetails {
  limit: 'session' | 'month'
  unit: 'cost_micros' | 'tokens'
  allowed: number
  used: number
  /** Null for tokens. */
  currency: string | null
}

export const usage = {
  getAppUsage: operation(routes.getAppUsage, {
    summary: `Get what an app's sessions used in the last ${programLimits.usageMonths} months with reports, newest first, and its budget`,
    returns: { 200: AppUsage },
  }),
  setAppBudget: operation(routes.setAppBudget, {
    summary: 'Set the budget of an app; null removes a limit',
    body: AppBudget,
    returns: { 200: AppBudget },
  }),
}
