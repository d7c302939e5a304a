import type { EndpointState, PingResult } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CirclePause, CirclePlay, List, Zap } from 'lucide-react'
import { type Endpoint, healthQuery } from '../data/endpoints.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/layout.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { Notice } from '../ui/states.tsx'
import { useEndpointActions } from './endpoint-actions.ts'
import { FailingBanner } from './failing-banner.tsx'
import { Health } from './health.tsx'
import { heldInWords, pingInWords } from './words.tsx'

/** State, health, test, on and off, of an app's webhook or one of the workspace. */
export function EndpointPanel({ endpoint, state, url }: { endpoint: Endpoint; state: EndpointState; url: string }) {
  const health = useQuery(healthQuery(endpoint)).data
  const actions = useEndpointActions(endpoint)
  const { busy, ping, problem } = actions
  const navigate = useNavigate()
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
        <Notice tone="warn" title="Disabled: nothing is sent">
          Test pings and redeliveries still go out.
          {held > 0 && ` ${heldInWords(held)} and will be sent when it is enabled.`}
        </Notice>
      )}
      <Card className="space-y-4 p-4">
        {health ? <Health health={health} /> : <div aria-hidden className="skeleton h-12 w-2/3" />}
        <div className="flex flex-wrap gap-2">
          {/* The banner has these two as its steps. */}
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
          <Button icon={List} command="endpoint.deliveries" onClick={openDeliveries}>
            Deliveries
          </Button>
        </div>
      </Card>
      <div role="status">
        {busy === 'test' && <p className="text-ink-2">The receiver has 5 seconds to answer…</p>}
        {ping && <Pinged ping={ping} />}
      </div>
      {problem && (
        <Notice tone="bad" title="That did not work">
          {problem}
        </Notice>
      )}
    </div>
  )
}

const Pinged = ({ ping }: { ping: PingResult }) => (
  <div
    className="space-y-1 rounded-lg border-l-3 border-bad bg-bad-wash px-3 py-2 data-ok:border-ok data-ok:bg-ok-wash"
    data-ok={ping.ok ? '' : undefined}
  >
    <p className="font-semibold">{ping.ok ? 'The test arrived' : 'The test failed'}</p>
    <p>{pingInWords(ping)}</p>
  </div>
)
