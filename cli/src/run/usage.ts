import type { SessionRecord } from './state.ts'

/** The largest number that the service takes. An agent that reports more must not end all further reports. */
const most = 1e15

/** A record's totals as the service takes them; null if the agent reported nothing. */
export function usageReport(record: SessionRecord, model: string | undefined) {
  const { tokens, cost } = record
  if (!tokens && !cost) return null
  return {
    ...(model === undefined ? {} : { model }),
    ...(tokens ? { input_tokens: tokens.input, output_tokens: tokens.output } : {}),
    ...(cost ? { cost_micros: Math.min(cost.earlier + cost.current, most), currency: cost.currency } : {}),
  }
}

/**
 * Adds a report of ACP, which is cumulative within an ACP session. A lower amount means that the agent counts from zero
 * again, as after a restart. The first currency stays: the service takes only one.
 */
export function addCost(record: SessionRecord, amount: number, currency: string) {
  const micros = Math.min(Math.round(amount * 1_000_000), most)
  const cost = record.cost ?? { earlier: 0, current: 0, currency }
  if (cost.currency !== currency) return
  if (micros < cost.current) cost.earlier += cost.current
  cost.current = micros
  record.cost = cost
}

export function addTokens(record: SessionRecord, { input, output }: { input: number; output: number }) {
  const before = record.tokens ?? { input: 0, output: 0 }
  record.tokens = { input: Math.min(before.input + input, most), output: Math.min(before.output + output, most) }
}
