import { describe, expect } from 'vitest'
import { TestDns } from '../../test/dns.ts'
import { test, verifies } from '../../test/harness.ts'
import { isSigned, type Received } from '../../test/receiver.ts'
import { only, webhookScene as scene } from '../../test/webhook.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { GuardedClient } from '../outbound/client.ts'
import { EndpointWaker } from './endpoint-waker.ts'
import { DeliveryWorker } from './worker.ts'

describe('a delivery', () => {
  test(
    'is a signed POST with the envelope of the event',
    verifies(
      'delivery.post-json',
      'delivery.user-agent',
      'delivery.svc-event-header',
      'delivery.svc-timestamp',
      'delivery.signature',
      'envelope.fields',
      'envelope.type-equals-header',
      'envelope.workspace-id',
      'envelope.webhook-id',
      'envelope.webhook-timestamp',
      'envelope.created-at',
      'envelope.actor-shape',
    ),
    async ({ app, receiver }) => {
      const { owner, workspaceId, webhook, issue } = await scene(app, receiver)
      const made = await issue('Ünïcode 🚀')
      const recordedAt = app.clock.now()
      app.clock.advance({ seconds: 2 })
      await app.deliver()
      const got = only(receiver.take())
      const at = app.clock.now().getTime()
      expect(got).toMatchObject({ method: 'POST', path: '/hook' })
      expect(got.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Svc-Webhook/1',
        'svc-event': 'Issue',
        'svc-timestamp': String(at),
      })
      expect(got.headers['svc-delivery']).toMatch(/^dlv_[0-9a-hjkmnp-tv-z]{26}$/)
      expect(got.headers['svc-signature']).toMatch(/^[0-9a-f]{64}$/)
      expect(isSigned(got, webhook.secret)).toBe(true)
      expect(isSigned(got, webhook.secret.slice('pwhsec_'.length))).toBe(false)
      const { url, personal: _, sort_order: __, ...data } = made
      expect(got.body).toEqual({
        action: 'create',
        type: 'Issue',
        actor: { id: owner.user.id, type: 'user', name: owner.user.display_name },
        created_at: recordedAt.toISOString(),
        data,
        url,
        workspace_id: workspaceId,
        webhook_id: webhook.id,
        webhook_timestamp: at,
      })
    },
  )

  test(
    'is retried after a minute, an hour and six hours, and then marked failed',
    verifies(
      'delivery.retry-schedule',
      'delivery.failed-after-fourth',
      'delivery.svc-delivery-stable',
      'delivery.signature-per-attempt',
      'delivery.svc-timestamp',
      'envelope.created-at',
      'envelope.webhook-timestamp',
      'config.retry-delays',
      'delivery.webhook-list',
    ),
    async ({ app, receiver }) => {
      const { webhook, issue, deliveries } = await scene(app, receiver)
      receiver.answer = 500
      await issue()
      await app.deliver()
      const attempts = [only(receiver.take())]
      for (const delay of [{ minutes: 1 }, { hours: 1 }, { hours: 6 }]) {
        const [before] = await deliveries()
        expect(before).toMatchObject({ status: 'pending' })
        app.clock.advance(delay)
        expect(before.next_attempt_at).toBe(app.clock.now().toISOString())
        app.clock.advance({ milliseconds: -1 })
        await app.deliver()
        expect(receiver.take()).toEqual([])
        app.clock.advance({ milliseconds: 1 })
        await app.deliver()
        attempts.push(only(receiver.take()))
      }
      expect((await deliveries())[0]).toMatchObject({ status: 'failed', next_attempt_at: null })
      app.clock.advance({ days: 20 })
      await app.deliver()
      expect(receiver.take()).toEqual([])

      const [delivery] = await deliveries()
      expect(delivery.attempts.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3, 4])
      const distinct = (of: (one: Received) => unknown) => new Set(attempts.map(of)).size
      expect(distinct(({ headers }) => headers['svc-delivery'])).toBe(1)
      expect(attempts[0]?.headers['svc-delivery']).toBe(delivery.id)
      expect(distinct(({ headers }) => headers['svc-timestamp'])).toBe(4)
      expect(distinct(({ headers }) => headers['svc-signature'])).toBe(4)
      expect(distinct(({ body }) => body.webhook_timestamp)).toBe(4)
      expect(distinct(({ body: { webhook_timestamp: _, ...rest } }) => JSON.stringify(rest))).toBe(1)
      for (const one of attempts) expect(isSigned(one, webhook.secret)).toBe(true)
      for (const { headers, body } of attempts) {
        expect(headers['svc-timestamp']).toBe(String(body.webhook_timestamp))
      }
    },
  )

  test('is retried after the configured delays', verifies('config.retry-delays'), async ({ startApp, receiver }) => {
    const app = await startApp({ BATON_RETRY_DELAYS: '5,7' })
    const { issue, deliveries } = await scene(app, receiver)
    receiver.answer = 500
    await issue()
    await app.deliver()
    for (const seconds of [5, 7]) {
      app.clock.advance({ seconds })
      await app.deliver()
    }
    expect(receiver.take()).toHaveLength(3)
    expect(await deliveries()).toMatchObject([{ status: 'failed' }])
  })

  test(
    'arrives with the same id and data when the receiver recovers',
    verifies('delivery.at-least-once', 'delivery.any-2xx-succeeds'),
    async ({ app, receiver }) => {
      const { issue, deliveries } = await scene(app, receiver)
      receiver.answer = 503
      await issue()
      await app.deliver()
      const first = only(receiver.take())
      receiver.answer = 200
      app.clock.advance({ minutes: 1 })
      await app.deliver()
      const second = only(receiver.take())
      expect(second.headers['svc-delivery']).toBe(first.headers['svc-delivery'])
      expect(second.body.data).toEqual(first.body.data)
      expect(await deliveries()).toMatchObject([{ status: 'succeeded', next_attempt_at: null }])
      app.clock.advance({ days: 1 })
      await app.deliver()
      expect(receiver.take()).toEqual([])
    },
  )

  test('succeeds on any 2xx', verifies('delivery.any-2xx-succeeds'), async ({ app, receiver }) => {
    const { issue, deliveries } = await scene(app, receiver)
    for (const status of [200, 201, 202, 204, 206, 299]) {
      receiver.answer = status
      await issue()
      await app.deliver()
      const [delivery] = await deliveries()
      expect(delivery).toMatchObject({ status: 'succeeded', attempts: [{ http_status: status, reason: null }] })
    }
  })

  test(
    'has a different id for each event and each webhook',
    verifies('delivery.svc-delivery-stable', 'delivery.svc-delivery-per-webhook'),
    async ({ app, receiver }) => {
      const { owner, issue } = await scene(app, receiver)
      await owner.post('/webhooks', {
        label: 'Second',
        url: receiver.url,
        all_teams: true,
        resource_types: ['Issue', 'Project'],
      })
      await issue()
      await issue()
      await app.deliver()
      const ids = receiver.take().map(({ headers }) => headers['svc-delivery'])
      expect(ids).toHaveLength(4)
      expect(new Set(ids).size).toBe(4)
    },
  )
})

