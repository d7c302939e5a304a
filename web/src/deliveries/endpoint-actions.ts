import type { PingResult } from '@baton/protocol'
import { useState } from 'react'
import { type Endpoint, refreshEndpoint } from '../data/endpoints.ts'
import { messageOf } from '../ui/problem.ts'
import { say } from '../ui/toast.tsx'

/** Test, enable and disable an endpoint. Results show once the server has confirmed them. */
export function useEndpointActions(endpoint: Endpoint) {
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
export type EndpointActions = ReturnType<typeof useEndpointActions>
