import { createServer } from 'node:net'
import { describe, expect } from 'vitest'
import { TestDns } from '../../test/dns.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { isSigned, type Received, type Receiver } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { GuardedClient } from '../outbound/client.ts'
import { Doorbell } from './doorbell.ts'
import { DeliveryWorker } from './worker.ts'

/** A workspace with a webhook for issues of all teams, and somebody to make some. */
async function scene(app: TestApp, receiver: Receiver, label = 'Chat') {
  const { id: workspaceId, owner, admin, member } = await app.workspace()
  const { body: webhook } = await owner.post('/webhooks', {
    label,
    url: receiver.url,
    all_teams: true,
    resource_types: ['Issue'],
  })
  const path = `/webhooks/${webhook.id}`
  return {
    owner,
    admin,
    member,
    workspaceId,
    webhook,
    path,
    issue: async (title = 'A bug') => (await owner.post('/issues', { title })).body,
    deliveries: async (query = '') => (await owner.get(`${path}/deliveries${query}`)).body.data,
    state: async () => (await owner.get(path)).body.state,
  }
}

const only = (received: Received[]): Received => {
  expect(received).toHaveLength(1)
  return received[0] as Received
}

describe('a delivery', () => {
  test(
    'is a signed POST that says what happened, to whom and when',
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
      const happened = app.clock.now()
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
        created_at: happened.toISOString(),
        data,
        url,
        workspace_id: workspaceId,
        webhook_id: webhook.id,
        webhook_timestamp: at,
      })
    },
  )

  test(
    'that fails is tried after a minute, an hour and six hours, and then has failed',
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

  test('waits as long as the operator says', verifies('config.retry-delays'), async ({ startApp, receiver }) => {
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
    'arrives with the same id and data once the receiver is back',
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
    'has an id of its own for each event and each webhook',
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

describe('an attempt', () => {
  test.for([
    [302, 'redirect'],
    [304, 'redirect'],
    [400, 'http_error'],
    [410, 'http_error'],
    [500, 'http_error'],
  ] as const)(
    'answered by %i is a %s',
    verifies(
      'delivery.redirect-is-failed-attempt',
      'delivery.http-error',
      'delivery.record-fields',
      'delivery.attempt-fields',
    ),
    async ([status, reason], { app, receiver }) => {
      const { issue, deliveries } = await scene(app, receiver)
      receiver.answer = (response) =>
        response.writeHead(status, { location: `${receiver.url}/elsewhere` }).end(status === 304 ? undefined : 'no')
      const created_at = app.clock.now().toISOString()
      await issue()
      await app.deliver()
      expect(receiver.take()).toHaveLength(1)
      expect(await deliveries()).toEqual([
        {
          id: expect.stringMatching(/^dlv_/),
          event_id: expect.stringMatching(/^evt_/),
          type: 'Issue',
          action: 'create',
          status: 'pending',
          created_at,
          next_attempt_at: expect.any(String),
          attempts: [
            {
              number: 1,
              started_at: created_at,
              duration_ms: expect.any(Number),
              http_status: status,
              reason,
              response_excerpt: status === 304 ? '' : 'no',
            },
          ],
        },
      ])
    },
  )

  test('that nobody answers in 5 seconds is a timeout', verifies('delivery.deadline-5s'), async ({ app, receiver }) => {
    const { issue, deliveries } = await scene(app, receiver)
    receiver.answer = () => {}
    await issue()
    const arrived = receiver.next()
    const delivering = app.deliver()
    await arrived
    app.clock.advance({ seconds: 5 })
    await delivering
    expect(await deliveries()).toMatchObject([
      { status: 'pending', attempts: [{ http_status: null, reason: 'timeout', response_excerpt: null }] },
    ])
  })

  test('that cannot connect is a network error', verifies('delivery.network-error'), async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, 'localhost', resolve))
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    await owner.patch(path, { url: `http://localhost:${port}/` })
    await issue()
    await app.deliver()
    expect(await deliveries()).toMatchObject([{ attempts: [{ http_status: null, reason: 'network_error' }] }])
  })

  test(
    'at an address that is not public any more sends nothing',
    verifies('delivery.blocked-destination'),
    async ({ app, receiver }) => {
      const { issue, deliveries, webhook } = await scene(app, receiver)
      const { port } = new URL(receiver.url)
      for (const url of [`http://127.0.0.1:${port}/`, `https://u@localhost:${port}/`, 'https://10.0.0.1/']) {
        await app.ctx.db.run(sql`update endpoints set url = ${url} where id = ${webhook.id}`)
        await issue()
        await app.deliver()
        const [newest] = await deliveries()
        expect(newest).toMatchObject({ attempts: [{ http_status: null, reason: 'blocked_destination' }] })
      }
      expect(receiver.take()).toEqual([])
    },
  )

  test(
    'keeps a thousand characters of the answer, whatever they are',
    verifies('delivery.response-excerpt-limit'),
    async ({ app, receiver }) => {
      const { issue, deliveries } = await scene(app, receiver)
      const answers: [Buffer, string][] = [
        [Buffer.from('x'.repeat(1000)), 'x'.repeat(1000)],
        [Buffer.from('x'.repeat(70_000)), 'x'.repeat(1000)],
        [Buffer.from('🚀'.repeat(1001)), '🚀'.repeat(1000)],
        [Buffer.from([0x61, 0, 0x62, 0xff, 0xfe, 0x63]), 'a\ufffdb\ufffd\ufffdc'],
        [Buffer.alloc(0), ''],
      ]
      for (const [bytes, kept] of answers) {
        receiver.answer = (response) => response.writeHead(200).end(bytes)
        await issue()
        await app.deliver()
        const [newest] = await deliveries()
        expect(newest).toMatchObject({ status: 'succeeded', attempts: [{ response_excerpt: kept }] })
      }
    },
  )

  test(
    'is signed with the secret of that moment',
    verifies('delivery.secret-of-the-moment', 'webhook.secret-rotate'),
    async ({ app, receiver }) => {
      const { owner, webhook, path, issue } = await scene(app, receiver)
      receiver.answer = 500
      await issue()
      await app.deliver()
      expect(isSigned(only(receiver.take()), webhook.secret)).toBe(true)
      const { body: rotated } = await owner.post(`${path}/secret`)
      expect(rotated.secret).not.toBe(webhook.secret)
      app.clock.advance({ minutes: 1 })
      await app.deliver()
      const retry = only(receiver.take())
      expect(isSigned(retry, rotated.secret)).toBe(true)
      expect(isSigned(retry, webhook.secret)).toBe(false)
    },
  )
})

