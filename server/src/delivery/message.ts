import { createHmac } from 'node:crypto'
import type { ForApp, Prepared } from './stages.ts'

/** 5.8: lowercase hex HMAC-SHA256 of the raw bytes, keyed with the whole secret. */
const sign = (body: Buffer, secret: string) => createHmac('sha256', secret).update(body).digest('hex')

/**
 * The envelope with what belongs to this endpoint and this attempt, written once and signed as it is sent. An app also
 * gets the event's id in `data`, where events of its own have one already (6.2).
 */
export function bodyOf(envelope: string, endpointId: string, at: Date, app: ForApp | null = null): string {
  const own = `"webhook_id":"${endpointId}","webhook_timestamp":${at.getTime()}`
  const open = envelope.slice(0, envelope.lastIndexOf('}'))
  if (!app) return `${open},${own}}`
  // The first `"data":{` is the envelope's: within a text its quotes would be escaped, and `actor` has no such key.
  const told = open.includes('"data":{"event_id":')
    ? open
    : open.replace('"data":{', `"data":{"event_id":"${app.eventId}",`)
  return `${told},${own},"installation_id":"${app.installationId}","app_user_id":"${app.appUserId}"}`
}

export const headersOf = (deliveryId: string, type: string, signature: string, at: Date): Record<string, string> => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'Svc-Webhook/1',
  'svc-delivery': deliveryId,
  'svc-event': type,
  'svc-signature': signature,
  'svc-timestamp': String(at.getTime()),
})

interface Message {
  id: string
  endpointId: string
  type: string
  envelope: string
  app?: ForApp | null
}

export function prepare(
  { id, endpointId, type, envelope, app = null }: Message,
  secret: string,
  startedAt: Date,
): Prepared {
  const body = Buffer.from(bodyOf(envelope, endpointId, startedAt, app))
  const signature = sign(body, secret)
  return { startedAt, body, signature, headers: headersOf(id, type, signature, startedAt) }
}
