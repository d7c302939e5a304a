import { describe, expect } from 'vitest'
import type { Db } from '../src/db/database.ts'
import { sql } from '../src/db/sql.ts'
import { openTestDatabase } from './database.ts'
import { test } from './harness.ts'

const keep = (db: Db, key: string) => db.run(sql`insert into rate_limits (key, clear_at) values (${key}, 1)`)
/** The schemas, tables and columns that a test can see. */
const schemaOf = (db: Db) =>
  db.rows(sql`
    select n.nspname as schema, c.relname as table, a.attname as column, a.attnotnull as required
    from pg_namespace n
    left join pg_class c on c.relnamespace = n.oid and c.relkind = 'r'
    left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema' order by 1, 2, 3`)
const keys = async (db: Db) => (await db.rows<{ key: string }>(sql`select key from rate_limits`)).map(({ key }) => key)

describe('a test database', () => {
  test('is empty, whatever its previous user did', async () => {
    const first = await openTestDatabase()
    await keep(first, 'a')
    await first.close()
    const second = await openTestDatabase()
    expect(await keys(second)).toEqual([])
    // Statements by leftover timers and open transactions of the previous user.
    await expect(keep(first, 'b')).rejects.toThrow()
    await expect(first.tx((tx) => tx.run(sql`delete from migrations`))).rejects.toThrow()
    expect(await keys(second)).toEqual([])
    await second.close()
  })

  test('is not reused while it is in use', async () => {
    const first = await openTestDatabase()
    let finish = () => {}
    const working = first.tx(async (tx) => {
      await tx.run(sql`insert into rate_limits (key, clear_at) values ('late', 1)`)
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    const closing = first.close()
    const second = await openTestDatabase()
    finish()
    await Promise.allSettled([working, closing])
    expect(await keys(second)).toEqual([])
    await second.close()
  })

  test.for([
    'alter table rate_limits rename to lost',
    'alter table rate_limits alter column clear_at drop not null',
    'create schema other',
  ])('is not reused after: %s', async (change) => {
    const first = await openTestDatabase()
    const before = await schemaOf(first)
    await first.tx((tx) => tx.script(change))
    expect(await schemaOf(first)).not.toEqual(before)
    await first.close()
    const second = await openTestDatabase()
    expect(await schemaOf(second)).toEqual(before)
    await second.close()
  })
})

test('`unchanged` fails on every change, even by direct SQL', async ({ app }) => {
  const person = await app.person()
  await app.unchanged(() => person.get('/auth/me'))
  await expect(app.unchanged(() => app.person())).rejects.toThrow()
  await expect(
    app.unchanged(() => app.ctx.db.run(sql`update users set display_name = 'Eve' where id = ${person.user.id}`)),
  ).rejects.toThrow()
})
