import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { OtherWorker, timedOut } from '../../test/other-worker.ts'
import { withDatabase } from '../../test/postgres.ts'
import { deadlocksIn } from '../../test/races.ts'
import { Receiver } from '../../test/receiver.ts'
import { systemClock } from '../clock.ts'
import { Db } from '../db/database.ts'
import { connectPostgres } from '../db/postgres.ts'
import { sql } from '../db/sql.ts'
import { record } from '../events/record.ts'
import { newId } from '../ids.ts'
import { askForShare, nextDueAt } from './claim.ts'
import { EndpointWaker } from './endpoint-waker.ts'
import { DeadOwners } from './ownership.ts'
import type { Claimed, WorkerObserver } from './stages.ts'
import { DeliveryWorker } from './worker.ts'

/** Needs a separate service, because claims are made over all workspaces. */
async function scene(app: TestApp, urls: string[]) {
  const { id: workspaceId, owner } = await app.workspace()
  const webhooks: { id: string }[] = []
  for (const url of urls) {
    webhooks.push((await owner.post('/webhooks', { label: url, url, all_teams: true, resource_types: ['Issue'] })).body)
  }
  const recordEvents = async (count: number, clock = app.clock as { now(): Date }) => {
    const one = { id: newId('iss'), code: 'ENG-1', title: 'A bug', updated_at: clock.now().toISOString() }
    const event = { type: 'Issue', action: 'update', actor: null, data: one, url: '', teamIds: [] } as const
    await app.ctx.db.tx((tx) =>
      record(
        { tx, now: clock.now(), caller: { id: null, workspaceId } },
        Array.from({ length: count }, () => ({ ...event, teamIds: [] })),
      ),
    )
    await app.endpointsWoken()
  }
  const deliveries = async (index = 0) =>
    (await owner.get(`/webhooks/${webhooks[index]?.id}/deliveries?limit=100`)).body.data
  return { owner, workspaceId, webhooks, recordEvents, deliveries }
}

describe('a worker that dies', () => {
  test('loses its endpoint when the lease expires, with no attempt lost or counted', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents, deliveries } = await scene(app, [receiver.url])
    await recordEvents(3)
    expect((await new OtherWorker(app).claim({ limit: 2 })).claimed).toHaveLength(2)
    await app.deliver()
    expect(receiver.take()).toEqual([])
    app.clock.advance({ seconds: 15, milliseconds: -1 })
    await app.deliver()
    expect(receiver.take()).toEqual([])
    app.clock.advance({ milliseconds: 1 })
    await app.deliver()
    expect(receiver.take()).toHaveLength(3)
    for (const { status, attempts } of await deliveries()) {
      expect({ status, numbers: attempts.map(({ number }: { number: number }) => number) }).toEqual({
        status: 'succeeded',
        numbers: [1],
      })
    }
  })

  test('and completes after the next owner changes nothing', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents, deliveries } = await scene(app, [receiver.url])
    await recordEvents(1)
    const late = new OtherWorker(app)
    const { claimed } = await late.claim()
    receiver.answer = 500
    app.clock.advance({ seconds: 15 })
    await app.deliver()
    const before = await deliveries()
    expect(before).toMatchObject([{ status: 'pending', attempts: [{ number: 1, http_status: 500 }] }])
    await app.unchanged(() => late.complete(claimed))
    expect(await deliveries()).toEqual(before)
  })

  test('during a redelivery leaves it to others', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner, webhooks, recordEvents, deliveries } = await scene(app, [receiver.url])
    await recordEvents(1)
    await app.deliver()
    const [{ id }] = await deliveries()
    await owner.post(`/webhooks/${webhooks[0]?.id}/deliveries/${id}/redeliver`)
    await app.endpointsWoken()
    expect((await new OtherWorker(app).claim()).claimed).toMatchObject([{ kind: 'redelivery' }])
    app.clock.advance({ seconds: 15 })
    await app.deliver()
    expect(receiver.take()).toHaveLength(2)
    expect(await deliveries()).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1 }, { number: 2 }] }])
  })

  test('before it woke the endpoint only delays the delivery', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents } = await scene(app, [receiver.url])
    await recordEvents(1)
    await app.deliver()
    receiver.take()
    await recordEvents(1)
    await app.ctx.db.run(sql`update endpoints set next_due_at = null`)
    expect((await new OtherWorker(app).claim()).claimed).toEqual([])
    await app.deliver()
    expect(receiver.take()).toHaveLength(1)
  })
})

