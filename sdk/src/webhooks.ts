import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { eventTypes, type WebhookEvent } from './events.ts'

export * from './events.ts'

/** The headers of a request, as fetch or node:http has them. */
export type HeadersLike = { get(name: string): string | null } | Readonly<Record<string, string | string[] | undefined>>

export interface Delivered {
  /** The body before any parsing. */
  rawBody: Uint8Array | ArrayBuffer | string
  headers?: HeadersLike
  /** Svc-Signature, if you do not pass headers. */
  signature?: string | null
  /** The webhook secret with its prefix. Give several while you replace one. */
  secret: string | readonly string[]
  now?: Date
  /** Maximum difference between webhook_timestamp and now. */
  toleranceMs?: number
}

/**
 * - `missing_signature`, `bad_signature`  refuse the request
 * - `stale_timestamp`  signed, but not sent recently: a replay, or a wrong clock
 * - `not_json`         signed, but not a JSON object with a timestamp
 * - `unknown_event`    signed and recent, but of a type that this version does not know: answer 2xx and ignore it
 */
export type WebhookFailure = 'missing_signature' | 'bad_signature' | 'stale_timestamp' | 'not_json' | 'unknown_event'

export type Verified = { ok: true; event: WebhookEvent } | { ok: false; reason: WebhookFailure }

/**
 * Verifies the signature over the raw bytes, then the timestamp in the body. The timestamp header is ignored, because
 * it is not signed.
 */
export function verifyWebhook(delivered: Delivered): Verified {
  const { rawBody, secret, now = new Date(), toleranceMs = 60_000 } = delivered
  const bytes = bytesOf(rawBody)
  const signature = delivered.signature ?? headerOf(delivered.headers, 'svc-signature')
  if (!signature) return { ok: false, reason: 'missing_signature' }
  if (!isSigned(bytes, signature, secretsOf(secret))) return { ok: false, reason: 'bad_signature' }

  const event = parse(bytes)
  if (!event) return { ok: false, reason: 'not_json' }
  const awayMs = Math.abs(now.getTime() - event.webhook_timestamp)
  if (!(awayMs <= toleranceMs)) return { ok: false, reason: 'stale_timestamp' }
  if (!(eventTypes as readonly string[]).includes(event.type)) return { ok: false, reason: 'unknown_event' }
  return { ok: true, event }
}

/** The secret as libraries of Standard Webhooks take it: `whsec_` and the Base64 of the whole secret. */
export const standardSecret = (secret: string) => `whsec_${Buffer.from(secret).toString('base64')}`

const hmac = (bytes: Uint8Array, secret: string) => createHmac('sha256', secret).update(bytes).digest()

/** Tries every secret, so that timing does not reveal which one matched. */
function isSigned(bytes: Uint8Array, signature: string, secrets: readonly string[]): boolean {
  if (!/^[0-9a-f]{64}$/.test(signature)) return false
  const given = Buffer.from(signature, 'hex')
  let matches = false
  for (const secret of secrets) matches = timingSafeEqual(hmac(bytes, secret), given) || matches
  return matches
}

/** With an empty secret anyone could sign. */
function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (secrets.length === 0 || secrets.some((one) => typeof one !== 'string' || one.length === 0)) {
    throw new TypeError(
      'The webhook secret is missing. It starts with pwhsec_ and was shown when the app was registered.',
    )
  }
  return secrets
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError(
    'rawBody must be the bytes of the request. A parsed body cannot be verified, because serializing it changes the bytes.',
  )
}

function headerOf(headers: HeadersLike | undefined, name: string): string | null {
  if (!headers) return null
  if (typeof headers.get === 'function') return headers.get(name)
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : null
}

function parse(bytes: Uint8Array): WebhookEvent | null {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    const isEvent = typeof value?.type === 'string' && typeof value.data === 'object' && value.data !== null
    return isEvent && Number.isFinite(value.webhook_timestamp) ? value : null
  } catch {
    return null
  }
}

/** Identifies an event across retries. Uses signed content only. */
export function eventIdOf(event: WebhookEvent): string {
  if (typeof event.data.event_id === 'string') return event.data.event_id
  const { type, action, created_at, data } = event
  return createHash('sha256')
    .update(JSON.stringify([type, action, created_at, data]))
    .digest('hex')
}

/** An event without the fields that `signWebhook` fills in. */
export type EventToSign = Pick<WebhookEvent, 'type' | 'action'> & { data: object } & Partial<
    Omit<WebhookEvent, 'type' | 'action' | 'data'>
  >

/** Creates a delivery for tests: body and headers, as the service sends them. */
export function signWebhook(event: EventToSign, { secret, now = new Date() }: { secret: string; now?: Date }) {
  const envelope = {
    actor: null,
    created_at: now.toISOString(),
    url: '',
    workspace_id: 'wsp_test',
    webhook_id: 'whk_test',
    ...event,
    webhook_timestamp: now.getTime(),
  }
  const body = Buffer.from(JSON.stringify(envelope))
  return { body: new Uint8Array(body), headers: signedHeaders(body, event.type, { secret, now }) }
}

/** Creates the headers for an existing body. */
export const signedHeaders = (
  body: Uint8Array,
  type: string,
  { secret, now = new Date() }: { secret: string; now?: Date },
): Record<string, string> => {
  const id = `dlv_${randomUUID()}`
  const seconds = Math.floor(now.getTime() / 1000)
  const signed = Buffer.concat([Buffer.from(`${id}.${seconds}.`), body])
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Svc-Webhook/1',
    'svc-delivery': id,
    'svc-event': type,
    'svc-signature': hmac(body, secret).toString('hex'),
    'svc-timestamp': String(now.getTime()),
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${hmac(signed, secret).toString('base64')}`,
  }
}
