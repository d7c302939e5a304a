import type { Context } from '../context.ts'
import type { Outcome } from '../outbound/client.ts'
import type { Prepared } from './stages.ts'

interface Destination {
  /** Of the delivery. */
  id: string
  endpointId: string
  url: string
  /** Somebody listened in its place when that was last looked at. */
  listened: boolean
}

/** To whoever listens in place of the URL, else to the URL. */
export async function send(
  { relay, outbound }: Context,
  { id, endpointId, url, listened }: Destination,
  { headers, body }: Prepared,
): Promise<{ outcome: Outcome; relayed: boolean }> {
  const relayed = listened ? await relay.send({ endpointId, deliveryId: id, url, headers, body }) : undefined
  const outcome = relayed ?? (await outbound.send({ method: 'POST', url, headers, body }))
  return { outcome, relayed: relayed !== undefined }
}
