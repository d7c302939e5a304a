import type { EndpointHealth } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { type Endpoint, healthQuery } from '../data/endpoints.ts'
import { Sparkline } from '../ui/sparkline.tsx'
import { Time } from '../ui/time.tsx'
import { outcomeText } from './labels.tsx'

/** 0.996 becomes "99.6%". Only a rate of 1 shows 100%. */
export const percent = (rate: number) => (rate === 1 ? '100%' : `${Math.min(99.9, Math.round(rate * 1000) / 10)}%`)

const sum = ({ days }: EndpointHealth, what: 'succeeded' | 'failed') =>
  days.reduce((total, day) => total + day[what], 0)

const HealthLine = ({ health }: { health: EndpointHealth }) => (
  <Sparkline
    days={health.days}
    label={`Attempts of the last ${health.days.length} days: ${sum(health, 'succeeded')} succeeded, ${sum(health, 'failed')} failed`}
  />
)

/** Health as part of a list row. */
export function HealthInRow({ endpoint }: { endpoint: Endpoint }) {
  const { data } = useQuery(healthQuery(endpoint))
  if (!data) return null
  return (
    <span className="flex items-center justify-end gap-3">
      <span className="w-44 truncate text-ink-2 max-lg:hidden">
        {data.last_failure && (
          <>
            {outcomeText(data.last_failure, endpoint)}, <Time at={data.last_failure.at} />
          </>
        )}
      </span>
      <span className="max-sm:hidden">
        <HealthLine health={data} />
      </span>
      <span className="tabular w-12 text-right">{data.success_rate === null ? '–' : percent(data.success_rate)}</span>
    </span>
  )
}

/** Success rate, last success and last failure. */
export function Health({ health, endpoint }: { health: EndpointHealth; endpoint: Endpoint }) {
  const { success_rate, last_success_at, last_failure } = health
  return (
    <div className="flex flex-wrap items-end gap-x-10 gap-y-3">
      <div>
        <p className="text-xs text-ink-3">Success rate, {health.days.length} days</p>
        <p className="tabular text-xl font-semibold">{success_rate === null ? 'No attempts' : percent(success_rate)}</p>
      </div>
      <HealthLine health={health} />
      <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-0.5 [&_dt]:text-ink-3">
        <dt>Last success</dt>
        <dd>{last_success_at ? <Time at={last_success_at} /> : 'none in 30 days'}</dd>
        <dt>Last failure</dt>
        <dd>
          {last_failure ? (
            <>
              {outcomeText(last_failure, endpoint)}, <Time at={last_failure.at} />
            </>
          ) : (
            'none in 30 days'
          )}
        </dd>
      </dl>
    </div>
  )
}
