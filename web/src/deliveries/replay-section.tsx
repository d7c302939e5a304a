import type { EndpointState, Replay, SkipReason } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { History, Square } from 'lucide-react'
import { useState } from 'react'
import { type Endpoint, refreshEndpoint, replaysQuery } from '../data/endpoints.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { Card, Rows, Section } from '../ui/layout.tsx'
import { Notice } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { showError } from '../ui/toast.tsx'

type Which = 'failed' | 'missed' | 'all'

/** A local time as an input of the type datetime-local has it, to the minute. */
const localTime = (at: Date) => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

/** Sends past events again, and shows the progress. */
export function ReplaySection({ endpoint, state }: { endpoint: Endpoint; state: EndpointState }) {
  const replays = useQuery(replaysQuery(endpoint)).data ?? []
  const [since, setSince] = useState(() => localTime(new Date(Date.now() - 24 * 3_600_000)))
  const [which, setWhich] = useState<Which>('failed')
  const [matched, setMatched] = useState<number | null>(null)
  const wanted = () => ({ since: new Date(since).toISOString(), which })
  const {
    run: count,
    busy: counting,
    problem: countProblem,
  } = useAction(async () => setMatched(await endpoint.countReplay(wanted())))
  const {
    run: start,
    busy: starting,
    problem,
  } = useAction(async () => {
    await endpoint.startReplay(wanted())
    setMatched(null)
    await refreshEndpoint(endpoint)
  })
  const isRunning = replays.some((replay) => replay.state === 'running')
  const isReady = since !== '' && state === 'enabled' && !isRunning
  return (
    <Section title="Replay" hint="Sends past events again, each once. New events are sent first.">
      <Card className="space-y-3 p-4">
        <div className="flex flex-wrap items-end gap-3">
          <Field label="Since">
            <Input
              type="datetime-local"
              className="w-56"
              value={since}
              onChange={({ target }) => {
                setSince(target.value)
                setMatched(null)
              }}
            />
          </Field>
          {endpoint.kind === 'webhooks' && (
            <Field label="Events">
              <Select
                className="w-56"
                value={which}
                onChange={({ target }) => {
                  setWhich(target.value as Which)
                  setMatched(null)
                }}
              >
                <option value="failed">Failed deliveries</option>
                <option value="missed">Missed events</option>
                <option value="all">All events</option>
              </Select>
            </Field>
          )}
          <Button busy={counting} disabled={!isReady} onClick={() => void count()}>
            Count
          </Button>
          <Button look="primary" icon={History} busy={starting} disabled={!isReady} onClick={() => void start()}>
            Start replay
          </Button>
          <p role="status" className="self-center text-ink-2">
            {state !== 'enabled'
              ? 'Enable the webhook to replay events.'
              : isRunning
                ? 'Another replay can start when this one has ended.'
                : since === '' && 'Choose a time to replay from.'}
            {matched !== null && `${matched.toLocaleString('en')} ${matched === 1 ? 'event matches' : 'events match'}.`}
          </p>
        </div>
        {(problem ?? countProblem) && (
          <Notice tone="bad" title="Not started">
            {problem ?? countProblem}
          </Notice>
        )}
      </Card>
      {replays.length > 0 && (
        <Rows label="Replays">
          {replays.map((replay) => (
            <ReplayRow key={replay.id} replay={replay} endpoint={endpoint} />
          ))}
        </Rows>
      )}
    </Section>
  )
}

const stateLabels: Record<Replay['state'], string> = { running: 'Running', done: 'Done', stopped: 'Stopped' }

const skipWords: Record<SkipReason, string> = {
  deleted: 'deleted',
  private: 'private now',
  session_ended: 'of an ended session',
  no_access: 'without access',
  pending: 'still pending',
  canceled: 'canceled',
  attempt_limit: 'at the limit of attempts',
  delivered: 'delivered meanwhile',
}

/** "3 skipped (2 canceled, 1 private now)"; replays of earlier versions have no reasons. */
function skippedText({ skipped, skipped_reasons }: Replay): string {
  const reasons = Object.entries(skipped_reasons).map(
    ([reason, count]) => `${count} ${skipWords[reason as SkipReason]}`,
  )
  return `${skipped} skipped${reasons.length > 0 ? ` (${reasons.join(', ')})` : ''}`
}

function ReplayRow({ replay, endpoint }: { replay: Replay; endpoint: Endpoint }) {
  const { id, state, matched, sent, succeeded, failed, skipped, created_at } = replay
  const { run: stop, busy } = useAction(async () => {
    await endpoint.stopReplay(id)
    await refreshEndpoint(endpoint)
  }, showError)
  return (
    <li className="flex items-center gap-3 px-4 py-2.5 max-sm:flex-wrap">
      <span className="w-20 shrink-0 font-medium">{stateLabels[state]}</span>
      <span className="tabular min-w-0 flex-1 text-ink-2">
        {sent} of {matched} sent, {succeeded} succeeded, {failed} failed{skipped > 0 && `, ${skippedText(replay)}`}
      </span>
      {state === 'running' && (
        <progress aria-label="Sent" value={sent + skipped} max={matched} className="h-1.5 w-24 accent-(--accent)" />
      )}
      <span className="shrink-0 text-ink-3">
        <Time at={created_at} />
      </span>
      {state === 'running' && (
        <Button size="sm" icon={Square} busy={busy} onClick={() => void stop()}>
          Stop
        </Button>
      )}
    </li>
  )
}
