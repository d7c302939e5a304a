import { describe, expect } from 'vitest'
import { type TestPerson, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import type { Received } from '../../test/receiver.ts'
import { only, webhookScene as scene } from '../../test/webhook.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'

describe('a list of deliveries', () => {
  test(
    'is newest first, filtered by status, paged, and shows the request',
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

  test('shows no request before the first attempt', async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    await issue()
    const [waiting] = await deliveries()
    expect(waiting).toMatchObject({ status: 'pending', attempts: [], next_attempt_at: waiting.created_at })
    expect((await owner.get(`${path}/deliveries/${waiting.id}`)).body).toEqual({ ...waiting, request: null })
  })

  test('of another webhook or workspace is not found', async ({ app, receiver }) => {
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
    'is one extra attempt with the same id and the next number, and changes the status only if it succeeds',
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

      // The schedule is unchanged: three more attempts follow.
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

  test('requested twice before it is sent is sent once', async ({ app, receiver }) => {
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

  test('of a canceled delivery is refused', verifies('delivery.redeliver-rules'), async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    await issue()
    await app.endpointsWoken()
    const [{ id }] = await deliveries()
    await app.ctx.db.run(sql`update deliveries set status = 'canceled', next_at = null where id = ${id}`)
    const refused = await app.unchanged(() => owner.post(`${path}/deliveries/${id}/redeliver`))
    expect(refused).toMatchObject({ status: 409, body: { code: 'DELIVERY_CANCELED' } })
  })

  test('is refused after a hundred redeliveries', verifies('delivery.redelivery-limit'), async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    await issue()
    await app.deliver()
    const [{ id }] = await deliveries()
    const redeliver = () => owner.post(`${path}/deliveries/${id}/redeliver`)
    for (let times = 0; times < 100; times++) expect((await redeliver()).status).toBe(202)
    await app.deliver()
    receiver.take()
    const refused = await app.unchanged(redeliver)
    expect(refused).toMatchObject({ status: 409, body: { code: 'REDELIVERY_LIMIT_REACHED' } })
    await app.deliver()
    expect(receiver.take()).toEqual([])
    // Each delivery has its own count.
    await issue('Another')
    const [another] = await deliveries()
    expect((await owner.post(`${path}/deliveries/${another.id}/redeliver`)).status).toBe(202)
  })

  test(
    'is counted when requested concurrently',
    verifiesOnPostgres('delivery.redelivery-limit'),
    async ({ app, receiver }) => {
      const { owner, path, issue, deliveries } = await scene(app, receiver)
      await issue()
      await app.deliver()
      const [{ id }] = await deliveries()
      await app.ctx.db.run(sql`update deliveries set redeliveries = 95 where id = ${id}`)
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => owner.post(`${path}/deliveries/${id}/redeliver`)),
      )
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(5)
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(7)
    },
  )
})

describe('while a webhook is disabled', () => {
  test(
    'pending deliveries are held and new events create none',
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

  test(
    'as failing, new events create none either, also not after it is enabled again',
    verifies('delivery.none-created-while-disabled'),
    async ({ startApp, receiver }) => {
      const app = await startApp({ BATON_RETRY_DELAYS: '0,0,0' })
      const { owner, path, issue, deliveries, state } = await scene(app, receiver)
      receiver.answer = 500
      for (let made = 0; made < 3; made++) await issue('Before')
      await app.deliver()
      expect(await state()).toBe('failing')
      receiver.take()
      receiver.answer = 200
      await issue('Meanwhile')
      await app.deliver()
      expect(await deliveries()).toHaveLength(3)
      expect((await owner.post(`${path}/enable`)).body.state).toBe('enabled')
      await app.deliver()
      expect(receiver.take()).toEqual([])
      await issue('After')
      await app.deliver()
      expect(only(receiver.take()).body.data.title).toBe('After')
      expect(await deliveries()).toHaveLength(4)
    },
  )

  test(
    'for 30 days its held deliveries are canceled',
    verifies('delivery.held-expire'),
    async ({ startApp, receiver }) => {
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
    },
  )
})