describe('a list of deliveries', () => {
  test(
    'is newest first, by status and by page, and shows what was sent',
    verifies('delivery.webhook-list', 'delivery.detail-adds-request', 'delivery.secrets-never-in-record'),
    async ({ app, receiver }) => {
      const { owner, path, webhook, issue, deliveries } = await scene(app, receiver)
      for (let made = 0; made < 3; made++) await issue(`Fine ${made}`)
      await app.deliver()
      receiver.answer = 500
      await issue('Bad')
      await app.deliver()
      const sent = receiver.take().at(-1) as Received
      const all = await deliveries()
      expect(all.map(({ status }: { status: string }) => status)).toEqual([
        'pending',
        'succeeded',
        'succeeded',
        'succeeded',
      ])
      expect(await deliveries('?status=pending')).toEqual([all[0]])
      expect(await deliveries('?status=succeeded')).toEqual(all.slice(1))
      expect(await deliveries('?status=failed')).toEqual([])
      expect((await owner.get(`${path}/deliveries?status=lost`)).status).toBe(422)
      const first = (await owner.get(`${path}/deliveries?limit=3`)).body
      const second = (await owner.get(`${path}/deliveries?limit=3&cursor=${first.next_cursor}`)).body
      expect([...first.data, ...second.data]).toEqual(all)
      expect(second.next_cursor).toBeNull()

      const { body: detail } = await owner.get(`${path}/deliveries/${all[0].id}`)
      const { request, ...record } = detail
      expect(record).toEqual(all[0])
      expect(request.body).toBe(sent.raw.toString())
      for (const [name, value] of Object.entries(request.headers)) expect(sent.headers[name]).toBe(value)
      expect(JSON.stringify([all, detail])).not.toContain(webhook.secret.slice(10))
      expect((await owner.get(`${path}/deliveries/dlv_nothing`)).status).toBe(404)
    },
  )

  test('shows one that was never attempted without a request', async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    await issue()
    const [waiting] = await deliveries()
    expect(waiting).toMatchObject({ status: 'pending', attempts: [], next_attempt_at: waiting.created_at })
    expect((await owner.get(`${path}/deliveries/${waiting.id}`)).body).toEqual({ ...waiting, request: null })
  })

  test('of another webhook or workspace is not there', async ({ app, receiver }) => {
    const one = await scene(app, receiver)
    const other = await scene(app, receiver)
    await one.issue()
    const [delivery] = await one.deliveries()
    const second = await one.owner.post('/webhooks', {
      label: 'Second',
      url: receiver.url,
      all_teams: true,
      resource_types: ['Issue'],
    })
    const ways: [TestPerson, string][] = [
      [other.owner, `${one.path}/deliveries`],
      [other.owner, `${one.path}/deliveries/${delivery.id}`],
      [other.owner, `${other.path}/deliveries/${delivery.id}`],
      [one.owner, `/webhooks/${second.body.id}/deliveries/${delivery.id}`],
    ]
    for (const [person, path] of ways) expect((await person.get(path)).status).toBe(404)
    for (const [person, path] of ways.slice(1)) {
      const refused = await app.unchanged(() => person.post(`${path}/redeliver`))
      expect(refused).toMatchObject({ status: 404 })
    }
  })
})

