import type { Cycle } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { burnUpQuery } from '../data/insights.ts'
import { Chart } from '../ui/chart/chart.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Time } from '../ui/time.tsx'

const date = { timeZone: 'UTC', month: 'short', day: 'numeric' } as const
const short = new Intl.DateTimeFormat('en', date)
const long = new Intl.DateTimeFormat('en', { ...date, year: 'numeric' })

/** Issues in a cycle and those done, day by day. */
export default function CycleBurnUp({ cycle, onClose }: { cycle: Cycle; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={`Burn-up of ${isolated(cycle.name)}`} size="lg">
      <Loaded query={useQuery(burnUpQuery(cycle.id))}>
        {({ as_of, days }) => (
          <div className="pb-3">
            {days.length === 0 ? (
              <p className="text-ink-2">
                {as_of === null
                  ? 'Not counted yet. Figures of a new workspace appear within two minutes.'
                  : 'No day of this cycle has been counted yet.'}
              </p>
            ) : (
              <Chart
                caption="Scope and done"
                hint="Issues at the end of each day (UTC), with moves in and out."
                kind="steps"
                period="Day"
                periods={days.map(({ date }) => ({
                  label: short.format(new Date(date)),
                  name: long.format(new Date(date)),
                }))}
                series={[
                  { name: 'In the cycle', tone: 'info', values: days.map(({ scope }) => scope) },
                  { name: 'Done', tone: 'ok', values: days.map(({ done }) => done) },
                ]}
              />
            )}
            {as_of && days.length > 0 && (
              <p className="text-xs text-ink-3">
                Counted <Time at={as_of} />.
              </p>
            )}
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}
