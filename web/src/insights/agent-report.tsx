import type { AgentFigures, AgentInsights } from '@baton/protocol'
import { costText } from '../ui/amounts.ts'
import { Chart, type Series } from '../ui/chart/chart.tsx'
import { durationText } from '../ui/chart/units.ts'
import { periodHeads, periodText } from './periods.ts'
import { Report } from './report.tsx'

type Count = { [Key in keyof AgentFigures]: AgentFigures[Key] extends number ? Key : never }[keyof AgentFigures]

const outcomes: [Count, string, Series['tone']][] = [
  ['finished', 'Finished', 'ok'],
  ['failed', 'Failed', 'bad'],
  ['stopped', 'Stopped', 'ink'],
  ['stale', 'Stale', 'warn'],
  ['waiting', 'Needs input', 'info'],
  ['under_way', 'Under way', 'agent'],
]

/** Sessions by the day they were opened. */
export function AgentReport({ report: { by, as_of, periods, agents } }: { report: AgentInsights }) {
  const figures = periods.map(({ figures }) => figures)
  const shared = { period: periodHeads[by], periods: periods.map((period) => periodText(period, by)) }
  const counts = (series: [Count, string, Series['tone']][]): Series[] =>
    series.map(([key, name, tone]) => ({ name, tone, values: figures.map((one) => one[key]) }))
  const durations = (key: 'first_activity' | 'answer_time', tone: Series['tone']): Series[] => [
    { name: 'Median', tone, values: figures.map((one) => one[key]?.p50_ms ?? null) },
    { name: '9 of 10 within', tone: 'ink', values: figures.map((one) => one[key]?.p90_ms ?? null) },
  ]
  const any = (keys: Count[]) => figures.some((one) => keys.some((key) => one[key] > 0))
  return (
    <Report
      asOf={as_of}
      nothing={any(['opened']) ? null : 'No agent session was opened. Delegate an issue to an agent.'}
    >
      <div className="insight-wide">
        <Chart
          caption="Agent sessions"
          hint="Counted on the day they were opened."
          kind="bars"
          series={counts(outcomes)}
          {...shared}
        />
      </div>
      <div>
        <Chart
          caption="Time to first activity"
          hint="Of sessions that people opened."
          kind="lines"
          unit="duration"
          none="no session"
          series={durations('first_activity', 'agent')}
          {...shared}
        />
      </div>
      <div>
        <Chart
          caption="Time until people answered"
          hint="Shown where at least 3 people gave 5 answers, to protect each person's privacy."
          kind="lines"
          unit="duration"
          none="too few answers"
          series={durations('answer_time', 'info')}
          {...shared}
        />
      </div>
      {any(['accepted', 'sent_back']) && (
        <div>
          <Chart
            caption="Reviews"
            kind="bars"
            series={counts([
              ['accepted', 'Accepted', 'ok'],
              ['sent_back', 'Sent back', 'warn'],
            ])}
            {...shared}
          />
        </div>
      )}
      {any(['input_tokens', 'output_tokens']) && (
        <div>
          <Chart
            caption="Tokens"
            hint="As agents report them."
            kind="bars"
            series={counts([
              ['input_tokens', 'Input', 'info'],
              ['output_tokens', 'Output', 'agent'],
            ])}
            {...shared}
          />
        </div>
      )}
      <div className="insight-wide">
        <AgentTable agents={agents} />
      </div>
    </Report>
  )
}

const columns: [string, (figures: AgentFigures) => string][] = [
  ['Opened', ({ opened }) => opened.toLocaleString('en')],
  ['Finished', ({ finished }) => finished.toLocaleString('en')],
  ['Failed', ({ failed }) => failed.toLocaleString('en')],
  ['Asked', ({ asked }) => asked.toLocaleString('en')],
  ['First activity', ({ first_activity }) => (first_activity ? durationText(first_activity.p50_ms) : '–')],
  ['Accepted', ({ accepted }) => accepted.toLocaleString('en')],
  ['Sent back', ({ sent_back }) => sent_back.toLocaleString('en')],
  ['Tokens', ({ input_tokens, output_tokens }) => (input_tokens + output_tokens).toLocaleString('en')],
  ['Cost', ({ costs }) => costs.map(({ cost_micros, currency }) => costText(cost_micros, currency)).join(', ') || '–'],
]

const AgentTable = ({ agents }: { agents: AgentInsights['agents'] }) => (
  <>
    <h2 id="insights-agents" className="text-base font-semibold">
      Agents
    </h2>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, which needs the keyboard too */}
    <section className="chart-table" aria-labelledby="insights-agents" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            {columns.map(([name]) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {agents.map(({ agent, figures }) => (
            <tr key={agent?.id ?? 'personal'}>
              <th scope="row">{agent?.name ?? 'Personal agents'}</th>
              {columns.map(([name, text]) => (
                <td key={name}>{text(figures)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </>
)