describe('a redelivery', () => {
  test(
    'is one extra attempt with the same id, numbered on, that only success can change anything by',
    verifies('delivery.redeliver-webhook', 'delivery.redeliver-rules'),
    async ({ app, receiver }) => {
      const { owner, path, issue, deliveries, state } = await scene(app, receiver)
      receiver.answer = 500
      await issue()
      await app.deliver()
      const original = only(receiver.take())
      const [before] = await deliveries()
      const redeliver = () => owner.post(`${path}/deliveries/${before.id}/redeliver`)

      expect(await redeliver()).toMatchObject({ status: 202, body: before })
      await app.deliver()
      const again = only(receiver.take())
      expect(again.headers['svc-delivery']).toBe(original.headers['svc-delivery'])
      expect(again.body.data).toEqual(original.body.data)
      const [after] = await deliveries()
      expect(after).toMatchObject({ status: 'pending', next_attempt_at: before.next_attempt_at })
      expect(after.attempts).toHaveLength(2)

      // The schedule goes on as if nothing had happened: three more attempts by itself.
      for (const delay of [{ minutes: 1 }, { hours: 1 }, { hours: 6 }]) {
        app.clock.advance(delay)
        await app.deliver()
      }
      const [failed] = await deliveries()
      expect(failed).toMatchObject({ status: 'failed' })
      expect(failed.attempts.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3, 4, 5])

      for (let times = 0; times < 3; times++) {
        await redeliver()
        await app.deliver()
      }
      expect(await deliveries()).toMatchObject([{ status: 'failed' }])
      expect(await state()).toBe('enabled')
      receiver.answer = 200
      await owner.post(`${path}/disable`)
      await redeliver()
      await app.deliver()
      expect(await deliveries()).toMatchObject([{ status: 'succeeded', next_attempt_at: null }])
      expect(await state()).toBe('disabled')
    },
  )

  test('asked for twice before it is made is made once', async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    await issue()
    await app.deliver()
    const [{ id }] = await deliveries()
    for (let times = 0; times < 3; times++) {
      expect((await owner.post(`${path}/deliveries/${id}/redeliver`)).status).toBe(202)
    }
    await app.deliver()
    expect(receiver.take()).toHaveLength(2)
  })

  test('of what was canceled is refused', verifies('delivery.redeliver-rules'), async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    await issue()
    await app.rung()
    const [{ id }] = await deliveries()
    await app.ctx.db.run(sql`update deliveries set status = 'canceled', next_at = null where id = ${id}`)
    const refused = await app.unchanged(() => owner.post(`${path}/deliveries/${id}/redeliver`))
    expect(refused).toMatchObject({ status: 409, body: { code: 'DELIVERY_CANCELED' } })
  })

  test('is possible a hundred times at most', async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    await issue()
    await app.deliver()
    const [{ id }] = await deliveries()
    const redeliver = () => owner.post(`${path}/deliveries/${id}/redeliver`)
    await app.ctx.db.run(sql`update deliveries set attempts = 99 where id = ${id}`)
    expect((await redeliver()).status).toBe(202)
    await app.deliver()
    const refused = await app.unchanged(redeliver)
    expect(refused).toMatchObject({ status: 409, body: { code: 'REDELIVERY_LIMIT_REACHED' } })
  })
})

