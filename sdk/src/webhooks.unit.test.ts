import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { prepare } from '../../server/src/delivery/message.ts'
import { eventIdOf, signedHeaders, signWebhook, standardSecret, verifyWebhook } from './webhooks.ts'

const secret = 'pwhsec_0123456789'
const now = new Date('2026-03-02T09:00:00.000Z')
const ping = { type: 'Ping', action: 'create', data: { webhook_id: 'whk_1', label: 'Über 😀' } } as const
const signed = (at = now) => signWebhook(ping, { secret, now: at })
const check = (rawBody: Uint8Array | string, headers: Record<string, string>, change = {}) =>
  verifyWebhook({ rawBody, headers, secret, now, ...change })

test('the standard form of a secret is whsec_ and its Base64', verifies('standard-webhook.whsec'), () => {
  expect(standardSecret('pwhsec_5f1c2d3e4b6a79808f9e')).toBe('whsec_cHdoc2VjXzVmMWMyZDNlNGI2YTc5ODA4Zjll')
})

test('the headers of Standard Webhooks are those of the service', verifies('standard-webhook.headers'), () => {
  const { body, headers } = signed()
  const signature = createHmac('sha256', secret)
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body)
    .digest('base64')
  expect(headers).toMatchObject({
    'webhook-id': headers['svc-delivery'],
    'webhook-timestamp': String(now.getTime() / 1000),
    'webhook-signature': `v1,${signature}`,
  })
})

describe('a signature', () => {
  // Computed with openssl: printf '<body>' | openssl dgst -sha256 -hmac pwhsec_test
  test.each([
    ['', 'cebd0e9b6847d82423f58c10471c24ca60858cefe68961f8d02bff175ef7f8f1'],
    ['{"type":"Ping"}', '5075db190405969b4326ad3c15c1b0d6b38b6e211aa86e86006db87a6170caa0'],
    ['{"label":"Über 😀"}', '4cecff403f6a42e3cbffe5429905460c3ac9c064464492980c59cd3efc522907'],
  ])('of %j is the lowercase hex HMAC-SHA256 of its bytes with the whole secret', (body, expected) => {
    const headers = signedHeaders(Buffer.from(body), 'Ping', { secret: 'pwhsec_test' })
    expect(headers['svc-signature']).toBe(expected)
    // The signature is valid, but the body is not an event.
    expect(verifyWebhook({ rawBody: body, headers, secret: 'pwhsec_test' })).toEqual({ ok: false, reason: 'not_json' })
  })

  test('is compared in constant time', async () => {
    const source = await readFile(new URL('./webhooks.ts', import.meta.url), 'utf8')
    expect(source).toContain('timingSafeEqual(hmac(bytes, secret), given)')
    expect(source).not.toMatch(/signature\)? ?===|=== ?signature/)
  })

  test('of the service is accepted, and the event is returned', () => {
    const envelope = JSON.stringify({ ...ping, actor: null, created_at: now.toISOString(), url: '', workspace_id: 'w' })
    const { body, headers } = prepare({ id: 'dlv_1', endpointId: 'whk_1', type: 'Ping', envelope }, secret, now)
    expect(check(body, headers)).toMatchObject({ ok: true, event: { type: 'Ping', data: ping.data } })
    expect(Object.keys(signed().headers)).toEqual(Object.keys(headers))
  })

  test('is found whatever the case of the header, in Headers and in plain objects', () => {
    const { body, headers } = signed()
    expect(verifyWebhook({ rawBody: body, headers: new Headers(headers), secret, now }).ok).toBe(true)
    expect(check(body, { 'Svc-Signature': headers['svc-signature'] ?? '' }).ok).toBe(true)
    expect(verifyWebhook({ rawBody: body, signature: headers['svc-signature'] ?? '', secret, now }).ok).toBe(true)
  })

  test('is refused if missing, short, in capitals, prefixed, doubled or of another secret', () => {
    const { body, headers } = signed()
    const signature = headers['svc-signature'] ?? ''
    expect(check(body, {})).toEqual({ ok: false, reason: 'missing_signature' })
    for (const wrong of [
      signature.slice(1),
      signature.toUpperCase(),
      `sha256=${signature}`,
      `${signature}, ${signature}`,
      'é'.repeat(64),
      createHmac('sha256', 'pwhsec_other').update(body).digest('hex'),
    ]) {
      expect(check(body, { 'svc-signature': wrong })).toEqual({ ok: false, reason: 'bad_signature' })
    }
  })

  test('is refused after a change of any byte', () => {
    const { body, headers } = signed()
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const changed = body.slice()
        changed[at] = (changed[at] ?? 0) ^ by
        expect(check(changed, headers)).toEqual({ ok: false, reason: 'bad_signature' })
      }),
    )
  })

  test('of any of several secrets is accepted', () => {
    const { body, headers } = signed()
    expect(check(body, headers, { secret: ['pwhsec_new', secret] }).ok).toBe(true)
    expect(check(body, headers, { secret: ['pwhsec_new'] }).ok).toBe(false)
  })
})

describe('the time of a delivery', () => {
  test.each([60_000, -60_000])('may differ by %i ms', (ms) => {
    const { body, headers } = signed(new Date(now.getTime() + ms))
    expect(check(body, headers).ok).toBe(true)
  })

  test.each([60_001, -60_001])('may not differ by %i ms', (ms) => {
    const { body, headers } = signed(new Date(now.getTime() + ms))
    expect(check(body, headers)).toEqual({ ok: false, reason: 'stale_timestamp' })
  })

  test('is taken from the signed body, not from the header', () => {
    const { body, headers } = signed()
    expect(check(body, { ...headers, 'svc-timestamp': '0' }).ok).toBe(true)
    const old = signed(new Date(0))
    expect(check(old.body, { ...old.headers, 'svc-timestamp': String(now.getTime()) }).ok).toBe(false)
  })
})

test.each(['', 'no', '[]', 'null', '{"type":"Ping"}', '{"type":"Ping","data":{},"webhook_timestamp":"1"}'])(
  'a signed body %j is not an event',
  (text) => {
    const body = Buffer.from(text)
    expect(check(body, signedHeaders(body, 'Ping', { secret }))).toEqual({ ok: false, reason: 'not_json' })
  },
)

test('distinguishes a signed event of an unknown type from a forged one', () => {
  const { body, headers } = signWebhook({ ...ping, type: 'Horse' as 'Ping' }, { secret, now })
  expect(check(body, headers)).toEqual({ ok: false, reason: 'unknown_event' })
})

test('throws for a parsed body and a missing secret', () => {
  const { body, headers } = signed()
  expect(() => verifyWebhook({ rawBody: JSON.parse(Buffer.from(body).toString()), headers, secret })).toThrow(/bytes/)
  for (const none of ['', [], ['']]) expect(() => check(body, headers, { secret: none })).toThrow(/secret is missing/)
})

test('identifies an event without event_id by its signed content, the same on every retry', () => {
  const of = (at: Date) => {
    const { body, headers } = signWebhook({ ...ping, created_at: now.toISOString() }, { secret, now: at })
    const verified = verifyWebhook({ rawBody: body, headers, secret, now: at })
    return verified.ok ? eventIdOf(verified.event) : ''
  }
  expect(of(now)).toMatch(/^[0-9a-f]{64}$/)
  expect(of(new Date(now.getTime() + 60_000))).toBe(of(now))
})
