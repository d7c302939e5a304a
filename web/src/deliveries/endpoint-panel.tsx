import type { EndpointState, PingResult } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CirclePause, CirclePlay, FlaskConical, List, Zap } from 'lucide-react'
import { api } from '../data/api.ts'
import { type Endpoint, healthQuery } from '../data/endpoints.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/layout.tsx'
import { usePicker } from '../ui/picker.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { Notice } from '../ui/states.tsx'
import { useEndpointActions } from './endpoint-actions.ts'
import { FailingBanner } from './failing-banner.tsx'
import { Health } from './health.tsx'
import { heldText, pingText } from './labels.tsx'

interface Props {
  endpoint: Endpoint
  state: EndpointState
  url: string
  /** The types of events that it can be sent examples of. */
  types: readonly string[]
}

/** Health of an endpoint, with the actions to test, enable and disable it. */
export function EndpointPanel({ endpoint, state, url, types }: Props) {
  const health = useQuery(healthQuery(endpoint)).data
  const actions = useEndpointActions(endpoint)
  const { busy, ping, problem } = actions
  const navigate = useNavigate()
  const ask = usePicker()
  const chooseEvent = (anchor: Element) =>
    ask(anchor, {
      title: 'Send example of',
      options: async (query) => {
        const { data } = await api.listEventTypes()
        const labels = data.filter(({ type }) => types.includes(type)).map(({ type, action }) => `${type} ${action}`)
        const found = labels.filter((label) => label.toLowerCase().includes(query.toLowerCase()))
        return found.map((label) => ({ value: label, label }))
      },
      onPick: (picked) => {
        const [type = '', action = ''] = picked.split(' ')
        void actions.test({ type, action })
      },
    })
  const openDeliveries = () => void navigate({ to: `/settings/${endpoint.kind}/${endpoint.id}/deliveries` })
  useCommands([
    { id: 'endpoint.test', title: 'Send a test', section: 'View', keys: 't', run: () => void actions.test() },
    { id: 'endpoint.deliveries', title: 'Deliveries', section: 'View', keys: 'd', run: openDeliveries },
  ])
  const held = health?.held ?? 0
  return (
    <div className="space-y-3">
      {state === 'failing' && <FailingBanner endpoint={endpoint} health={health} actions={actions} />}
      {state === 'disabled' && url !== '' && (
        <Notice tone="warn" title="Disabled">
          Only test pings and redeliveries are sent.
          {held > 0 && ` ${heldText(held)} and will be sent when it is enabled.`}
        </Notice>
      )}
      <Card className="space-y-4 p-4">
        {health ? <Health health={health} endpoint={endpoint} /> : <div aria-hidden className="skeleton h-12 w-2/3" />}
        <div className="flex flex-wrap gap-2">
          {/* The banner contains these two buttons. */}
          {state !== 'failing' && (
            <>
              <Button icon={Zap} command="endpoint.test" busy={busy === 'test'} onClick={() => void actions.test()}>
                Send a test
              </Button>
              {state === 'enabled' ? (
                <Button icon={CirclePause} busy={busy === 'switch'} onClick={() => void actions.disable()}>
                  Disable
                </Button>
              ) : (
                <Button icon={CirclePlay} busy={busy === 'switch'} onClick={() => void actions.enable()}>
                  Enable
                </Button>
              )}
            </>
          )}
          {types.length > 0 && (
            <Button
              icon={FlaskConical}
              disabled={busy !== null}
              onClick={({ currentTarget }) => chooseEvent(currentTarget)}
            >
              Send an example
            </Button>
          )}
          <Button icon={List} command="endpoint.deliveries" onClick={openDeliveries}>
            Deliveries
          </Button>
        </div>
      </Card>
      <div role="status">
        {busy === 'test' && <p className="text-ink-2">Waiting for the receiver (up to 5 seconds)…</p>}
        {ping && <PingResultNotice ping={ping} endpoint={endpoint} />}
      </div>
      {problem && (
        <Notice tone="bad" title="Failed">
          {problem}
        </Notice>
      )}
    </div>
  )
}

const PingResultNotice = ({ ping, endpoint }: { ping: PingResult; endpoint: Endpoint }) => (
  <div
    className="space-y-1 rounded-lg border-l-3 border-bad bg-bad-wash px-3 py-2 data-ok:border-ok data-ok:bg-ok-wash"
    data-ok={ping.ok ? '' : undefined}
  >
    <p className="font-semibold">{ping.ok ? 'Test delivered' : 'Test failed'}</p>
    <p>{pingText(ping, endpoint)}</p>
  </div>
)
