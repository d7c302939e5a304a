import type { Delivery } from '@baton/protocol'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Send, X, Zap } from 'lucide-react'
import { type DeliverySearch, eventTypes, parseDeliverySearch, statuses } from '../data/delivery-search.ts'
import { deliveriesQuery, type Endpoint, refreshEndpoint } from '../data/endpoints.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty, Failed, Skeletons } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { showError } from '../ui/toast.tsx'
import { DeliveryLink } from './delivery-link.tsx'
import { DeliveryPill, eventLabel, outcomeText, statusLabel } from './labels.tsx'
import { NextAttempt } from './next-attempt.tsx'

const typesOf = { 'agent-apps': eventTypes, webhooks: ['Issue', 'Comment', 'Project', 'Ping'] } as const
const typeLabels: Record<string, string> = {
  AgentSessionEvent: 'Agent sessions',
  PermissionChange: 'Team changes',
  OAuthApp: 'Uninstallations',
  Issue: 'Issues',
  Comment: 'Comments',
  Project: 'Projects',
  Ping: 'Test pings',
}

/** Filters for status and event type, kept in the URL. */
export function DeliveryFilters({ endpoint, search }: { endpoint: Endpoint; search: DeliverySearch }) {
  const navigate = useNavigate()
  const show = (change: Record<string, string>) =>
    void navigate({ to: '.', search: parseDeliverySearch({ ...search, ...change }), replace: true })
  const filtered = Object.keys(search).length > 0
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 pb-2.5">
      <Select
        aria-label="Status"
        value={search.status ?? ''}
        onChange={(event) => show({ status: event.target.value })}
        className="w-auto!"
      >
        <option value="">All statuses</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {statusLabel(status)}
          </option>
        ))}
      </Select>
      <Select
        aria-label="Event"
        value={search.type ?? ''}
        onChange={(event) => show({ type: event.target.value })}
        className="w-auto!"
      >
        <option value="">All events</option>
        {typesOf[endpoint.kind].map((type) => (
          <option key={type} value={type}>
            {typeLabels[type]}
          </option>
        ))}
      </Select>
      {search.agent_session_id && <span className="text-ink-2">From one agent session</span>}
      {filtered && (
        <Button look="quiet" icon={X} onClick={() => void navigate({ to: '.', search: {}, replace: true })}>
          Clear
        </Button>
      )}
    </div>
  )
}

interface Props {
  endpoint: Endpoint
  search: DeliverySearch
  /** The endpoint is disabled: only redeliveries are sent. */
  held: boolean
}

export function DeliveryList({ endpoint, search, held }: Props) {
  const { data, error, isError, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    deliveriesQuery(endpoint, search),
  )
  const { list } = useRows('delivery')
  if (!data) return isError ? <Failed error={error} onRetry={() => void refetch()} /> : <Skeletons />
  const deliveries = data.pages.flatMap((page) => page.data)
  if (deliveries.length === 0) return <NoDeliveries endpoint={endpoint} filtered={Object.keys(search).length > 0} />
  return (
    <>
      <ul {...list} aria-label="Deliveries" className="divide-y border-b">
        {deliveries.map((delivery) => (
          <li key={delivery.id} className={rowItem}>
            <Row endpoint={endpoint} delivery={delivery} held={held} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <div className="p-3 text-center">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older deliveries
          </Button>
        </div>
      )}
    </>
  )
}

function NoDeliveries({ endpoint, filtered }: { endpoint: Endpoint; filtered: boolean }) {
  const { run: test, busy } = useAction(async () => {
    await endpoint.test()
    await refreshEndpoint(endpoint)
  }, showError)
  useCommands(
    filtered ? [] : [{ id: 'endpoint.test', title: 'Send a test', section: 'View', keys: 't', run: () => void test() }],
  )
  if (filtered) {
    return (
      <Empty icon={Send} title="No matching deliveries">
        None in the last 30 days. Clear the filters to see all deliveries.
      </Empty>
    )
  }
  const button = (
    <Button look="primary" icon={Zap} command="endpoint.test" busy={busy} onClick={() => void test()}>
      Send a test
    </Button>
  )
  return (
    <Empty icon={Send} title="No deliveries yet" action={button}>
      Each delivery appears here with all its attempts. Send a test to check that the receiver responds.
    </Empty>
  )
}

function Row({ endpoint, delivery, held }: { endpoint: Endpoint; delivery: Delivery; held: boolean }) {
  const { id, status, attempts, created_at, next_attempt_at } = delivery
  const last = attempts.at(-1)
  return (
    <DeliveryLink
      endpoint={endpoint}
      deliveryId={id}
      data-row={id}
      className="flex h-9 items-center gap-3 px-4 outline-hidden"
    >
      <span className="w-24 shrink-0">
        <DeliveryPill status={status} attempts={attempts} held={held} />
      </span>
      <span className="min-w-0 flex-1 truncate">
        <span className="font-medium">{eventLabel(delivery)}</span>{' '}
        <span className="font-mono text-xs text-ink-3 max-[1440px]:hidden">
          {delivery.type}.{delivery.action}
        </span>
      </span>
      <span className="min-w-0 flex-[1.5] truncate text-ink-2 max-lg:hidden">{last ? outcomeText(last) : ''}</span>
      <span className="w-28 shrink-0 truncate text-right text-ink-2 max-md:hidden">
        {status === 'pending' && next_attempt_at && !held ? <NextAttempt at={next_attempt_at} /> : ''}
      </span>
      <span className="tabular w-20 shrink-0 text-right text-ink-2 max-sm:hidden">
        {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}
      </span>
      <Time at={created_at} className="tabular w-16 shrink-0 text-right text-ink-3" />
    </DeliveryLink>
  )
}
