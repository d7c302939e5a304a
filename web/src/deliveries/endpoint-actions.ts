import type { PingResult, TestEvent } from '@baton/protocol'
import { useState } from 'react'
import { type Endpoint, refreshEndpoint } from '../data/endpoints.ts'
import { useAction } from '../ui/action.ts'
import { showToast } from '../ui/toast.tsx'

/** Test, enable and disable an endpoint. Results show once the server has confirmed them. */
export function useEndpointActions(endpoint: Endpoint) {
  const [latest, setLatest] = useState<'test' | 'switch'>('test')
  const [ping, setPing] = useState<PingResult | null>(null)
  const { run, busy, problem } = useAction(async (what: 'test' | 'switch', work: () => Promise<unknown>) => {
    setLatest(what)
    await work()
    await refreshEndpoint(endpoint)
  })
  return {
    busy: busy ? latest : null,
    ping,
    problem,
    test: (event?: TestEvent) =>
      run('test', async () => {
        setPing(null)
        setPing(await endpoint.test(event))
      }),
    enable: () =>
      run('switch', async () => {
        await endpoint.enable()
        showToast('Enabled. Sending held deliveries.')
      }),
    disable: () =>
      run('switch', async () => {
        await endpoint.disable()
        showToast('Disabled. Nothing is sent until you enable it.')
      }),
  }
}
export type EndpointActions = ReturnType<typeof useEndpointActions>
