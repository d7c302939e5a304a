import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase } from '../../test/database.ts'
import type { Db } from './database.ts'
import { type Sql, sql } from './sql.ts'

const guide = readFileSync(new URL('../../../docs/guides/growing.md', import.meta.url), 'utf8')

let db: Db
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

const names = async (statement: Sql) => (await db.rows<{ name: string }>(statement)).map(({ name }) => name).sort()

test('every table has workspace_id, except those that the guide lists with a reason', async () => {
  const without = await names(sql`
    select table_name as name from information_schema.tables t
    where table_schema = 'public' and table_type = 'BASE TABLE' and not exists (
      select from information_schema.columns c
      where c.table_schema = 'public' and c.table_name = t.table_name and c.column_name = 'workspace_id'
        and c.is_nullable = 'NO')`)
  expect(without).toEqual([...guide.matchAll(/^\| `(\w+)` \| .+ \|$/gm)].map(([, name]) => name).sort())
})

test('unique indexes across workspaces, besides ids, are those that the guide lists', async () => {
  const unique = await names(sql`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indisunique and not i.indisprimary and c.relnamespace = 'public'::regnamespace
      and exists (select from pg_attribute a where a.attrelid = i.indrelid and a.attname = 'workspace_id')
      and not exists (
        select from pg_attribute a
        where a.attrelid = i.indrelid and a.attname = 'workspace_id' and a.attnum = any(i.indkey))`)
  const named = /need the column, or a separate lookup table: (.+?)\./.exec(guide)?.[1] ?? ''
  expect(unique).toEqual([...named.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort())
})
