import { setImmediate } from 'node:timers/promises'
import { limits, listenUrl } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifiesOnPostgres } from '../../test/harness.ts'
import { asReceived, heartbeat, Listener, listenable, waitForNoListener } from '../../test/listener.ts'
import { OtherWorker } from '../../test/other-worker.ts'
import { isSigned } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'
import { EndpointWaker } from '../delivery/endpoint-waker.ts'
import { prepare } from '../delivery/message.ts'
import { send } from '../delivery/send.ts'
import type { Claimed } from '../delivery/stages.ts'
import { DeliveryWorker } from '../delivery/worker.ts'
import { record } from '../events/record.ts'
import { sweep } from '../housekeeping.ts'
import { newId } from '../ids.ts'

/** Records an event with a body of at least `bytes`. */
const recordEvent = (app: TestApp, workspaceId: string, bytes = 0) =>
  app.ctx.db.tx((tx) => {
    const data = {
      id: newId('iss'),
      code: 'ENG-1',
      title: 'A bug',
      description: 'x'.repeat(bytes),
      updated_at: app.clock.now().toISOString(),
    }
    return record({ tx, now: app.clock.now(), caller: { id: null, workspaceId } }, [
      { type: 'Issue', action: 'update', actor: null, data, url: '', teamIds: [] },
    ])
  })

const prepared = ({ ctx, clock }: TestApp, one: Claimed) =>
  prepare(one, ctx.keys.open(one.secret, one.endpointId), clock.now())

const left = ({ ctx }: TestApp) => ctx.db.rows(sql`select id from relayed_attempts`)

describe('a relayed attempt', () => {
  test('arrives complete, with a megabyte each and eight at once', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, secret, deliveries } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    const key = await secret()
    for (let count = 0; count < 9; count++) await recordEvent(app, owner.workspaceId, 1024 * 1024)
    const alarms = app.clock.waiting
    const delivering = app.deliver()
    const attempts = []
    for (let count = 0; count < 8; count++) attempts.push(await listener.attempt())
    expect(await left(app)).toHaveLength(8)
    for (const attempt of attempts) {
      const received = asReceived(attempt)
      expect(received.raw.length).toBeGreaterThan(1024 * 1024)
      expect(isSigned(received, key)).toBe(true)
      await listener.answer(attempt, { status: 200 })
    }
    await listener.take()
    await delivering
    expect((await deliveries()).map(({ status }: { status: string }) => status)).toEqual(Array(9).fill('succeeded'))
    // Nothing is left in the database or in memory.
    expect(await left(app)).toEqual([])
    expect(app.clock.waiting).toBe(alarms)
  })

  test('is a network error if it is larger than any event', async ({ app }) => {
    const request = { endpointId: 'whk_x', deliveryId: 'dlv_x', url: listenUrl, headers: {} }
    const sent = (bytes: number) => app.ctx.relay.send({ ...request, body: Buffer.alloc(bytes) })
    expect(await sent(limits.relayedBytes)).toBeUndefined()
    expect(await sent(limits.relayedBytes + 1)).toMatchObject({ ok: false, reason: 'network_error' })
  })

  test('has all slots, even if the URL is struggling', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id } = await listenable(app, owner, receiver.url)
    const struggling = async () =>
      (await app.ctx.db.row<{ is: boolean }>(sql`select struggling as is from endpoints`))?.is
    await app.ctx.db.run(sql`update endpoints set struggling = true`)
    const listener = await Listener.of(owner, id, { takeOver: true })
    for (let count = 0; count < 2; count++) await recordEvent(app, owner.workspaceId)
    const delivering = app.deliver()
    const attempts = [await listener.attempt(), await listener.attempt()]
    for (const attempt of attempts) await listener.answer(attempt, { status: 200 })
    await delivering
    expect(await struggling()).toBe(true)
    await app.ctx.db.run(sql`update endpoints set struggling = false`)
    await recordEvent(app, owner.workspaceId)
    const again = app.deliver()
    await listener.attempt()
    app.clock.advance({ seconds: 5 })
    await again
    expect(await struggling()).toBe(false)
  })

  test('is a timeout if the listener disconnects, and the retry goes to the URL', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, deliveries } = await listenable(app, owner, receiver.url)
    const listener = await Listener.of(owner, id, { takeOver: true })
    await recordEvent(app, owner.workspaceId)
    const delivering = app.deliver()
    const attempt = await listener.attempt()
    listener.close()
    await waitForNoListener(owner, id)
    app.clock.advance({ seconds: 5 })
    await delivering
    expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: [{ reason: 'timeout' }] }])
    app.clock.advance({ hours: 1 })
    await app.deliver()
    expect(receiver.take().map(({ headers }) => headers['svc-delivery'])).toEqual([attempt.delivery_id])
    expect(await deliveries()).toMatchObject([{ status: 'succeeded' }])
    expect(await left(app)).toEqual([])
  })

  test('goes to the URL if the listener left after the claim', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id } = await listenable(app, owner, receiver.url)
    const listener = await Listener.of(owner, id, { takeOver: true })
    await recordEvent(app, owner.workspaceId)
    await app.endpointsWoken()
    const [one] = (await new OtherWorker(app).claim()).claimed
    expect(one?.hasListener).toBe(true)
    listener.close()
    await waitForNoListener(owner, id)
    expect(await send(app.ctx, one as Claimed, prepared(app, one as Claimed))).toMatchObject({
      outcome: { ok: true },
      relayed: false,
    })
    expect(receiver.take()).toHaveLength(1)
  })

  test('is sent again if the worker dies', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, deliveries } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    await recordEvent(app, owner.workspaceId)
    await app.endpointsWoken()
    // A worker that dies after it has read the answer.
    const [one] = (await new OtherWorker(app).claim()).claimed as [Claimed]
    const sending = send(app.ctx, one, prepared(app, one))
    await listener.take()
    expect(await sending).toMatchObject({ outcome: { ok: true }, relayed: true })
    expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: [] }])
    for (let beats = 0; beats < 2; beats++) await heartbeat(app, id)
    const delivering = app.deliver()
    expect((await listener.take()).delivery_id).toBe(one.id)
    await delivering
    expect(await deliveries()).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1 }] }])
  })

  test('is deleted by the sweep if its worker died', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    await app.ctx.db.run(sql`
      insert into relayed_attempts (id, connection_id, endpoint_id, user_id, delivery_id, url, headers, body, deadline)
      select 'att_x', connection_id, endpoint_id, user_id, 'dlv_x', ${listenUrl}, '{}', '', ${app.clock.now()}
      from listeners`)
    app.clock.advance({ minutes: 1 })
    await sweep(app.ctx)
    expect(await left(app)).toHaveLength(1)
    app.clock.advance({ milliseconds: 1 })
    await sweep(app.ctx)
    expect(await left(app)).toEqual([])
    listener.close()
  })
})

