import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { verifiesOnPostgres } from '../../../conformance/requirements.ts'
import { DatabaseProxy } from '../../../faults/database-proxy.mjs'
import { Replicas, withHosts } from '../../test/replicas.ts'
import { type Db, isDatabaseUnavailable, isUnwritable } from './database.ts'
import { findPrimary } from './hosts.ts'
import { openPostgres } from './open-postgres.ts'
import { sql } from './sql.ts'

// In the order of a life: each test leaves a primary and a standby to the next.
describe.skipIf(!process.env.DATABASE_URL)('a primary and a standby', { timeout: 60_000 }, () => {
  let replicas: Replicas
  beforeAll(async () => {
    replicas = await Replicas.start()
    await replicas.primary.query('create table notes (text text not null); create unlogged table counts (key text)')
  }, 60_000)
  afterAll(() => replicas?.stop())

  async function open(url: string): Promise<Db> {
    const db = await openPostgres(
      url,
      () => {},
      () => {},
    )
    onTestFinished(() => db.close())
    return db
  }
  const write = (text: string) => sql`insert into notes values (${text})`
  const portOfServer = async (db: Db) => (await db.row<{ port: number }>(sql`select inet_server_port() as port`))?.port
  const portOf = (url: string) => Number(new URL(url).port)

  test('every connection goes to the primary, whichever is first', verifiesOnPostgres('ha.finds-primary'), async () => {
    const { primary, standby } = replicas
    for (const url of [withHosts(standby.url, primary.url), withHosts(primary.url, standby.url)]) {
      const db = await open(url)
      const listening = db.listen('baton_test', () => {})
      await listening.ready
      await Promise.all(Array.from({ length: 5 }, () => db.run(write('one'))))
      await db.tx((tx) => tx.run(write('two')))
      expect(await portOfServer(db)).toBe(portOf(primary.url))
      expect(await primary.connections()).toBeGreaterThan(2)
      expect(await standby.connections()).toBe(0)
      expect(await findPrimary(url)).toBe(primary.url)
      await listening.stop()
      await db.close()
    }
  })

  test('a start with a standby only, or a wrong user, stops and says why', verifiesOnPostgres(), async () => {
    const { primary, standby } = replicas
    const twoStandbys = withHosts(standby.url, standby.url)
    await expect(findPrimary(twoStandbys)).rejects.toThrow(
      `no host of DATABASE_URL is a primary (${new URL(standby.url).host}: it is in recovery; `,
    )
    const unknown = withHosts(standby.url, primary.url).replace('baton@', 'stranger@')
    await expect(open(unknown)).rejects.toThrow('DATABASE_URL cannot be used: role "stranger" does not exist')
  })

  test('one host that is a standby refuses writes, and reads of unlogged tables', verifiesOnPostgres(), async () => {
    const db = await open(replicas.standby.url)
    await expect(db.run(write('refused'))).rejects.toSatisfy(isUnwritable)
    await expect(db.rows(sql`select key from counts`)).rejects.toSatisfy(isUnwritable)
    expect(await db.rows(sql`select text from notes where text = 'refused'`)).toEqual([])
  })

  test(
    'after a switchover no statement is sent to the demoted server, whose connections stay open',
    verifiesOnPostgres('ha.leaves-demoted'),
    async () => {
      const { primary, standby } = replicas
      const proxy = await DatabaseProxy.start(primary.url)
      onTestFinished(() => proxy.stop())
      const db = await open(withHosts(proxy.urlOf(primary.url), standby.url))
      let goOn = () => {}
      const paused = new Promise<void>((resolve) => {
        goOn = resolve
      })
      // Two transactions are in progress, and five connections idle.
      const interrupted = [1, 2].map(() =>
        db.tx(async (tx) => {
          await tx.run(write('lost'))
          await paused
          await tx.run(write('lost'))
        }),
      )
      await Promise.all(Array.from({ length: 5 }, () => db.rows(sql`select pg_sleep(0.1)`)))
      proxy.silence()
      const received: string[] = []
      const listening = db.listen('baton_test', (message) => received.push(message))
      await listening.ready
      // Only the listening connection notices: it is not silent.
      await replicas.failOver()
      await replicas.rejoin()
      await expect.poll(() => received, { timeout: 10_000 }).toEqual(['', ''])
      expect(proxy.ignored).toBe(0)
      goOn()
      for (const each of interrupted) await expect(each).rejects.toSatisfy(isDatabaseUnavailable)
      await Promise.all(Array.from({ length: 30 }, () => db.run(write('kept'))))
      await Promise.all(Array.from({ length: 30 }, () => db.tx((tx) => tx.run(write('kept')))))
      await db.notify('baton_test', 'followed')
      await expect.poll(() => received).toEqual(['', '', 'followed'])
      expect(proxy.ignored).toBe(0)
      expect(await portOfServer(db)).toBe(portOf(standby.url))
      expect(await primary.connections()).toBe(0)
      expect(await db.row(sql`select count(*) from notes where text = 'lost'`)).toEqual({ count: 0 })
      expect(await db.row(sql`select count(*) from notes where text = 'kept'`)).toEqual({ count: 60 })
      await listening.stop()
    },
  )

  test('while there is no primary statements fail, and work once there is', verifiesOnPostgres(), async () => {
    const { primary, standby } = replicas
    const db = await open(withHosts(primary.url, standby.url))
    await db.run(write('before'))
    await primary.stop('fast')
    for (let tries = 0; tries < 5; tries++)
      await expect(db.run(write('during'))).rejects.toSatisfy(isDatabaseUnavailable)
    await standby.promote()
    await expect.poll(() => db.run(write('after')).catch(() => 0), { timeout: 10_000 }).toBe(1)
    expect(await standby.query(`select text from notes where text in ('before', 'during', 'after')`)).toEqual([
      { text: 'before' },
      { text: 'after' },
    ])
  })

  test('an old primary that does not know of the promotion is not used', verifiesOnPostgres(), async () => {
    // The first server was stopped in the test before and comes back as what it was.
    await replicas.primary.start()
    const [old, promoted] = [replicas.primary, replicas.standby]
    for (const url of [withHosts(old.url, promoted.url), withHosts(promoted.url, old.url)]) {
      expect(await findPrimary(url)).toBe(promoted.url)
    }
    const db = await open(withHosts(old.url, promoted.url))
    await promoted.stop('fast')
    for (let tries = 0; tries < 5; tries++)
      await expect(db.run(write('astray'))).rejects.toSatisfy(isDatabaseUnavailable)
    expect(await old.query(`select text from notes where text = 'astray'`)).toEqual([])
    await promoted.start()
    await expect.poll(() => db.run(write('found')).catch(() => 0), { timeout: 10_000 }).toBe(1)
    expect(await promoted.query(`select text from notes where text in ('astray', 'found')`)).toEqual([
      { text: 'found' },
    ])
  })
})
