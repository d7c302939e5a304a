import type { AgentInsights, Durations, FlowInsights } from '@baton/protocol'
import { csvLine } from '../http/csv.ts'
import { Reply } from '../http/route.ts'

type Cells = Record<string, string | number>

const durationCells = (name: string, durations: Durations | null): Cells => ({
  [`${name}_count`]: durations?.count ?? '',
  [`${name}_p50_ms`]: durations?.p50_ms ?? '',
  [`${name}_p90_ms`]: durations?.p90_ms ?? '',
})

/** One row a period, with a column for the cost in each currency of the report. */
export function agentsCsv({ periods, from, to }: AgentInsights) {
  const currencies = [
    ...new Set(periods.flatMap(({ figures }) => figures.costs.map(({ currency }) => currency))),
  ].sort()
  const rows = periods.map(
    ({ from, to, figures: { first_activity, answer_time, costs, ...counts } }): Cells => ({
      from,
      to,
      ...counts,
      ...durationCells('first_activity', first_activity),
      ...durationCells('answer_time', answer_time),
      ...Object.fromEntries(
        currencies.map((currency) => [
          `cost_micros_${currency}`,
          costs.find((cost) => cost.currency === currency)?.cost_micros ?? 0,
        ]),
      ),
    }),
  )
  return csvFile(`agents-${from}-to-${to}.csv`, rows)
}

export function flowCsv({ periods, from, to }: FlowInsights) {
  const rows = periods.map(
    ({ from, to, figures: { created, done, lead_time, cycle_time, open } }): Cells => ({
      from,
      to,
      created,
      done,
      ...durationCells('lead_time', lead_time),
      ...durationCells('cycle_time', cycle_time),
      ...Object.fromEntries(Object.entries(open).map(([age, issues]) => [`open_${age}`, issues])),
    }),
  )
  return csvFile(`flow-${from}-to-${to}.csv`, rows)
}

/** All rows have the same columns. A range has at least one period. */
const csvFile = (name: string, rows: readonly Cells[]) =>
  new Reply(
    [Object.keys(rows[0] ?? {}), ...rows.map(Object.values)].map((cells) => csvLine(cells.map(String))).join(''),
    {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
    },
  )
