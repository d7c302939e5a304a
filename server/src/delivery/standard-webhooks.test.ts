import { expect } from 'vitest'
import { standardSecret } from '../../../sdk/src/webhooks.ts'
import { test, verifies } from '../../test/harness.ts'
import { asReceived, Listener, listenable } from '../../test/listener.ts'
import { isSigned, standardSignature } from '../../test/receiver.ts'
import { only, webhookScene } from '../../test/webhook.ts'

test(
  'deliveries and pings have the headers of Standard Webhooks, which their records show',
  verifies('standard-webhook.headers'),
  async ({ app, receiver }) => {
    const { owner, webhook, path, issue } = await webhookScene(app, receiver)
    await issue()
    await app.deliver()
    await owner.post(`${path}/test`)
    const received = receiver.take()
    expect(received.map(({ body }) => body.type)).toEqual(['Issue', 'Ping'])
    for (const got of received) {
      const { headers } = got
      expect(headers).toMatchObject({
        'webhook-id': headers['svc-delivery'],
        'webhook-timestamp': String(Math.floor(app.clock.now().getTime() / 1000)),
        'webhook-signature': standardSignature(got, webhook.secret),
        'svc-timestamp': String(app.clock.now().getTime()),
      })
      expect(isSigned(got, webhook.secret)).toBe(true)
      const { request } = (await owner.get(`${path}/deliveries/${headers['svc-delivery']}`)).body
      for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
        expect(request.headers[name]).toBe(headers[name])
      }
    }
  },
)

test(
  'each attempt has its own time and signature, the id stays',
  verifies('standard-webhook.headers'),
  async ({ app, receiver }) => {
    const { webhook, issue } = await webhookScene(app, receiver)
    receiver.answer = 500
    await issue()
    await app.deliver()
    const first = only(receiver.take())
    app.clock.advance({ minutes: 1 })
    await app.deliver()
    const second = only(receiver.take())
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
    expect(Number(second.headers['webhook-timestamp'])).toBe(Number(first.headers['webhook-timestamp']) + 60)
    expect(second.headers['webhook-signature']).toBe(standardSignature(second, webhook.secret))
  },
)

test(
  'an attempt relayed to a listener has them too',
  verifies('standard-webhook.headers'),
  async ({ app, receiver }) => {
    const { owner } = await app.workspace()
    const { id, issue, secret } = await listenable(app, owner, receiver.url)
    const listener = await Listener.of(owner, id, { takeOver: true })
    const key = await secret()
    await issue()
    const delivering = app.deliver()
    const received = asReceived(await listener.take())
    await delivering
    expect(received.headers['webhook-id']).toBe(received.headers['svc-delivery'])
    expect(received.headers['webhook-signature']).toBe(standardSignature(received, key))
  },
)

test(
  'the bytes in the whsec form of the secret verify the raw body, others do not',
  verifies('standard-webhook.verified', 'standard-webhook.whsec'),
  async ({ app, receiver }) => {
    const { owner, path, webhook, issue } = await webhookScene(app, receiver)
    const standard = standardSecret(webhook.secret)
    expect(standard).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/)
    const key = Buffer.from(standard.slice('whsec_'.length), 'base64')
    await issue()
    await app.deliver()
    const got = only(receiver.take())
    expect(got.headers['webhook-signature']).toBe(standardSignature(got, key))
    expect(got.headers['webhook-signature']).not.toBe(standardSignature(got, 'pwhsec_another'))
    // The API's answers have no further key.
    expect(Object.keys((await owner.get(`${path}/secret`)).body)).toEqual(['secret'])
  },
)