describe('a worker that holds a lock', { skip: !process.env.DATABASE_URL }, () => {
  const listeners = sql`from pg_stat_activity where application_name = 'baton listener' and datname = current_database()`
  const ownerOf = async (app: TestApp) =>
    (await app.ctx.db.row<{ owner: string | null }>(sql`select owner from endpoints`))?.owner
  const otherWorker = (app: TestApp) =>
    new DeliveryWorker(app.ctx, new EndpointWaker(app.ctx.db, app.clock, app.ctx.log))
  const look = async (worker: DeliveryWorker, looks: number) => {
    for (let made = 0; made < looks; made++) {
      await worker.takeFromDead()
      await worker.drain()
    }
  }

  test('loses its endpoints soon after it died, before the lease ends', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents, deliveries } = await scene(app, [receiver.url])
    await recordEvents(20)
    const [worker, dead] = [otherWorker(app), new OtherWorker(app)]
    await dead.connect()
    // No slot is left, so the endpoint itself is due only when the lease ends.
    expect((await dead.claim()).claimed).toHaveLength(8)
    await dead.claim()
    await look(worker, DeadOwners.looks)
    expect(receiver.take()).toEqual([])
    const before = (await app.ctx.db.rows(sql`select pid ${listeners}`)).length
    await dead.disconnect()
    await expect.poll(async () => (await app.ctx.db.rows(sql`select pid ${listeners}`)).length).toBe(before - 1)
    await look(worker, DeadOwners.looks - 1)
    expect(receiver.take()).toEqual([])
    await look(worker, 1)
    expect(receiver.take()).toHaveLength(20)
    for (const { status, attempts } of await deliveries()) expect([status, attempts.length]).toEqual(['succeeded', 1])
  })

  test('keeps its endpoints when only its connection is lost', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents, deliveries } = await scene(app, [receiver.url])
    const answers: (() => void)[] = []
    receiver.answer = (response) => answers.push(() => response.end())
    const [worker, alive] = [otherWorker(app), otherWorker(app)]
    alive.start()
    await recordEvents(3)
    await expect.poll(() => answers.length).toBe(3)
    await expect.poll(() => ownerOf(app)).toContain(':')
    const before = await ownerOf(app)
    await app.ctx.db.run(sql`select pg_terminate_backend(pid) ${listeners}`)
    await look(worker, DeadOwners.looks - 1)
    await expect.poll(() => ownerOf(app)).not.toBe(before)
    await expect.poll(() => ownerOf(app)).toContain(':')
    await look(worker, DeadOwners.looks)
    for (const answer of answers) answer()
    await alive.stop()
    await look(worker, DeadOwners.looks)
    expect(receiver.take()).toHaveLength(3)
    for (const { status, attempts } of await deliveries()) expect([status, attempts.length]).toEqual(['succeeded', 1])
  })

  test('keeps its endpoints until the last outcome when it stops', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents } = await scene(app, [receiver.url])
    let answer = () => {}
    receiver.answer = (response) => {
      answer = () => response.end()
    }
    const [worker, stopping] = [otherWorker(app), otherWorker(app)]
    stopping.start()
    await recordEvents(1)
    await receiver.next()
    await expect.poll(() => ownerOf(app)).toContain(':')
    const stopped = stopping.stop()
    await look(worker, DeadOwners.looks)
    answer()
    await stopped
    await look(worker, DeadOwners.looks)
    expect(receiver.take()).toHaveLength(1)
    expect(await ownerOf(app)).toBeNull()
  })
})

