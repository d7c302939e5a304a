import { createHmac } from 'node:crypto'
import type { Prepared } from './stages.ts'

/** 5.8: lowercase hex HMAC-SHA256 of the raw bytes, keyed with the whole secret. */
export const sign = (body: Buffer, secret: string) => createHmac('sha256', secret).update(body).digest('hex')

/** The envelope with what belongs to this endpoint and this attempt, written once and signed as it is sent. */
export const bodyOf = (envelope: string, endpointId: string, at: Date) =>
  `${envelope.slice(0, envelope.lastIndexOf('}'))},"webhook_id":"${endpointId}","webhook_timestamp":${at.getTime()}}`

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
}

export function prepare({ id, endpointId, type, envelope }: Message, secret: string, startedAt: Date): Prepared {
  const body = Buffer.from(bodyOf(envelope, endpointId, startedAt))
  const signature = sign(body, secret)
  return { startedAt, body, signature, headers: headersOf(id, type, signature, startedAt) }
}
