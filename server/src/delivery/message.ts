import { createHmac } from 'node:crypto'
import { uuidOf } from '../ids.ts'
import { attemptTrace, type Cause, type Trace, traceparentOf } from '../trace.ts'
import type { AppRecipient, BodyFormat, Prepared } from './stages.ts'

/** Lowercase hex HMAC-SHA256 of the raw bytes, keyed with the whole secret (delivery.signature). */
const sign = (body: Buffer, secret: string) => createHmac('sha256', secret).update(body).digest('hex')

/**
 * A signature of Standard Webhooks: `v1,` and the Base64 HMAC-SHA256 of id, time and body, keyed with the bytes of the
 * whole secret (standard-webhook.headers).
 */
const signStandard = (id: string, at: Date, body: Buffer, secret: string) =>
  `v1,${createHmac('sha256', secret)
    .update(`${id}.${secondsOf(at)}.`)
    .update(body)
    .digest('base64')}`

const secondsOf = (at: Date) => Math.floor(at.getTime() / 1000)

/**
 * Adds the fields of the endpoint and the attempt to the recorded envelope. For an app it also adds the event's id to
 * `data`, unless the envelope has one (event.app-data-event-id).
 */
export function bodyOf(
  envelope: string,
  endpointId: string,
  at: Date,
  app: AppRecipient | null = null,
  format: BodyFormat | null = null,
): string {
  // Already complete, except for the time of the attempt.
  if (format === 'linear') return `${envelope.slice(0, -1)},"webhookTimestamp":${at.getTime()}}`
  const added = `"webhook_id":"${endpointId}","webhook_timestamp":${at.getTime()}`
  const open = envelope.slice(0, envelope.lastIndexOf('}'))
  if (!app) return `${open},${added}}`
  // The first `"data":{` is the envelope's: in a string the quotes would be escaped, and `actor` has no such key.
  const identified = open.includes('"data":{"event_id":')
    ? open
    : open.replace('"data":{', `"data":{"event_id":"${app.eventId}",`)
  return `${identified},${added},"installation_id":"${app.installationId}","app_user_id":"${app.appUserId}"}`
}

/** The span of an attempt; null if no request caused the event. */
export const traceOf = (cause: Cause | null, deliveryId: string, attempt: number): Trace | null =>
  cause && attemptTrace(cause.traceparent, deliveryId, attempt)

/**
 * Attempts of the version before this one have no standard signature. The request that caused the event is not signed:
 * it only helps to find log entries.
 */
export const headersOf = (
  deliveryId: string,
  type: string,
  { signature, standardSignature }: { signature: string; standardSignature: string | null },
  at: Date,
  format: BodyFormat | null = null,
  cause: Cause | null = null,
  trace: Trace | null = null,
): Record<string, string> => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'Svc-Webhook/1',
  'svc-delivery': deliveryId,
  'svc-event': type,
  'svc-signature': signature,
  'svc-timestamp': String(at.getTime()),
  ...(standardSignature === null
    ? {}
    : {
        'webhook-id': deliveryId,
        'webhook-timestamp': String(secondsOf(at)),
        'webhook-signature': standardSignature,
      }),
  ...(format === 'linear'
    ? {
        'linear-delivery': uuidOf(deliveryId),
        'linear-event': type,
        'linear-signature': signature,
        'linear-timestamp': String(at.getTime()),
      }
    : {}),
  ...(cause ? { 'svc-request-id': cause.requestId } : {}),
  ...(trace ? { traceparent: traceparentOf(trace) } : {}),
})

interface Message {
  id: string
  endpointId: string
  type: string
  envelope: string
  app?: AppRecipient | null
  format?: BodyFormat | null
  cause?: Cause | null
  /** Attempts before this one. */
  attempts?: number
}

/** With `nextSecret`, during the overlap of a rotation, the standard signature is made with both (rotation.both-signatures). */
export function prepare(
  { id, endpointId, type, envelope, app = null, format = null, cause = null, attempts = 0 }: Message,
  secret: string,
  startedAt: Date,
  nextSecret: string | null = null,
): Prepared {
  const body = Buffer.from(bodyOf(envelope, endpointId, startedAt, app, format))
  const secrets = nextSecret === null ? [secret] : [secret, nextSecret]
  const signatures = {
    signature: sign(body, secret),
    standardSignature: secrets.map((one) => signStandard(id, startedAt, body, one)).join(' '),
  }
  const trace = traceOf(cause, id, attempts + 1)
  return {
    startedAt,
    body,
    ...signatures,
    headers: headersOf(id, type, signatures, startedAt, format, cause, trace),
    trace,
  }
}