describe('a claim', () => {
  test('gives no endpoint more than eight slots over all workers', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents } = await scene(app, [receiver.url])
    await recordEvents(20)
    const worker = new OtherWorker(app)
    const { claimed: first } = await worker.claim({ limit: 5 })
    expect(first).toHaveLength(5)
    const { claimed: second } = await worker.claim()
    expect(second).toHaveLength(3)
    const endpointId = (first[0] as Claimed).endpointId
    expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(8)
    expect(await worker.claim({ woken: [endpointId] })).toEqual({ claimed: [], seen: [endpointId], full: [endpointId] })
    expect((await new OtherWorker(app).claim({ woken: [endpointId] })).claimed).toEqual([])
    // If the worker dies, another one takes over when the lease ends.
    const dueAt = await nextDueAt(app.ctx.db, app.clock.now(), worker.owner)
    expect(dueAt?.getTime()).toBe(app.clock.now().getTime() + 15_000)
    await worker.complete(first.slice(0, 1))
    expect((await worker.claim({ woken: [endpointId] })).claimed).toHaveLength(1)
  })

  test('shares a batch between endpoints, however many deliveries one has', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { webhooks, owner, recordEvents } = await scene(app, [receiver.url, receiver.url])
    await owner.post(`/webhooks/${webhooks[1]?.id}/disable`)
    await recordEvents(300)
    await owner.post(`/webhooks/${webhooks[1]?.id}/enable`)
    await recordEvents(2)
    const { claimed: batch } = await new OtherWorker(app).claim({ limit: 10 })
    const count = (index: number) => batch.filter(({ endpointId }) => endpointId === webhooks[index]?.id).length
    expect([count(0), count(1)]).toEqual([5, 2])
  })

  test('takes first attempts before retries', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents } = await scene(app, [receiver.url])
    receiver.answer = 500
    await recordEvents(10)
    await app.deliver()
    app.clock.advance({ minutes: 1 })
    await recordEvents(3)
    const made = (await new OtherWorker(app).claim()).claimed.map(({ scheduled }) => scheduled)
    expect(made.sort()).toEqual([0, 0, 0, 1, 1, 1, 1, 1])
  })

  test('sets next_due_at to the next delivery, or to null', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { recordEvents } = await scene(app, [receiver.url])
    expect(await nextDueAt(app.ctx.db, app.clock.now(), 'other')).toBeNull()
    receiver.answer = 500
    await recordEvents(1)
    await app.deliver()
    expect(await nextDueAt(app.ctx.db, app.clock.now(), 'other')).toEqual(new Date(app.clock.now().getTime() + 60_000))
    receiver.answer = 200
    app.clock.advance({ minutes: 1 })
    await app.deliver()
    expect(await nextDueAt(app.ctx.db, app.clock.now(), 'other')).toBeNull()
  })
})

test('an endpoint whose attempts time out has one slot until one succeeds', async ({ startApp, receiver }) => {
  const app = await startApp()
  const { recordEvents } = await scene(app, [receiver.url])
  await recordEvents(10)
  const worker = new OtherWorker(app)
  const take = async () => {
    await app.ctx.db.run(sql`update endpoints set next_due_at = ${app.clock.now()}`)
    return (await worker.claim()).claimed
  }
  const first = await take()
  expect(first).toHaveLength(8)
  await worker.complete(first, timedOut, [0, 0, 0])
  const second = await take()
  expect(second).toHaveLength(1)
  await worker.complete(second)
  expect(await take()).toHaveLength(8)
})

test('a delivery that cannot be signed is not counted as an attempt', async ({ startApp, receiver }) => {
  const app = await startApp()
  const { recordEvents, deliveries } = await scene(app, [receiver.url])
  const { keys, db } = app.ctx
  const [endpoint] = await db.rows<{ id: string; secret: string }>(sql`select id, secret from endpoints`)
  await db.run(sql`update endpoints set secret = 'v1.deadbeef.AAAA.AAAA'`)
  await recordEvents(1)
  await app.deliver()
  expect(receiver.take()).toEqual([])
  expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: [] }])
  await db.run(sql`update endpoints set secret = ${endpoint?.secret} where id = ${endpoint?.id}`)
  expect(keys.open(endpoint?.secret ?? '', endpoint?.id ?? '')).toMatch(/^pwhsec_/)
  app.clock.advance({ seconds: 15 })
  await app.deliver()
  expect(await deliveries()).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1 }] }])
})

test('many processes wake one endpoint while others record for it', { skip: !process.env.DATABASE_URL }, async ({
  startApp,
  receiver,
}) => {
  const app = await startApp()
  const { recordEvents } = await scene(app, [receiver.url])
  const [database] = await app.ctx.db.rows<{ name: string }>(sql`select current_database() as name`)
  const [endpoint] = await app.ctx.db.rows<{ id: string }>(sql`select id from endpoints`)
  const url = withDatabase(process.env.DATABASE_URL as string, database?.name ?? '')
  const warnings: unknown[] = []
  const log = { ...app.ctx.log, warn: (...what: unknown[]) => warnings.push(what) } as unknown as typeof app.ctx.log
  const before = await deadlocksIn(app)
  let waking = true
  const others = Array.from({ length: 4 }, () => new Db(connectPostgres(url, () => {})))
  const wakers = others.map(async (db) => {
    const waker = new EndpointWaker(db, systemClock, log)
    let count = 0
    for (; waking; count++) {
      waker.wake([endpoint?.id ?? ''])
      await waker.idle()
    }
    return count
  })
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let round = 0; round < 50; round++) await recordEvents(1, systemClock)
    }),
  )
  waking = false
  for (const count of await Promise.all(wakers)) expect(count).toBeGreaterThan(10)
  expect(warnings).toEqual([])
  expect(await deadlocksIn(app)).toBe(before)
  for (const db of others) await db.close()
})

