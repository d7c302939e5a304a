import type { EndpointHealth } from '@baton/protocol'
import type { Endpoint } from '../data/endpoints.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/states.tsx'
import { exactTime, Time } from '../ui/time.tsx'
import { DeliveryLink } from './delivery-link.tsx'
import type { EndpointActions } from './endpoint-actions.ts'
import { failureText, heldText, outcomeText } from './labels.tsx'

interface Props {
  endpoint: Endpoint
  health: EndpointHealth | undefined
  actions: EndpointActions
}

/** Why and when the service disabled the endpoint, and the steps to enable it. */
export function FailingBanner({ endpoint, health, actions: { busy, ping, test, enable } }: Props) {
  const { failing_since, last_failure, held = 0 } = health ?? {}
  return (
    <Notice
      tone="bad"
      title={
        <>
          Disabled after repeated failures
          {failing_since && (
            <span title={exactTime(failing_since)}>
              {' '}
              (<Time at={failing_since} />)
            </span>
          )}
        </>
      }
    >
      <p>
        At least three deliveries failed within 24 hours and none succeeded.{' '}
        {last_failure && (
          <>
            Last failure:{' '}
            <DeliveryLink endpoint={endpoint} deliveryId={last_failure.delivery_id} className="font-medium underline">
              {outcomeText(last_failure, endpoint).toLowerCase()}
            </DeliveryLink>
            , <Time at={last_failure.at} />. {failureText(last_failure.reason, endpoint).check}
          </>
        )}
      </p>
      <p className="mt-1">
        {held > 0
          ? `${heldText(held)} and will be sent when you enable it.`
          : 'Nothing is held. Events that occur while it is disabled are not sent.'}
      </p>
      <ol aria-label="Steps to enable it" className="mt-2.5 flex flex-col gap-2 sm:flex-row sm:items-center sm:gap-3">
        <li className="flex items-center gap-2">
          <Step number={1} />
          Fix the receiver
        </li>
        <li className="flex items-center gap-2">
          <Step number={2} done={ping?.ok === true} />
          <Button size="sm" busy={busy === 'test'} onClick={() => void test()}>
            Send a test
          </Button>
        </li>
        <li className="flex items-center gap-2">
          <Step number={3} />
          <Button
            size="sm"
            look={ping?.ok ? 'primary' : 'plain'}
            busy={busy === 'switch'}
            onClick={() => void enable()}
          >
            Enable
          </Button>
        </li>
      </ol>
    </Notice>
  )
}

const Step = ({ number, done }: { number: number; done?: boolean }) => (
  <span
    aria-hidden
    className="inline-flex size-5 items-center justify-center rounded-full border border-bad/50 text-xs font-semibold data-done:border-ok data-done:bg-ok-wash data-done:text-ok-ink"
    data-done={done ? '' : undefined}
  >
    {done ? '✓' : number}
  </span>
)
