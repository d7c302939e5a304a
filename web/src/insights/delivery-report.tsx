import type { DeliveryInsights } from '@baton/protocol'
import { Chart } from '../ui/chart/chart.tsx'
import { periodText } from './periods.ts'
import { Report } from './report.tsx'

/** Attempts of deliveries to webhooks and agent apps. */
export const DeliveryReport = ({ report: { days } }: { report: DeliveryInsights }) => (
  <Report
    nothing={
      days.every(({ succeeded, failed }) => succeeded + failed === 0)
        ? 'Nothing was sent in the last 30 days. Webhooks and agent apps receive deliveries.'
        : null
    }
  >
    <div className="insight-wide">
      <Chart
        caption="Delivery attempts"
        hint="To webhooks and agent apps, in the last 30 days (UTC)."
        kind="bars"
        period="Day"
        periods={days.map(({ date }) => periodText({ from: date, to: date }, 'day'))}
        series={[
          { name: 'Succeeded', tone: 'ok', values: days.map(({ succeeded }) => succeeded) },
          { name: 'Failed', tone: 'bad', values: days.map(({ failed }) => failed) },
        ]}
      />
    </div>
  </Report>
)
