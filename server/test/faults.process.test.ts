import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { Db, isUnwritable } from '../src/db/database.ts'
import { Disk } from '../src/db/disk.ts'
import { openEmbedded } from '../src/db/embedded.ts'
import { sql } from '../src/db/sql.ts'
import { takeOne } from '../src/http/rate-limit.ts'
import { openSameDatabase } from './database.ts'
import { filledDataDir } from './empty-databases.ts'
import { type TestApp, test } from './harness.ts'
import { OtherWorker } from './other-worker.ts'
import { Receiver } from './receiver.ts'

// A fast subset of `npm run faults`, without separate processes.
const onPostgres = Boolean(process.env.DATABASE_URL)

async function webhooksOf(app: TestApp, receivers: Receiver[]) {
  const { owner } = await app.workspace()
  const ids: string[] = []
  for (const { url } of receivers) {
    const webhook = { label: 'Chat', url, all_teams: true, resource_types: ['Issue'] }
    ids.push((await owner.post('/webhooks', webhook)).body.id)
  }
  return { owner, ids, create: (title: string) => owner.post('/issues', { title }) }
}

describe('a clock that is set back by an hour', () => {
  test('delays no first attempt', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { create } = await webhooksOf(app, [receiver])
    await create('Before')
    app.clock.advance({ hours: -1 })
    await create('After')
    await app.deliver()
    expect(
      receiver
        .take()
        .map(({ body }) => body.data.title)
        .sort(),
    ).toEqual(['After', 'Before'])
  })

  test('releases the endpoints of a worker that died', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { create } = await webhooksOf(app, [receiver])
    await create('Claimed')
    await app.endpointsWoken()
    expect((await new OtherWorker(app).claim()).claimed).toHaveLength(1)
    await app.deliver()
    expect(receiver.take()).toEqual([])
    app.clock.advance({ hours: -1 })
    await app.deliver()
    expect(receiver.take()).toHaveLength(1)
  })

  test('refuses no caller for longer than the limit', async ({ app }) => {
    const allowance = { limit: 2, periodMs: 60_000 }
    const take = () => takeOne(app.ctx.db, 'faults', allowance, app.clock.now())
    await take()
    await take()
    await expect(take()).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    // As the clocks of two processes may differ.
    app.clock.advance({ seconds: -1 })
    await expect(take()).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    app.clock.advance({ hours: -1 })
    await take()
    await take()
    await expect(take()).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  })
})

describe.skipIf(onPostgres)('a full disk', () => {
  test('stops writes while the database still has space to finish', async () => {
    const dir = await filledDataDir()
    const printed: string[] = []
    const disk = new Disk(dir)
    const db = new Db(await openEmbedded({ dataDir: join(dir, 'db') }, { disk, print: (line) => printed.push(line) }))
    const write = (name: string) => db.run(sql`insert into migrations (name) values (${name})`)
    expect(await write('before')).toBe(1)
    const full = async (isFull: boolean) => {
      disk.keptFree = isFull ? Number.MAX_SAFE_INTEGER : 1
      await expect.poll(async () => (await db.rows(sql`select 1`)) && disk.isFull).toBe(isFull)
    }
    await full(true)
    expect(disk.problem).toMatch(/^the disk of .* has \d+ MB left; free at least \d+ MB$/)
    await expect(write('never')).rejects.toSatisfy(isUnwritable)
    await expect(db.tx((tx) => tx.run(sql`delete from migrations`))).rejects.toSatisfy(isUnwritable)
    expect(await db.rows(sql`select name from migrations where name in ('before', 'never')`)).toHaveLength(1)
    await full(false)
    expect(await write('after')).toBe(1)
    expect(printed.map((line) => line.replace(dir, 'D').replace(/\d+/g, 'N'))).toEqual([
      'The disk of D has only N MB left: nothing is written until N MB are free',
      'The disk of D has enough space again',
    ])
    await db.close()
    rmSync(dir, { recursive: true })
  })

  test('is reported, and reading still works', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { body: issue } = await owner.post('/issues', { title: 'Here' })
    await app.ctx.db.run(sql`set default_transaction_read_only = on`)
    const refused = await owner.post('/issues', { title: 'No room' })
    expect(refused).toMatchObject({ status: 503, body: { code: 'NOT_READY', details: {} } })
    expect(refused.body.message).toMatch(/its disk is full/)
    expect(await owner.get(`/issues/${issue.id}`)).toMatchObject({ status: 200, body: issue })
    await app.ctx.db.run(sql`set default_transaction_read_only = off`)
    expect((await owner.get('/issues')).body.data).toHaveLength(1)
    expect(await owner.post('/issues', { title: 'Room again' })).toMatchObject({ status: 201 })
  })
})

describe.skipIf(!onPostgres)('a transaction that locks an endpoint', () => {
  test('delays only the deliveries of that endpoint', async ({ startApp, receiver }) => {
    const app = await startApp()
    const anotherReceiver = await Receiver.start()
    const { create, ids } = await webhooksOf(app, [receiver, anotherReceiver])
    const other = await openSameDatabase(app.ctx.db)
    await other.tx(async (tx) => {
      await tx.row(sql`select 1 from endpoints where id = ${ids[0]} for no key update`)
      expect(await create('While held')).toMatchObject({ status: 201 })
      await app.deliver()
    })
    expect([receiver.take().length, anotherReceiver.take().length]).toEqual([0, 1])
    await app.deliver()
    expect([receiver.take().length, anotherReceiver.take().length]).toEqual([1, 0])
    await other.close()
    await anotherReceiver.stop()
  })
})
