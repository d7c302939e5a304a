import type { DeliveryDetail as Detail, EndpointState } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
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
import { exactly } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { Attempts } from './attempts.tsx'
import { curlOf } from './curl.ts'
import { DeliveryPill, eventInWords, outcomeInWords } from './words.tsx'

interface Props {
  endpoint: Endpoint
  /** Where it is sent to now. */
  url: string
  state: EndpointState
  deliveryId: string
}

export function DeliveryDetail({ endpoint, url, state, deliveryId }: Props) {
  // How many attempts there were when one more was asked for: done when there are more.
  const [asked, setAsked] = useState<number | null>(null)
  const query = useQuery(deliveryQuery(endpoint, deliveryId, asked !== null))
  const attempts = query.data?.attempts
  useEffect(() => {
    const last = attempts?.at(-1)
    if (asked === null || !attempts || attempts.length <= asked || !last) return
    setAsked(null)
    say(last.reason === null ? `Delivered: ${outcomeInWords(last).toLowerCase()}.` : `${outcomeInWords(last)}.`, {
      tone: last.reason === null ? 'plain' : 'bad',
    })
  }, [asked, attempts])
  return (
    <Loaded query={query}>
      {(delivery) => (
        <>
          <Summary delivery={delivery} held={state !== 'enabled'} />
          <Actions
            endpoint={endpoint}
            url={url}
            delivery={delivery}
            queued={asked !== null}
            onQueued={() => setAsked(delivery.attempts.length)}
          />
          <Section title="Attempts">
            <Attempts delivery={delivery} queued={asked !== null} held={state !== 'enabled'} />
          </Section>
          <Request delivery={delivery} />
        </>
      )}
    </Loaded>
  )
}

const Summary = ({ delivery, held }: { delivery: Detail; held: boolean }) => (
  <dl className="grid grid-cols-[max-content_minmax(0,1fr)] items-center gap-x-6 gap-y-1.5 [&_dt]:text-ink-3">
    <dt>Status</dt>
    <dd>
      <DeliveryPill status={delivery.status} attempts={delivery.attempts} held={held} />
    </dd>
    <dt>Event</dt>
    <dd>
      {eventInWords(delivery)}{' '}
      <span className="font-mono text-xs text-ink-3">
        {delivery.type}.{delivery.action}
      </span>
    </dd>
    <dt>Happened</dt>
    <dd className="tabular">{exactly(delivery.created_at)}</dd>
    <dt>Delivery id</dt>
    <dd>
      <Copyable text={delivery.id} label="delivery id" />
    </dd>
    <dt>Event id</dt>
    <dd>
      <Copyable text={delivery.event_id} label="event id" />
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
  const problem = error === null ? null : refusalInWords(error)
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
          One more attempt is queued. What came of it appears below by itself.
        </p>
      )}
      {canceled && (
        <Notice tone="info" title="This delivery was canceled">
          Its webhook was deleted, its app was uninstalled, or it was held for 30 days. It cannot be sent again; read
          what it was about through the API.
        </Notice>
      )}
      {problem && (
        <Notice tone="bad" title="It was not sent again">
          {problem}
        </Notice>
      )}
    </div>
  )
}

function refusalInWords(error: unknown): string {
  if (isBatonError(error, 'DELIVERY_CANCELED')) {
    return 'The delivery was canceled meanwhile: its webhook was deleted, its app was uninstalled, or it was held for 30 days.'
  }
  if (isBatonError(error, 'REDELIVERY_LIMIT_REACHED')) {
    return 'It was attempted 100 times, which is the most. Copy it as curl to send it yourself, or read what it was about through the API.'
  }
  return messageOf(error)
}

function Request({ delivery }: { delivery: Detail }) {
  const [raw, setRaw] = useState(false)
  if (!delivery.request) {
    return (
      <Section title="Request">
        <p className="text-ink-2">Nothing was sent yet. The headers and the body appear with the first attempt.</p>
      </Section>
    )
  }
  const { headers, body } = delivery.request
  return (
    <Section
      title="Request"
      hint="As it was last sent. The body and its signature differ at each attempt, because the time is part of them."
    >
      <Block label="request headers" text={headersOf(headers)} />
      <div className="flex items-center gap-2">
        <h3 className="flex-1 font-medium">Body</h3>
        <Button size="sm" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          {raw ? 'Show it formatted' : 'Show the raw bytes'}
        </Button>
      </div>
      <Block label={raw ? 'request body, raw' : 'request body'} text={raw ? body : formatted(body)} />
      {raw && (
        <p className="text-xs text-ink-3">
          These are the very bytes that Svc-Signature is over: HMAC-SHA256, keyed with the whole webhook secret.
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
