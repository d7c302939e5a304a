import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openSameDatabase, openTestDatabase } from '../../test/database.ts'
import { found } from '../http/errors.ts'
import { Db, isConflict, isDatabaseUnavailable, isTimedOut, isUnwritable } from './database.ts'
import { openEmbedded } from './embedded.ts'
import { applyMigration, migrate } from './migrate.ts'
import { json, Sql, sql } from './sql.ts'

let db: Db
beforeAll(async () => {
  db = await openTestDatabase()
  await db.run(sql`create table notes (id int primary key, text text not null)`)
})
afterAll(() => db.close())

const texts = async () =>
  (await db.rows<{ text: string }>(sql`select text from notes order by id`)).map(({ text }) => text)

describe('a transaction', () => {
  test('commits all of its work and then calls the subscriber once', async () => {
    const seen: string[] = []
    db.onCommitted('due', (messages) => seen.push(...messages))
    const result = await db.tx(async (tx) => {
      tx.afterCommit('due', ['one', 'two'])
      tx.afterCommit('due', ['two', 'three'])
      expect(await tx.run(sql`insert into notes values (1, 'one'), (2, 'two')`)).toBe(2)
      expect(seen).toEqual([])
      return 'done'
    })
    expect(result).toBe('done')
    expect(seen).toEqual(['one', 'two', 'three'])
    expect(await texts()).toEqual(['one', 'two'])
  })

  test('refuses messages beside an open transaction; a single statement sends them at once', async () => {
    const seen: string[] = []
    db.onCommitted('live', (messages) => seen.push(...messages))
    db.afterCommit('live', ['one', 'two', 'one'])
    expect(seen).toEqual(['one', 'two'])
    await expect(db.tx(async () => db.afterCommit('live', ['never']))).rejects.toThrow('use the tx')
    expect(seen).toEqual(['one', 'two'])
  })

  test('rolls back work that fails, and sends no message', async () => {
    const seen: string[] = []
    db.onCommitted('due', (messages) => seen.push(...messages))
    const failing = db.tx(async (tx) => {
      tx.afterCommit('due', ['never'])
      await tx.run(sql`insert into notes values (3, 'three')`)
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(seen).toEqual([])
    expect(await texts()).toEqual(['one', 'two'])
  })

  test('rolls back and throws when the work ignored a failed statement', async () => {
    const careless = db.tx(async (tx) => {
      await tx.run(sql`insert into notes values (3, 'three')`)
      await tx.run(sql`insert into notes values (3, 'again')`).catch(() => {})
    })
    await expect(careless).rejects.toThrow('none of it was kept')
    expect(await texts()).toEqual(['one', 'two'])
  })

  test('refuses queries beside the open transaction', async () => {
    const outside = 'query outside the open transaction'
    await expect(db.tx(() => db.rows(sql`select 1`))).rejects.toThrow(outside)
    await expect(db.tx(() => db.run(sql`delete from notes`))).rejects.toThrow(outside)
    await expect(db.tx(() => db.tx(async () => {}))).rejects.toThrow(outside)
    await expect(db.tx(async () => (await Promise.all([db.row(sql`select 1`)]))[0])).rejects.toThrow(outside)
    expect(await texts()).toEqual(['one', 'two'])
  })

  test('cannot be used after it has ended', async () => {
    const ended = await db.tx(async (tx) => tx)
    await expect(ended.rows(sql`select 1`)).rejects.toThrow('a transaction that has ended')
  })

  test('ends with its work, even if queries are still started on it', async () => {
    let straggler: Promise<unknown> | undefined
    const failing = db.tx(async (tx) => {
      straggler = setImmediate().then(() => tx.run(sql`insert into notes values (3, 'three')`))
      straggler.catch(() => {})
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    await expect(straggler).rejects.toThrow('a transaction that has ended')
    expect(await texts()).toEqual(['one', 'two'])
  })

  test('allows queries of background work after it has ended', async () => {
    let later: Promise<unknown> | undefined
    db.onCommitted('due', () => {
      later = db.row(sql`select 1 as one`)
    })
    await db.tx(async (tx) => tx.afterCommit('due', ['one']))
    expect(await later).toEqual({ one: 1 })
  })

  test('works beside other open transactions', async () => {
    const counts = await Promise.all(
      Array.from({ length: 10 }, () => db.tx(async (tx) => (await tx.rows(sql`select 1`)).length)),
    )
    expect(counts).toEqual(Array(10).fill(1))
  })
})

describe('a statement', () => {
  const noteOf = (id: unknown) => sql`select text from notes where id = ${id}::int`

  test('accepts any values', async () => {
    for (const [id, found] of [
      [1, 'one'],
      [2, 'two'],
      [null, undefined],
    ])
      expect(await db.row(noteOf(id))).toEqual(found && { text: found })
  })

  test('can run again after it failed, and so can others', async () => {
    await expect(db.row(noteOf('neither'))).rejects.toMatchObject({ code: '22P02' })
    await expect(db.row(sql`select nonsense from notes`)).rejects.toMatchObject({ code: '42703' })
    expect(await db.row(noteOf(1))).toEqual({ text: 'one' })
  })

  test('still works after more statements than are kept prepared', async () => {
    const numbers = Array.from({ length: 450 }, (_, number) => number)
    const text = (number: number) =>
      new Sql(`select text || $1 as text from notes where id = 1 and ${number} >= 0`, ['!'])
    for (const number of [...numbers, ...numbers.slice(0, 5)])
      expect(await db.row(text(number))).toEqual({ text: 'one!' })
  })

  test('can be started with many others at once within a transaction', async () => {
    const numbers = Array.from({ length: 1500 }, (_, number) => number)
    const answers = await db.tx((tx) =>
      Promise.all(
        numbers.map((number) => tx.row(new Sql(`select $1::int + 0 as number /* ${number % 7} */`, [number]))),
      ),
    )
    expect(answers).toEqual(numbers.map((number) => ({ number })))
  })

  test('fails once when its table has changed', async () => {
    await db.run(sql`create table shapes (id int)`)
    await db.run(sql`insert into shapes values (1)`)
    const look = () => db.rows(sql`select * from shapes`)
    for (let times = 1; times <= 10; times++) expect(await look()).toEqual([{ id: 1 }])
    await db.run(sql`alter table shapes add column name text`)
    await expect(look()).rejects.toMatchObject({ code: '0A000' })
    expect(await look()).toEqual([{ id: 1, name: null }])
  })

  test('is refused for a value that cannot be sent, and the next one runs', async () => {
    await expect(db.row(sql`select ${{}}::boolean as value`)).rejects.toThrow()
    await expect(db.tx((tx) => tx.row(sql`select ${{}}::boolean as value`))).rejects.toThrow()
    expect(await db.row(sql`select ${1}::int as value`)).toEqual({ value: 1 })
  })

  test('is planned again when tables may have grown', async () => {
    // A new database: after many statements a generation of plans lasts long.
    const db = process.env.DATABASE_URL ? await openTestDatabase() : new Db(await openEmbedded({}))
    onTestFinished(() => db.close())
    await db.run(sql`create table words (id int primary key, word text) with (autovacuum_enabled = off)`)
    await db.run(sql`insert into words values (1, 'one')`)
    await db.run(sql`analyze words`)
    const look = () => db.row(sql`select word from words where id = ${1}::int`)
    /** The current plan of the prepared statement, on the only connection in use. */
    const plan = async () => {
      const { name } = found(
        await db.row<{ name: string }>(sql`
          select name from pg_prepared_statements where statement like 'select word from words %'`),
      )
      const lines = await db.rows<{ 'QUERY PLAN': string }>(new Sql(`explain execute "${name}"(1)`, []))
      return lines.map((line) => line['QUERY PLAN']).join()
    }
    for (let times = 1; times <= 10; times++) await look()
    await db.run(sql`insert into words select n, 'more' from generate_series(2, 3000) n`)
    expect(await plan()).toContain('Seq Scan')
    const isSlow = async () => (await plan()).includes('Seq Scan')
    for (let times = 1; times <= 20_000 && (times % 500 > 0 || (await isSlow())); times++) await look()
    expect(await plan()).toContain('Index Scan')
  })
})

test.skipIf(!process.env.DATABASE_URL)('a transaction is retried after a deadlock', async () => {
  await db.run(sql`insert into notes values (11, 'x'), (12, 'x')`)
  onTestFinished(async () => {
    await db.run(sql`delete from notes where id in (11, 12)`)
  })
  let arrived = 0
  let release = () => {}
  const bothHaveOne = new Promise<void>((resolve) => {
    release = resolve
  })
  let attempts = 0
  const swap = (first: number, second: number) =>
    db.tx(async (tx) => {
      attempts++
      await tx.run(sql`update notes set text = text || ${first}::text where id = ${first}`)
      if (++arrived === 2) release()
      await bothHaveOne
      await tx.run(sql`update notes set text = text || ${first}::text where id = ${second}`)
    })
  await Promise.all([swap(11, 12), swap(12, 11)])
  // The one that begins again may take its row before the other gets it: then they wait for each other once more.
  expect(attempts).toBeGreaterThanOrEqual(3)
  const rows = await db.rows<{ text: string }>(sql`select text from notes where id in (11, 12)`)
  for (const { text } of rows) expect([...text.slice(1).matchAll(/1[12]/g)].map(String).sort()).toEqual(['11', '12'])
})

describe('values', () => {
  test('are returned in the format of the API', async () => {
    const time = new Date('2026-03-02T09:00:00.120Z')
    const row = await db.row(sql`
      select ${time}::timestamptz(3) as time, ${time.toISOString()}::timestamptz(3) as same, 12::bigint as count,
        ${json([{ a: [1, 'two', null] }])} as json, ${['a,b', 'c"d', '{}']}::text[] as texts, ${null}::text as nothing`)
    expect(row).toEqual({
      time: '2026-03-02T09:00:00.120Z',
      same: '2026-03-02T09:00:00.120Z',
      count: 12,
      json: [{ a: [1, 'two', null] }],
      texts: ['a,b', 'c"d', '{}'],
      nothing: null,
    })
  })

  test('never become part of the statement', async () => {
    const hostile = "'; drop table notes; --"
    expect(await db.row(sql`select ${hostile}::text as text`)).toEqual({ text: hostile })
    const inner = sql`id > ${0} and text <> ${hostile}`
    expect(await db.rows(sql`select id from notes where ${inner} and id < ${2} order by id`)).toEqual([{ id: 1 }])
    expect(inner.text).not.toContain('drop')
  })

  test('must not be undefined', () => {
    expect(() => sql`select ${undefined}`).toThrow('undefined value')
  })
})

test('a migration that waits for a table lets other statements through', {
  skip: !process.env.DATABASE_URL,
}, async () => {
  const backup = await openSameDatabase(db)
  let applied: Promise<boolean> | undefined
  await backup.tx(async (tx) => {
    await tx.rows(sql`select from notes`)
    const waiting = await new Promise((resolve) => {
      applied = applyMigration(db, '9999_more.sql', 'alter table notes add column more text', resolve)
    })
    expect(waiting).toBe('9999_more.sql')
    await db.run(sql`insert into notes (id, text) values (9, 'meanwhile')`)
  })
  expect(await applied).toBe(true)
  expect(await db.row(sql`select text, more from notes where id = 9`)).toEqual({ text: 'meanwhile', more: null })
  await backup.close()
})

test('migrations run once, however many processes run them at once', async () => {
  await db.run(sql`drop schema public cascade`)
  await db.run(sql`create schema public`)
  const runs = await Promise.all([migrate(db), migrate(db), migrate(db)])
  expect(runs.flat()).toEqual([...new Set(runs.flat())])
  expect(runs.flat().length).toBeGreaterThan(0)
  expect(await migrate(db)).toEqual([])
  expect(await db.rows(sql`select id from users`)).toEqual([])
})

test('temporary errors are distinguished from programming errors', () => {
  const error = (code: string, message = '') => Object.assign(new Error(message), { code })
  for (const code of ['ECONNREFUSED', 'ECONNRESET', '57P01', '57P03', '25P03', '53300', '08006']) {
    expect(isDatabaseUnavailable(error(code))).toBe(true)
  }
  expect(isDatabaseUnavailable(error('', 'timeout exceeded when trying to connect'))).toBe(true)
  expect(isDatabaseUnavailable(error('', 'Connection terminated unexpectedly'))).toBe(true)
  for (const code of ['40P01', '40001', '23503']) expect(isConflict(error(code))).toBe(true)
  for (const code of ['55P03', '57014']) expect(isTimedOut(error(code))).toBe(true)
  for (const code of ['53100', '25006']) expect(isUnwritable(error(code))).toBe(true)
  for (const code of ['42P01', '23505', '22P02', '']) {
    const found = [isDatabaseUnavailable, isConflict, isTimedOut, isUnwritable].filter((is) =>
      is(error(code, 'no relation')),
    )
    expect(found).toEqual([])
  }
})
