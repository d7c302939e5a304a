import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { eventTypes, type WebhookEvent } from './events.ts'

export * from './events.ts'

/** The headers of a request, as fetch or node:http has them. */
export type HeadersLike = { get(name: string): string | null } | Readonly<Record<string, string | string[] | undefined>>

export interface Delivered {
  /** The body as it came, before any parsing. */
  rawBody: Uint8Array | ArrayBuffer | string
  headers?: HeadersLike
  /** Svc-Signature, where there are no headers to look it up in. */
  signature?: string | null
  /** The webhook secret with its prefix; several while one is being replaced. */
  secret: string | readonly string[]
  now?: Date
  /** 5.8: how far webhook_timestamp may be from now. */
  toleranceMs?: number
}

/**
 * - `missing_signature`, `bad_signature`  refuse it
 * - `stale_timestamp`  signed, but not sent just now: a copy, or a clock that is wrong
 * - `not_json`         signed, but no JSON object with a timestamp
 * - `unknown_event`    signed and fresh, of a type this version of the package does not know: answer 2xx and ignore it
 */
export type WebhookFailure = 'missing_signature' | 'bad_signature' | 'stale_timestamp' | 'not_json' | 'unknown_event'

export type Verified = { ok: true; event: WebhookEvent } | { ok: false; reason: WebhookFailure }

/** 5.8, in its order: the signature over the raw bytes, then what they say. The header with a time is never looked at. */
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

const hmac = (bytes: Uint8Array, secret: string) => createHmac('sha256', secret).update(bytes).digest()

/** Every secret is tried, so that the time it takes says nothing about which one fitted. */
function isSigned(bytes: Uint8Array, signature: string, secrets: readonly string[]): boolean {
  if (!/^[0-9a-f]{64}$/.test(signature)) return false
  const given = Buffer.from(signature, 'hex')
  let fits = false
  for (const secret of secrets) fits = timingSafeEqual(hmac(bytes, secret), given) || fits
  return fits
}

/** An empty secret would let everybody sign. */
function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (secrets.length === 0 || secrets.some((one) => typeof one !== 'string' || one.length === 0)) {
    throw new TypeError(
      'The webhook secret is missing; it begins with pwhsec_ and was shown when the app was registered.',
    )
  }
  return secrets
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError(
    'rawBody must be the bytes of the request. A parsed body cannot be verified: writing it out again gives other bytes.',
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

/** What tells one event from another, the same on every retry, from what is signed. */
export function eventIdOf(event: WebhookEvent): string {
  if (typeof event.data.event_id === 'string') return event.data.event_id
  const { type, action, created_at, data } = event
  return createHash('sha256')
    .update(JSON.stringify([type, action, created_at, data]))
    .digest('hex')
}

/** Leaves out what the signer fills in. */
export type EventToSign = Pick<WebhookEvent, 'type' | 'action'> & { data: object } & Partial<
    Omit<WebhookEvent, 'type' | 'action' | 'data'>
  >

/** A delivery as the service makes one, for tests: the body's bytes and the headers that go with them. */
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

/** The headers for bytes that are there already. */
export const signedHeaders = (
  body: Uint8Array,
  type: string,
  { secret, now = new Date() }: { secret: string; now?: Date },
): Record<string, string> => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'Svc-Webhook/1',
  'svc-delivery': `dlv_${randomUUID()}`,
  'svc-event': type,
  'svc-signature': hmac(body, secret).toString('hex'),
  'svc-timestamp': String(now.getTime()),
})
