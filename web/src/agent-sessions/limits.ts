import type { AgentSession, AppUsage } from '@baton/protocol'
import { costText } from '../ui/amounts.ts'

/** "5.02 of 5.00 USD" for each limit that refuses messages of the session. */
export function reachedLimits({ budget_reached, usage }: AgentSession, { budget, data }: AppUsage): string[] {
  if (!budget || !budget_reached) return []
  const isMonth = budget_reached === 'month'
  const month = data[0]
  const tokens = isMonth
    ? (month?.input_tokens ?? 0) + (month?.output_tokens ?? 0)
    : (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0)
  const sessionCost = usage?.currency === budget.currency ? (usage?.cost_micros ?? 0) : 0
  const monthCost = month?.costs.find(({ currency }) => currency === budget.currency)?.cost_micros ?? 0
  const cost = isMonth ? monthCost : sessionCost
  const costLimit = isMonth ? budget.month_cost_micros : budget.session_cost_micros
  const tokenLimit = isMonth ? budget.month_tokens : budget.session_tokens
  const { currency } = budget
  return [
    ...(costLimit !== null && currency && cost >= costLimit
      ? [`${costText(cost, currency).replace(` ${currency}`, '')} of ${costText(costLimit, currency)}`]
      : []),
    ...(tokenLimit !== null && tokens >= tokenLimit
      ? [`${tokens.toLocaleString('en')} of ${tokenLimit.toLocaleString('en')} tokens`]
      : []),
  ]
}
