import type { Delivery } from '@baton/protocol'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Send, X, Zap } from 'lucide-react'
import { useMemo } from 'react'
import { type DeliverySearch, eventTypes, parseDeliverySearch, statuses } from '../data/delivery-search.ts'
import { deliveriesQuery, type Endpoint, refreshEndpoint } from '../data/endpoints.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { Select } from '../ui/field.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useIdSelection } from '../ui/selection.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty, Failed, Skeletons } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { showError } from '../ui/toast.tsx'
import { DeliveryLink } from './delivery-link.tsx'
import { DeliveryPill, deliveryTitle, eventLabel, outcomeText, statusLabel } from './labels.tsx'
import { NextAttempt } from './next-attempt.tsx'
import { type RedeliveryResult, useRedelivery } from './redelivery.ts'
import { DeliverySelectionBar, RedeliveryBar } from './redelivery-bar.tsx'

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

export function DeliveryList({ endpoint, search }: { endpoint: Endpoint; search: DeliverySearch }) {
  const { data, error, isError, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    deliveriesQuery(endpoint, search),
  )
  const deliveries = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data])
  const selection = useIdSelection(deliveries.map(({ id }) => id))
  const { selected, clear } = selection
  const { list, at } = useRows('delivery')
  const redelivery = useRedelivery(endpoint, search)
  const running = redelivery.state?.running
  const redeliver = () => {
    if (running) return
    void redelivery.run(deliveries.filter(({ id }) => selected.has(id)))
    clear()
  }
  useCommands([
    select('deliveries.select', 'Select', 'x', () => at && selection.toggle(at)),
    select('deliveries.select-to', 'Select range', 'shift+x', () => at && selection.extendTo(at)),
    select('deliveries.select-all', 'Select all', 'mod+a', selection.all),
    ...(selected.size > 0
      ? [
          select('deliveries.redeliver', 'Redeliver selected', 'r', redeliver),
          select('deliveries.clear', 'Clear selection', 'escape', clear),
        ]
      : []),
  ])
  if (!data) return isError ? <Failed error={error} onRetry={() => void refetch()} /> : <Skeletons />
  const results = new Map(redelivery.state?.results.map((result) => [result.delivery.id, result]))
  const sending = redelivery.state?.current
  return (
    <>
      {deliveries.length === 0 ? (
        <NoDeliveries endpoint={endpoint} filtered={Object.keys(search).length > 0} />
      ) : (
        <ul {...list} aria-label="Deliveries" className="divide-y border-b">
          {deliveries.map((delivery) => {
            const isSelected = selected.has(delivery.id)
            return (
              <li key={delivery.id} className={cx('flex items-center', rowItem, isSelected && 'bg-accent-wash')}>
                <label className="flex h-9 cursor-default items-center pr-1 pl-4">
                  <input
                    type="checkbox"
                    aria-label={`Select ${deliveryTitle(delivery)}`}
                    checked={isSelected}
                    onChange={({ nativeEvent }) =>
                      nativeEvent instanceof MouseEvent && nativeEvent.shiftKey
                        ? selection.extendTo(delivery.id)
                        : selection.toggle(delivery.id)
                    }
                    className="size-4 accent-(--accent-ink)"
                  />
                </label>
                <Row
                  endpoint={endpoint}
                  delivery={delivery}
                  sending={delivery.id === sending}
                  result={results.get(delivery.id)}
                />
              </li>
            )
          })}
        </ul>
      )}
      {hasNextPage && (
        <div className="p-3 text-center">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older deliveries
          </Button>
        </div>
      )}
      {redelivery.state && (running || selected.size === 0) ? (
        <RedeliveryBar redelivery={redelivery.state} onStop={redelivery.stop} onDismiss={redelivery.dismiss} />
      ) : (
        selected.size > 0 && <DeliverySelectionBar count={selected.size} onRedeliver={redeliver} onClear={clear} />
      )}
    </>
  )
}

const select = (id: string, title: string, keys: string, run: () => unknown) => ({
  id,
  title,
  section: 'Selection' as const,
  keys,
  run: () => void run(),
})

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

interface RowProps {
  endpoint: Endpoint
  delivery: Delivery
  /** It is being redelivered now. */
  sending: boolean
  /** Of its last redelivery from this list. */
  result: RedeliveryResult | undefined
}

function Row({ endpoint, delivery, sending, result }: RowProps) {
  const { id, status, held, issue, attempts, created_at, next_attempt_at } = delivery
  const last = attempts.at(-1)
  return (
    <DeliveryLink
      endpoint={endpoint}
      deliveryId={id}
      data-row={id}
      className="flex min-h-9 min-w-0 flex-1 items-center gap-3 py-1 pr-4 pl-2 outline-hidden"
    >
      <span className="w-24 shrink-0">
        <DeliveryPill delivery={delivery} />
      </span>
      <span className="flex min-w-0 flex-[4] gap-x-3 max-sm:flex-col">
        <span className="truncate font-medium sm:w-38 sm:shrink-0">{eventLabel(delivery)}</span>
        {issue && (
          <span className="min-w-0 truncate text-ink-2">
            <span className="tabular text-ink-3">{issue.code}</span> {issue.title}
          </span>
        )}
        {result && !result.ok && <span className="text-bad-ink lg:hidden">{result.text}</span>}
      </span>
      <span
        className={cx('min-w-0 flex-1 truncate max-lg:hidden', result && !result.ok ? 'text-bad-ink' : 'text-ink-2')}
      >
        {sending ? 'Redelivering…' : (result?.text ?? (last ? outcomeText(last, endpoint) : ''))}
      </span>
      <span className="w-28 shrink-0 truncate text-right text-ink-2 max-md:hidden">
        {status === 'pending' && next_attempt_at && !held ? <NextAttempt at={next_attempt_at} /> : ''}
      </span>
      <span className="tabular w-20 shrink-0 text-right text-ink-2 max-sm:hidden">
        {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}
      </span>
      <Time at={created_at} className="tabular w-24 shrink-0 text-right text-ink-3" />
    </DeliveryLink>
  )
}
