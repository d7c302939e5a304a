import type { Context } from '../context.ts'
import type { Outcome } from '../outbound/client.ts'
import type { Prepared } from './stages.ts'

interface Destination {
  /** Id of the delivery. */
  id: string
  endpointId: string
  url: string
  /** When last read; the listener may have disconnected since. */
  hasListener: boolean
}

/** Sends to the listener if one is connected, else to the URL. */
export async function send(
  { relay, outbound }: Context,
  { id, endpointId, url, hasListener }: Destination,
  { headers, body }: Prepared,
): Promise<{ outcome: Outcome; relayed: boolean }> {
  const relayed = hasListener ? await relay.send({ endpointId, deliveryId: id, url, headers, body }) : undefined
  const outcome = relayed ?? (await outbound.send({ method: 'POST', url, headers, body }))
  return { outcome, relayed: relayed !== undefined }
}