describe('two workers on one database', () => {
  test(
    'deliver everything recorded meanwhile once, with at most eight in flight to one endpoint',
    verifies('delivery.svc-delivery-stable'),
    async ({ startApp }) => {
      const app = await startApp()
      const receivers = await Promise.all(Array.from({ length: 4 }, () => Receiver.start()))
      const busy = receivers.map(() => ({ now: 0, most: 0 }))
      receivers.forEach((receiver, index) => {
        const slots = busy[index] as { now: number; most: number }
        receiver.answer = async (response) => {
          slots.most = Math.max(slots.most, ++slots.now)
          await sleep(index === 0 ? 10 : 1)
          slots.now--
          response.end()
        }
      })
      const { recordEvents } = await scene(
        app,
        receivers.map(({ url }) => url),
      )
      // Without recovery, a lost wake-up would fail the test.
      const ctx = { ...app.ctx, clock: systemClock }
      const attempts: string[] = []
      const watcher: WorkerObserver = { attempted: ({ claimed }) => attempts.push(claimed.id) }
      const waker = new EndpointWaker(ctx.db, systemClock, ctx.log)
      const workers = [1, 2].map(() => new DeliveryWorker(ctx, waker, watcher))
      let recording = true
      const working = workers.map(async (worker) => {
        while (recording) {
          await worker.drain()
          await sleep(1)
        }
        await worker.drain()
      })
      const writers = Array.from({ length: 5 }, async () => {
        for (let round = 0; round < 20; round++) {
          await recordEvents(1 + (round % 3), systemClock)
          await sleep(Math.random() * 10)
        }
      })
      await Promise.all(writers)
      await waker.idle()
      recording = false
      await Promise.all(working)
      // An endpoint whose slots the other worker held is tried again after 250 ms, as in a worker's loop.
      const isPending = sql`select 1 from deliveries where status = 'pending' limit 1`
      for (let looks = 0; looks < 100 && (await ctx.db.row(isPending)); looks++) {
        await sleep(50)
        await workers[0]?.drain()
      }

      const events = await ctx.db.rows(sql`select id from events`)
      const count = 5 * (7 * 1 + 7 * 2 + 6 * 3)
      expect(events).toHaveLength(count)
      for (const { received } of receivers) expect(received).toHaveLength(count)
      expect(new Set(attempts).size).toBe(attempts.length)
      expect(attempts).toHaveLength(count * receivers.length)
      for (const { most } of busy) expect(most).toBeLessThanOrEqual(8)
      expect(await ctx.db.rows(sql`select id from deliveries where status <> 'succeeded'`)).toEqual([])
      for (const receiver of receivers) await receiver.stop()
    },
  )
})

test('an owner hands a waiting endpoint over to a worker that asks for it', async ({ startApp, receiver }) => {
  const app = await startApp()
  const { recordEvents } = await scene(app, [receiver.url])
  const { db } = app.ctx
  await recordEvents(20)
  const [busy, idle] = [new OtherWorker(app), new OtherWorker(app)]
  const { claimed } = await busy.claim({ limit: 4 })
  const [endpointId] = claimed.map((one) => one.endpointId)
  const ask = () => askForShare(db, idle.owner, app.clock.now())
  app.clock.advance({ milliseconds: 249 })
  expect(await ask()).toBe(0)
  app.clock.advance({ milliseconds: 1 })
  expect(await ask()).toBe(1)
  expect((await idle.claim()).claimed).toEqual([])
  // The owner sends nothing more, and gives it up after its last outcome.
  expect((await busy.claim()).claimed).toEqual([])
  await busy.complete(claimed)
  expect((await busy.claim({ woken: [endpointId as string] })).claimed).toEqual([])
  expect((await busy.claim()).claimed).toEqual([])
  expect((await idle.claim()).claimed).toHaveLength(8)
})
