import type { DeliveryDetail as Detail } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { isBatonError } from '../data/api.ts'
import { deliveryQuery, type Endpoint } from '../data/endpoints.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Block, Copyable, CopyTextButton } from '../ui/copy.tsx'
import { Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { messageOf } from '../ui/problem.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Notice } from '../ui/states.tsx'
import { exactTime } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { Attempts } from './attempts.tsx'
import { curlOf } from './curl.ts'
import { DeliveryPill, eventLabel, outcomeText } from './labels.tsx'

interface Props {
  endpoint: Endpoint
  /** Current URL of the endpoint. */
  url: string
  deliveryId: string
}

export function DeliveryDetail({ endpoint, url, deliveryId }: Props) {
  // Number of attempts when a redelivery was requested; it is finished when there are more.
  const [attemptsBefore, setAttemptsBefore] = useState<number | null>(null)
  const query = useQuery(deliveryQuery(endpoint, deliveryId, attemptsBefore !== null))
  const attempts = query.data?.attempts
  const { usesListener } = endpoint
  useEffect(() => {
    const last = attempts?.at(-1)
    if (attemptsBefore === null || !attempts || attempts.length <= attemptsBefore || !last) return
    setAttemptsBefore(null)
    const outcome = outcomeText(last, { usesListener })
    showToast(last.reason === null ? `Delivered: ${outcome.toLowerCase()}.` : `${outcome}.`, {
      tone: last.reason === null ? 'plain' : 'bad',
    })
  }, [attemptsBefore, attempts, usesListener])
  return (
    <Loaded query={query}>
      {(delivery) => (
        <>
          <Summary delivery={delivery} />
          <Actions
            endpoint={endpoint}
            url={url}
            delivery={delivery}
            queued={attemptsBefore !== null}
            onQueued={() => setAttemptsBefore(delivery.attempts.length)}
          />
          <Section title="Attempts">
            <Attempts endpoint={endpoint} delivery={delivery} queued={attemptsBefore !== null} />
          </Section>
          <Request delivery={delivery} />
        </>
      )}
    </Loaded>
  )
}

const Summary = ({ delivery }: { delivery: Detail }) => (
  <dl className="grid grid-cols-[max-content_minmax(0,1fr)] items-center gap-x-6 gap-y-1.5 [&_dt]:text-ink-3">
    <dt>Status</dt>
    <dd>
      <DeliveryPill delivery={delivery} />
    </dd>
    <dt>Event</dt>
    <dd>
      {eventLabel(delivery)}{' '}
      <span className="font-mono text-xs text-ink-3">
        {delivery.type}.{delivery.action}
      </span>
      {delivery.test && <p className="text-xs text-ink-2">Sent as a test, with example data.</p>}
    </dd>
    {delivery.issue && (
      <>
        <dt>Issue</dt>
        <dd className="truncate">
          <Link to="/issue/$code" params={{ code: delivery.issue.code }} className="underline underline-offset-2">
            {delivery.issue.code}
          </Link>{' '}
          {delivery.issue.title}
        </dd>
      </>
    )}
    <dt>Occurred</dt>
    <dd className="tabular">{exactTime(delivery.created_at)}</dd>
    <dt>Delivery ID</dt>
    <dd>
      <Copyable text={delivery.id} label="delivery ID" />
    </dd>
    <dt>Event ID</dt>
    <dd>
      <Copyable text={delivery.event_id} label="event ID" />
    </dd>
  </dl>
)

interface ActionProps {
  endpoint: Endpoint
  url: string
  delivery: Detail
  queued: boolean
  onQueued: () => void
}

function Actions({ endpoint, url, delivery, queued, onQueued }: ActionProps) {
  const canceled = delivery.status === 'canceled'
  const { run, busy, error } = useAction(async () => {
    await endpoint.redeliver(delivery.id)
    onQueued()
  })
  const problem = error === null ? null : redeliverErrorText(error)
  const redeliver = () => {
    if (!queued && !canceled) void run()
  }
  useCommands([{ id: 'delivery.redeliver', title: 'Redeliver', section: 'View', keys: 'r', run: redeliver }])
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap gap-2">
        <Button
          look="primary"
          icon={RotateCw}
          command="delivery.redeliver"
          busy={busy || queued}
          disabled={canceled}
          onClick={redeliver}
        >
          {queued ? 'Queued' : 'Redeliver'}
        </Button>
        {delivery.request && <CopyTextButton text={curlOf(url, delivery.request)}>Copy as curl</CopyTextButton>}
      </div>
      {queued && (
        <p role="status" className="text-ink-2">
          Redelivery queued. The result appears below.
        </p>
      )}
      {canceled && (
        <Notice tone="info" title="Delivery canceled">
          Its webhook was deleted, its app was uninstalled, or it was held for 30 days. It cannot be redelivered; read
          the current data through the API.
        </Notice>
      )}
      {problem && (
        <Notice tone="bad" title="Not redelivered">
          {problem}
        </Notice>
      )}
    </div>
  )
}

export function redeliverErrorText(error: unknown): string {
  if (isBatonError(error, 'DELIVERY_CANCELED')) {
    return 'The delivery was canceled: its webhook was deleted, its app was uninstalled, or it was held for 30 days.'
  }
  if (isBatonError(error, 'REDELIVERY_LIMIT_REACHED')) {
    return 'The limit of 100 attempts is reached. Copy it as curl to send it yourself, or read the current data through the API.'
  }
  return messageOf(error)
}

function Request({ delivery }: { delivery: Detail }) {
  const [raw, setRaw] = useState(false)
  if (!delivery.request) {
    return (
      <Section title="Request">
        <p className="text-ink-2">Not sent yet. Headers and body appear after the first attempt.</p>
      </Section>
    )
  }
  const { headers, body } = delivery.request
  return (
    <Section
      title="Request"
      hint="From the last attempt. Body and signature contain the time, so they differ per attempt."
    >
      <Block label="request headers" text={headersOf(headers)} />
      <div className="flex items-center gap-2">
        <h3 className="flex-1 font-medium">Body</h3>
        <Button size="sm" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          {raw ? 'Show formatted' : 'Show raw'}
        </Button>
      </div>
      <Block label={raw ? 'request body, raw' : 'request body'} text={raw ? body : formatted(body)} />
      {raw && (
        <p className="text-xs text-ink-3">
          Svc-Signature is the HMAC-SHA256 of exactly these bytes, with the whole webhook secret as key.
        </p>
      )}
    </Section>
  )
}

const headersOf = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

const formatted = (body: string) => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
