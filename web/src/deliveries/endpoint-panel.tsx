import type { EndpointState, PingResult } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CirclePause, CirclePlay, List, Zap } from 'lucide-react'
import { useState } from 'react'
import { messageOf } from '../data/api.ts'
import { type Endpoint, healthQuery, refreshEndpoint } from '../data/endpoints.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/layout.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { Notice } from '../ui/states.tsx'
import { say } from '../ui/toast.tsx'
import { FailingBanner } from './failing-banner.tsx'
import { Health } from './health.tsx'
import { pingInWords } from './words.tsx'

/** What can be done with an endpoint, each shown as done when the server says so. */
function useEndpoint(endpoint: Endpoint) {
  const [busy, setBusy] = useState<'test' | 'switch' | null>(null)
  const [ping, setPing] = useState<PingResult | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const run = async (what: 'test' | 'switch', work: () => Promise<unknown>) => {
    if (busy) return
    setBusy(what)
    setProblem(null)
    try {
      await work()
      await refreshEndpoint(endpoint)
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(null)
    }
  }
  return {
    busy,
    ping,
    problem,
    test: () =>
      run('test', async () => {
        setPing(null)
        setPing(await endpoint.test())
      }),
    enable: () =>
      run('switch', async () => {
        await endpoint.enable()
        say('Enabled. What was held is being sent.')
      }),
    disable: () =>
      run('switch', async () => {
        await endpoint.disable()
        say('Disabled. Nothing is sent until it is enabled again.')
      }),
  }
}
export type EndpointActions = ReturnType<typeof useEndpoint>

/** State, health, test, on and off, of an app's webhook or one of the workspace. */
export function EndpointPanel({ endpoint, state, url }: { endpoint: Endpoint; state: EndpointState; url: string }) {
  const health = useQuery(healthQuery(endpoint)).data
  const actions = useEndpoint(endpoint)
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

export const heldInWords = (held: number) =>
  held === 1 ? '1 delivery is held' : `${held >= 10_000 ? '10,000 or more' : held} deliveries are held`