describe('while a webhook is disabled', () => {
  test(
    'what is pending is held and what happens is not delivered, not even afterwards',
    verifies(
      'delivery.pending-held-and-resumed',
      'delivery.none-created-while-disabled',
      'webhook.disable',
      'webhook.enable',
    ),
    async ({ app, receiver }) => {
      const { owner, path, issue, deliveries } = await scene(app, receiver)
      receiver.answer = 500
      await issue('Before')
      await app.deliver()
      await issue('Just before')
      receiver.take()
      expect((await owner.post(`${path}/disable`)).body.state).toBe('disabled')
      await issue('Meanwhile')
      app.clock.advance({ days: 2 })
      await app.deliver()
      expect(receiver.take()).toEqual([])
      expect(await deliveries()).toMatchObject([
        { status: 'pending', attempts: [] },
        { status: 'pending', attempts: [{ number: 1 }] },
      ])
      receiver.answer = 200
      expect((await owner.post(`${path}/enable`)).body.state).toBe('enabled')
      await app.deliver()
      const titles = () => receiver.take().map(({ body }) => body.data.title)
      expect(titles().sort()).toEqual(['Before', 'Just before'])
      await issue('After')
      await app.deliver()
      expect(titles()).toEqual(['After'])
    },
  )

  test('for 30 days what was held is canceled', verifies('delivery.held-expire'), async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    await issue()
    await owner.post(`${path}/disable`)
    app.clock.advance({ days: 15 })
    await owner.get(path) // keeps the login alive
    app.clock.advance({ days: 15, milliseconds: -1 })
    await sweep(app.ctx)
    expect(await deliveries()).toMatchObject([{ status: 'pending' }])
    app.clock.advance({ milliseconds: 1 })
    await sweep(app.ctx)
    expect(await deliveries()).toMatchObject([{ status: 'canceled', next_attempt_at: null }])
    await owner.post(`${path}/enable`)
    await app.deliver()
    expect(receiver.take()).toEqual([])
  })
})

test(
  'deleting a webhook cancels what is pending, also what is being sent',
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
  'a name that does not resolve is accepted when saved and a network error when tried',
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
    await app.rung()
    const ctx = { ...app.ctx, outbound }
    await new DeliveryWorker(ctx, new Doorbell(ctx.db, ctx.clock, ctx.log)).drain()
    expect(dns.queries['nothing-here.invalid']).toBeGreaterThan(0)
    expect(await deliveries()).toMatchObject([{ attempts: [{ http_status: null, reason: 'network_error' }] }])
    await outbound.close()
    dns.stop()
  },
)
