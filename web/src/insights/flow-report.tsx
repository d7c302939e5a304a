import type { FlowInsights, OpenByAge } from '@baton/protocol'
import { Chart, type Series } from '../ui/chart/chart.tsx'
import { periodHeads, periodText } from './periods.ts'
import { Report } from './report.tsx'

const ages: [keyof OpenByAge, string, Series['tone']][] = [
  ['days_7', 'Up to 7 days', 'ok'],
  ['days_30', '8 to 30', 'agent'],
  ['days_90', '31 to 90', 'info'],
  ['days_180', '91 to 180', 'warn'],
  ['more', 'Over 180', 'bad'],
]

/** Issues created and done, how long they take, and how old those are that are open. */
export function FlowReport({ report: { by, as_of, periods } }: { report: FlowInsights }) {
  const figures = periods.map(({ figures }) => figures)
  const shared = { period: periodHeads[by], periods: periods.map((period) => periodText(period, by)) }
  const isEmpty = figures.every(
    ({ created, done, open }) => created + done + Object.values(open).reduce((sum, one) => sum + one, 0) === 0,
  )
  const durations = (key: 'lead_time' | 'cycle_time', name: string, tone: Series['tone']): Series[] => [
    { name: `${name}, median`, tone, values: figures.map((one) => one[key]?.p50_ms ?? null) },
    { name: `${name}, 9 of 10 within`, tone: 'ink', values: figures.map((one) => one[key]?.p90_ms ?? null) },
  ]
  return (
    <Report asOf={as_of} nothing={isEmpty ? 'No issue was created or open. Private issues are not counted.' : null}>
      <div>
        <Chart
          caption="Created and done"
          kind="lines"
          series={[
            { name: 'Created', tone: 'info', values: figures.map(({ created }) => created) },
            { name: 'Done', tone: 'ok', values: figures.map(({ done }) => done) },
          ]}
          {...shared}
        />
      </div>
      <div>
        <Chart
          caption="Open issues by age"
          hint="At the end of each period."
          kind="bars"
          series={ages.map(([key, name, tone]) => ({ name, tone, values: figures.map(({ open }) => open[key]) }))}
          {...shared}
        />
      </div>
      <div>
        <Chart
          caption="Lead time"
          hint="From creation to done."
          kind="lines"
          unit="duration"
          none="no issue done"
          series={durations('lead_time', 'Lead time', 'info')}
          {...shared}
        />
      </div>
      <div>
        <Chart
          caption="Cycle time"
          hint="From first in progress to done."
          kind="lines"
          unit="duration"
          none="no issue done"
          series={durations('cycle_time', 'Cycle time', 'ok')}
          {...shared}
        />
      </div>
    </Report>
  )
}