describe.skipIf(!process.env.DATABASE_URL)('over several processes on one database', () => {
  const relaying = sql`datname = current_database() and query like 'listen %baton_relay%' and state = 'idle'`

  test(
    'worker, listener and answer may be in three processes',
    verifiesOnPostgres('listen.across-nodes'),
    async ({ startApp, receiver }) => {
      const app = await startApp()
      const { owner } = await app.workspace()
      const { id, deliveries, secret, listener: shown } = await listenable(app, owner, receiver.url)
      const [second, third] = [await startApp({}, app), await startApp({}, app)]
      const key = await secret()
      const listener = await Listener.of(owner, id, { takeOver: true, rootUrl: second.rootUrl })
      expect(await shown()).toMatchObject({ user: { id: owner.user.id } })
      for (const rootUrl of [owner.rootUrl, second.rootUrl, third.rootUrl]) {
        await recordEvent(app, owner.workspaceId, 100_000)
        const delivering = app.deliver()
        const attempt = await listener.attempt()
        expect(isSigned(asReceived(attempt), key)).toBe(true)
        const answered = await fetch(`${rootUrl}/api/v1/agent-apps/${id}/listen/${attempt.attempt_id}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${owner.token}`,
            'x-workspace-id': owner.workspaceId,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ status: 201, body: 'from afar' }),
        })
        expect(answered.status).toBe(204)
        // Ended by the answer, not by the deadline: the clock is stopped.
        await delivering
        const attempts = [{ http_status: 201, response_excerpt: 'from afar' }]
        expect((await deliveries())[0]).toMatchObject({ status: 'succeeded', attempts })
      }
      expect(receiver.take()).toEqual([])
      const newest = await Listener.of(owner, id, { takeOver: true, rootUrl: third.rootUrl })
      expect(await listener.event()).toMatchObject({ event: 'replaced' })
      await recordEvent(app, owner.workspaceId)
      const delivering = app.deliver()
      await newest.take()
      await delivering
      // After a graceful stop of the listener's process the next attempt goes to the URL without waiting for the lease.
      await third.stop()
      expect(await shown()).toBeNull()
      await recordEvent(app, owner.workspaceId)
      await app.deliver()
      expect(receiver.take()).toHaveLength(1)
      expect(await left(app)).toEqual([])
    },
  )

  test('an attempt of a worker that dies is made again by another', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, deliveries } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    const { ctx, stop } = await startApp({}, app)
    await recordEvent(app, owner.workspaceId)
    await app.endpointsWoken()
    const dying = new DeliveryWorker(ctx, new EndpointWaker(ctx.db, ctx.clock, ctx.log)).drain()
    dying.catch(() => {})
    const attempt = await listener.attempt()
    await stop()
    // The worker that waited for it has died.
    expect((await listener.answer(attempt, { status: 200 })).status).toBe(204)
    for (let beats = 0; beats < 2; beats++) await heartbeat(app, id)
    const delivering = app.deliver()
    expect((await listener.take()).delivery_id).toBe(attempt.delivery_id)
    await delivering
    expect(await deliveries()).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1 }] }])
  })

  test('an answer is found even if the LISTEN connection was lost', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, deliveries } = await listenable(app, owner, listenUrl)
    const { rootUrl } = await startApp({}, app)
    const listener = await Listener.of(owner, id, { rootUrl })
    await recordEvent(app, owner.workspaceId)
    // Waits for the connection, then ends it.
    const lost = sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity where ${relaying}`
    while (!(await app.ctx.db.row(lost))) await setImmediate()
    const delivering = app.deliver()
    await listener.take()
    await delivering
    expect(await deliveries()).toMatchObject([{ status: 'succeeded' }])
  })
})
