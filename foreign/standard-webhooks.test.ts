import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { expect, vi } from 'vitest'
import { standardSecret } from '../sdk/src/webhooks.ts'
import { test, verifies } from '../server/test/harness.ts'
import type { Received } from '../server/test/receiver.ts'
import { only, webhookScene } from '../server/test/webhook.ts'

/** The library compares with the real time; the service under test has its own clock. */
function verified({ raw, headers }: Received, secret: string, now: Date) {
  vi.useFakeTimers({ now, toFake: ['Date'] })
  try {
    return new Webhook(standardSecret(secret)).verify(raw, headers as Record<string, string>)
  } finally {
    vi.useRealTimers()
  }
}

test(
  'the library standardwebhooks verifies a delivery with the whsec form of the secret only',
  verifies('standard-webhook.verified'),
  async ({ app, receiver }) => {
    const { issue, webhook } = await webhookScene(app, receiver)
    await issue('Ünïcode 🚀')
    await app.deliver()
    const got = only(receiver.take())
    expect(verified(got, webhook.secret, app.clock.now())).toEqual(got.body)
    expect(() => verified(got, 'pwhsec_another', app.clock.now())).toThrow(WebhookVerificationError)
    const forged = { ...got, raw: Buffer.from(got.raw.toString().replace('Ünïcode', 'Unicode')) }
    expect(() => verified(forged, webhook.secret, app.clock.now())).toThrow(WebhookVerificationError)
  },
)

test(
  'during an overlap it verifies with either secret',
  verifies('rotation.both-signatures'),
  async ({ app, receiver }) => {
    const { owner, path, issue, webhook } = await webhookScene(app, receiver)
    const { body: rotated } = await owner.post(`${path}/secret`, { overlap_hours: 24 })
    await issue()
    await app.deliver()
    const got = only(receiver.take())
    for (const secret of [webhook.secret, rotated.secret]) {
      expect(verified(got, secret, app.clock.now())).toEqual(got.body)
    }
    expect(() => verified(got, 'pwhsec_another', app.clock.now())).toThrow(WebhookVerificationError)
  },
)
