import type { Attempt, Delivery } from '@baton/protocol'
import { useEffect, useRef, useState } from 'react'
import { queries } from '../data/api.ts'
import type { DeliverySearch } from '../data/delivery-search.ts'
import { deliveriesQuery, type Endpoint, refreshEndpoint } from '../data/endpoints.ts'
import { redeliverErrorText } from './delivery-detail.tsx'
import { outcomeText } from './labels.tsx'

export interface RedeliveryResult {
  delivery: Delivery
  ok: boolean
  text: string
}

export interface Redelivery {
  total: number
  running: boolean
  /** Id of the delivery that is being sent. */
  current: string | null
  /** In the order sent. */
  results: RedeliveryResult[]
}

/** How often, and how long, to look for the result of an attempt; the receiver has 5 seconds. */
const pollMs = 300
const waitMs = 10_000

/**
 * Redelivers several deliveries, one after the other: the next one starts when the receiver has answered, so that a
 * receiver that has just recovered is not flooded. Stops when the list is closed.
 */
export function useRedelivery(endpoint: Endpoint, search: DeliverySearch) {
  const [state, setState] = useState<Redelivery | null>(null)
  const stopping = useRef<AbortController | null>(null)
  useEffect(() => () => stopping.current?.abort(), [])

  async function run(deliveries: Delivery[]) {
    if (stopping.current) return
    const controller = new AbortController()
    const { signal } = controller
    stopping.current = controller
    const results: RedeliveryResult[] = []
    const show = (current: string | null) =>
      setState({
        total: deliveries.length,
        running: !signal.aborted && current !== null,
        current,
        results: [...results],
      })
    for (const delivery of deliveries) {
      if (signal.aborted) break
      show(delivery.id)
      results.push({ delivery, ...(await redeliverOne(endpoint, search, delivery, signal)) })
    }
    stopping.current = null
    show(null)
    await refreshEndpoint(endpoint)
  }
  return { state, run, stop: () => stopping.current?.abort(), dismiss: () => setState(null) }
}

async function redeliverOne(endpoint: Endpoint, search: DeliverySearch, { id }: Delivery, signal: AbortSignal) {
  try {
    const { attempts } = await endpoint.redeliver(id)
    const made = await nextAttempt(endpoint, search, id, attempts.length, signal)
    return made ? { ok: made.reason === null, text: outcomeText(made, endpoint) } : { ok: true, text: 'Queued' }
  } catch (error) {
    return { ok: false, text: redeliverErrorText(error) }
  }
}

/** The attempt after the first `before`; null if there is none in time, for example because the worker is busy. */
async function nextAttempt(
  endpoint: Endpoint,
  search: DeliverySearch,
  id: string,
  before: number,
  signal: AbortSignal,
): Promise<Attempt | null> {
  for (let waited = 0; waited < waitMs && !signal.aborted; waited += pollMs) {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    const { request: _, ...delivery } = await endpoint.delivery(id)
    const made = delivery.attempts[before]
    if (!made) continue
    replaceInList(endpoint, search, delivery)
    return made
  }
  return null
}

const replaceInList = (endpoint: Endpoint, search: DeliverySearch, delivery: Delivery) =>
  queries.setQueryData(
    deliveriesQuery(endpoint, search).queryKey,
    (list) =>
      list && {
        ...list,
        pages: list.pages.map((page) => ({
          ...page,
          data: page.data.map((one) => (one.id === delivery.id ? delivery : one)),
        })),
      },
  )
