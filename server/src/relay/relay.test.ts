import { setImmediate } from 'node:timers/promises'
import { limits, listenUrl } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifiesOnPostgres } from '../../test/harness.ts'
import { asReceived, heartbeat, Listener, listenable, unheard } from '../../test/listener.ts'
import { isSigned } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'
import { claim } from '../delivery/claim.ts'
import { Doorbell } from '../delivery/doorbell.ts'
import { prepare } from '../delivery/message.ts'
import { send } from '../delivery/send.ts'
import type { Claimed } from '../delivery/stages.ts'
import { DeliveryWorker } from '../delivery/worker.ts'
import { record } from '../events/record.ts'
import { sweep } from '../housekeeping.ts'

/** An event as large as the test likes. */
const happen = (app: TestApp, workspaceId: string, bytes = 0) =>
  app.ctx.db.tx((tx) => {
    const data = { id: 'iss_x', updated_at: app.clock.now().toISOString(), title: 'x'.repeat(bytes) }
    return record({ tx, now: app.clock.now(), caller: { id: null, workspaceId } }, [
      { type: 'Issue', action: 'update', actor: null, data, url: '', teamIds: [] },
    ])
  })

/** As a worker would, which does nothing more. */
const claimed = async ({ ctx, clock }: TestApp) => (await claim(ctx.db, clock.now(), 64)).claimed
const prepared = ({ ctx, clock }: TestApp, one: Claimed) =>
  prepare(one, ctx.keys.open(one.secret, one.endpointId), clock.now())

const left = ({ ctx }: TestApp) => ctx.db.rows(sql`select id from relayed_attempts`)

describe('what is relayed', () => {
  test('arrives whole, a megabyte at a time, eight at once', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, secret, deliveries } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    const key = await secret()
    for (let count = 0; count < 9; count++) await happen(app, owner.workspaceId, 1024 * 1024)
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
    // Nothing stays behind, in the database or in memory.
    expect(await left(app)).toEqual([])
    expect(app.clock.waiting).toBe(alarms)
  })

  test('is refused as a network error when it is larger than any event', async ({ app }) => {
    const request = { endpointId: 'whk_x', deliveryId: 'dlv_x', url: listenUrl, headers: {} }
    const sent = (bytes: number) => app.ctx.relay.send({ ...request, body: Buffer.alloc(bytes) })
    expect(await sent(limits.relayedBytes)).toBeUndefined()
    expect(await sent(limits.relayedBytes + 1)).toMatchObject({ ok: false, reason: 'network_error' })
  })

  test('has all slots, however the URL does', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id } = await listenable(app, owner, receiver.url)
    const struggling = async () =>
      (await app.ctx.db.row<{ is: boolean }>(sql`select struggling as is from endpoints`))?.is
    await app.ctx.db.run(sql`update endpoints set struggling = true`)
    const listener = await Listener.of(owner, id, { takeOver: true })
    for (let count = 0; count < 2; count++) await happen(app, owner.workspaceId)
    const delivering = app.deliver()
    const attempts = [await listener.attempt(), await listener.attempt()]
    for (const attempt of attempts) await listener.answer(attempt, { status: 200 })
    await delivering
    expect(await struggling()).toBe(true)
    await app.ctx.db.run(sql`update endpoints set struggling = false`)
    await happen(app, owner.workspaceId)
    const again = app.deliver()
    await listener.attempt()
    app.clock.advance({ seconds: 5 })
    await again
    expect(await struggling()).toBe(false)
  })

  test('is a timeout when the listener goes with it, and the retry goes to the URL', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, deliveries } = await listenable(app, owner, receiver.url)
    const listener = await Listener.of(owner, id, { takeOver: true })
    await happen(app, owner.workspaceId)
    const delivering = app.deliver()
    const attempt = await listener.attempt()
    listener.close()
    await unheard(owner, id)
    app.clock.advance({ seconds: 5 })
    await delivering
    expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: [{ reason: 'timeout' }] }])
    app.clock.advance({ hours: 1 })
    await app.deliver()
    expect(receiver.take().map(({ headers }) => headers['svc-delivery'])).toEqual([attempt.delivery_id])
    expect(await deliveries()).toMatchObject([{ status: 'succeeded' }])
    expect(await left(app)).toEqual([])
  })

  test('goes to the URL when the listener left after the claim', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id } = await listenable(app, owner, receiver.url)
    const listener = await Listener.of(owner, id, { takeOver: true })
    await happen(app, owner.workspaceId)
    await app.rung()
    const [one] = await claimed(app)
    expect(one?.listened).toBe(true)
    listener.close()
    await unheard(owner, id)
    expect(await send(app.ctx, one as Claimed, prepared(app, one as Claimed))).toMatchObject({
      outcome: { ok: true },
      relayed: false,
    })
    expect(receiver.take()).toHaveLength(1)
  })

  test('is sent again when the worker dies with it', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, deliveries } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    await happen(app, owner.workspaceId)
    await app.rung()
    // A worker that gets as far as the answer and no further.
    const [one] = (await claimed(app)) as [Claimed]
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

  test('leaves nothing behind for long when nobody takes it back', async ({ startApp }) => {
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
    'worker, listener and answer may each be in another one',
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
        await happen(app, owner.workspaceId, 100_000)
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
        // By the answer, not by the clock: it stands still.
        await delivering
        const attempts = [{ http_status: 201, response_excerpt: 'from afar' }]
        expect((await deliveries())[0]).toMatchObject({ status: 'succeeded', attempts })
      }
      expect(receiver.take()).toEqual([])
      const newest = await Listener.of(owner, id, { takeOver: true, rootUrl: third.rootUrl })
      expect(await listener.event()).toMatchObject({ event: 'replaced' })
      await happen(app, owner.workspaceId)
      const delivering = app.deliver()
      await newest.take()
      await delivering
      // Its process stops in order: the next attempt goes to the URL, no lease has to end.
      await third.stop()
      expect(await shown()).toBeNull()
      await happen(app, owner.workspaceId)
      await app.deliver()
      expect(receiver.take()).toHaveLength(1)
      expect(await left(app)).toEqual([])
    },
  )

  test('a worker that dies while the listener has its attempt leaves it to another', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, deliveries } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    const { ctx, stop } = await startApp({}, app)
    await happen(app, owner.workspaceId)
    await app.rung()
    const dying = new DeliveryWorker(ctx, new Doorbell(ctx.db, ctx.clock, ctx.log)).drain()
    dying.catch(() => {})
    const attempt = await listener.attempt()
    await stop()
    // Nobody is there to hear it.
    expect((await listener.answer(attempt, { status: 200 })).status).toBe(204)
    for (let beats = 0; beats < 2; beats++) await heartbeat(app, id)
    const delivering = app.deliver()
    expect((await listener.take()).delivery_id).toBe(attempt.delivery_id)
    await delivering
    expect(await deliveries()).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1 }] }])
  })

  test('what is said while a connection to the database is lost is found out', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { id, deliveries } = await listenable(app, owner, listenUrl)
    const { rootUrl } = await startApp({}, app)
    const listener = await Listener.of(owner, id, { rootUrl })
    await happen(app, owner.workspaceId)
    // As soon as there is one to lose, and until it is lost.
    const lost = sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity where ${relaying}`
    while (!(await app.ctx.db.row(lost))) await setImmediate()
    const delivering = app.deliver()
    await listener.take()
    await delivering
    expect(await deliveries()).toMatchObject([{ status: 'succeeded' }])
  })
})