test(
  'deleting a webhook cancels its pending deliveries, even those being sent',
  verifies('delivery.webhook-delete-cancels', 'webhook.delete'),
  async ({ app, receiver }) => {
    const { owner, path, webhook, issue } = await scene(app, receiver)
    receiver.answer = 500
    await issue('Failing')
    await app.deliver()
    let answer = () => {}
    receiver.answer = (response) => {
      answer = () => response.writeHead(500).end()
    }
    await issue('Under way')
    const arrived = receiver.next()
    const delivering = app.deliver()
    await arrived
    expect((await owner.delete(path)).status).toBe(204)
    answer()
    await delivering
    receiver.answer = 200
    receiver.take()
    await issue('Too late')
    app.clock.advance({ days: 1 })
    await app.deliver()
    expect(receiver.take()).toEqual([])
    const rows = await app.ctx.db.rows<{ status: string }>(
      sql`select status from deliveries where endpoint_id = ${webhook.id}`,
    )
    expect(rows.map(({ status }) => status)).toEqual(['canceled', 'canceled'])
    for (const rest of ['', '/secret', '/deliveries']) expect((await owner.get(path + rest)).status).toBe(404)
    expect((await owner.get('/webhooks')).body.data).toEqual([])
  },
)

test(
  'deliveries, their attempts and events are kept for 30 days',
  verifies('delivery.retention-30-days'),
  async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    const count = () =>
      app.ctx.db.row(sql`
        select (select count(*) from deliveries) as deliveries, (select count(*) from attempts) as attempts,
          (select count(*) from events) as events`)
    await issue('Old')
    await app.deliver()
    app.clock.advance({ days: 15 })
    await owner.get(path)
    await issue('Newer')
    await app.deliver()
    app.clock.advance({ days: 15 })
    await sweep(app.ctx)
    expect(await count()).toEqual({ deliveries: 2, attempts: 2, events: 2 })
    app.clock.advance({ milliseconds: 1 })
    await sweep(app.ctx)
    expect(await count()).toEqual({ deliveries: 1, attempts: 1, events: 1 })
    expect(await deliveries()).toHaveLength(1)
    await owner.delete(path)
    for (const _ of [1, 2]) {
      app.clock.advance({ days: 31 })
      await sweep(app.ctx)
    }
    expect(await app.ctx.db.rows(sql`select id from endpoints`)).toEqual([])
  },
)

test(
  'a host name that does not resolve is accepted when saved and a network error when attempted',
  verifies('delivery.no-dns-at-save', 'delivery.network-error'),
  async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    const dns = await TestDns.start()
    const outbound = new GuardedClient({ allow: [], clock: app.clock, dnsServers: [dns.address] })
    const saved = await owner.patch(path, { url: 'https://nothing-here.invalid/' })
    expect(saved.status).toBe(200)
    expect(dns.queries).toEqual({})
    await issue()
    await app.endpointsWoken()
    const ctx = { ...app.ctx, outbound }
    await new DeliveryWorker(ctx, new EndpointWaker(ctx.db, ctx.clock, ctx.log)).drain()
    expect(dns.queries['nothing-here.invalid']).toBeGreaterThan(0)
    expect(await deliveries()).toMatchObject([{ attempts: [{ http_status: null, reason: 'network_error' }] }])
    await outbound.close()
    dns.stop()
  },
)
