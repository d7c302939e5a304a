import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { DatabaseProxy } from '../../../faults/database-proxy.mjs'
import { openTestDatabase } from '../../test/database.ts'
import { withDatabase } from '../../test/postgres.ts'
import { withHosts } from '../../test/replicas.ts'
import { freePort } from '../../test/service-process.ts'
import { Db, isDatabaseUnavailable, isTimedOut } from './database.ts'
import { Hosts } from './hosts.ts'
import { listen } from './listen.ts'
import { migrate } from './migrate.ts'
import { connectPostgres } from './postgres.ts'
import { sql } from './sql.ts'

// Not for the embedded database, which has no network connection.
describe.skipIf(!process.env.DATABASE_URL)('a link to PostgreSQL', () => {
  let own: Db
  let url: string
  beforeAll(async () => {
    own = await openTestDatabase()
    const row = await own.row<{ name: string }>(sql`select current_database() as name`)
    url = withDatabase(process.env.DATABASE_URL as string, row?.name ?? '')
    await own.run(sql`create table notes (id int primary key, text text not null)`)
    await own.run(sql`insert into notes values (1, 'one')`)
  })
  afterAll(() => own.close())

  /** A separate `Db` with these settings in its URL, connected through a proxy that can break the connections. */
  async function throughProxy(settings = '') {
    const proxy = await DatabaseProxy.start(url)
    const db = new Db(connectPostgres(`${proxy.urlOf(url)}?${settings}`, () => {}))
    onTestFinished(async () => {
      proxy.stop()
      await db.close()
    })
    return { proxy, db }
  }
  const tookMs = async (work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    return performance.now() - began
  }
  const one = sql`select text from notes where id = 1`

  test('limits how long locks, statements and idle transactions may take', async () => {
    const names = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']
    const settings = sql`select setting from pg_settings where name = any(${names}) order by name`
    const of = (rows: { setting?: string }[]) => rows.map(({ setting }) => Number(setting))
    expect(of(await own.rows(settings))).toEqual([20_000, 2_000, 25_000])
    expect(of(await own.tx((tx) => tx.rows(settings)))).toEqual([20_000, 5_000, 25_000])
  })

  test('leaves connections for single statements while many transactions wait', async () => {
    const { db } = await throughProxy('lock_timeout=20000')
    let waiting: Promise<number>[] = []
    await own.tx(async (tx) => {
      await tx.row(sql`select 1 from notes where id = 1 for update`)
      waiting = Array.from({ length: 40 }, () =>
        db.tx((other) => other.run(sql`update notes set text = text where id = 1`)),
      )
      for (let reads = 0; reads < 40; reads++) expect(await db.row(one)).toEqual({ text: 'one' })
    })
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 1))
  })

  test('that breaks while it is asked whether it leads to the primary fails its statement only', async () => {
    const proxy = await DatabaseProxy.start(url)
    const nothing = new URL(url)
    nothing.port = String(await freePort())
    const db = new Db(connectPostgres(withHosts(proxy.urlOf(url), nothing.href), () => {}))
    onTestFinished(async () => {
      proxy.stop()
      await db.close()
    })
    const read = () => db.tx((tx) => tx.row(one))
    proxy.cutAt('as standby')
    await expect(read()).rejects.toSatisfy(isDatabaseUnavailable)
    proxy.cutAt(null)
    await expect.poll(() => read().catch(() => null), { timeout: 10_000 }).toEqual({ text: 'one' })
  })

  test('refuses when a row is locked for too long, and works once it is released', async () => {
    const { db } = await throughProxy('lock_timeout=200')
    const write = () => db.run(sql`update notes set text = text where id = 1`)
    await own.tx(async (tx) => {
      await tx.row(sql`select 1 from notes where id = 1 for update`)
      await expect(write()).rejects.toSatisfy(isTimedOut)
      expect(await db.row(one)).toEqual({ text: 'one' })
    })
    expect(await write()).toBe(1)
  })

  test('lets a migration wait for another without a limit', async () => {
    const { db } = await throughProxy('lock_timeout=100&statement_timeout=100')
    let migrated: Promise<string[]> | undefined
    await own.tx(async (tx) => {
      await tx.rows(sql`select pg_advisory_xact_lock(7226866::bigint)`)
      migrated = migrate(db)
      // Longer than both timeouts.
      await sleep(400)
    })
    expect(await migrated).toEqual([])
  })

  test('that dies silently fails one statement and is replaced', async () => {
    const { proxy, db } = await throughProxy('query_timeout=1500')
    const failing = db.tx(async (tx) => {
      await tx.rows(one)
      proxy.silence()
      await tx.run(sql`update notes set text = 'two' where id = 1`)
    })
    // One query timeout: there is no second one for a rollback.
    expect(await tookMs(() => expect(failing).rejects.toSatisfy(isDatabaseUnavailable))).toBeLessThan(2900)
    expect(await db.row(one)).toEqual({ text: 'one' })
  })

  test('does not delay the stop of a process', async () => {
    const { proxy, db } = await throughProxy()
    const listening = db.listen('baton_test', () => {})
    await listening.ready
    await db.rows(one)
    proxy.silence()
    const unanswered = expect(db.rows(one)).rejects.toSatisfy(isDatabaseUnavailable)
    expect(await tookMs(() => Promise.all([listening.stop(), db.close()]))).toBeLessThan(5000)
    proxy.cut()
    await unanswered
  })

  test('that only listens detects the loss and listens again', async () => {
    const { proxy } = await throughProxy()
    const received: string[] = []
    const options = { everyMs: 100, answerWithinMs: 200 }
    const listening = listen(
      new Hosts(proxy.urlOf(url)),
      'baton_test',
      (text) => received.push(text),
      () => {},
      options,
    )
    await listening.ready
    expect(received).toEqual(['']) // messages may have been missed before
    proxy.silence()
    await expect.poll(() => received, { timeout: 10_000 }).toEqual(['', ''])
    await own.notify('baton_test', 'again')
    await expect.poll(() => received).toEqual(['', '', 'again'])
    await listening.stop()
  })
})
