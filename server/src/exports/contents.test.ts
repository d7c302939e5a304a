import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabase } from '../../test/database.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import { tables } from './contents.ts'
import { IdList } from './id-list.ts'
import { columnsLeftOut, tablesLeftOut } from './left-out.ts'

let db: Db
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

describe('the contents of an archive', () => {
  test('name every table of the database, or the reason why it is left out', async () => {
    const all = await db.rows<{ name: string }>(sql`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`)
    const stored = new Set(tables.map(({ name, stored }) => stored ?? name))
    expect([...stored].filter((name) => tablesLeftOut.has(name))).toEqual([])
    expect([...stored, ...tablesLeftOut.keys()].sort()).toEqual(all.map(({ name }) => name))
  })

  test('name every column of these tables, or the reason why it is left out', async () => {
    const all = await db.rows<{ name: string; column: string }>(sql`
      select table_name as name, column_name as column from information_schema.columns where table_schema = 'public'`)
    for (const name of new Set(tables.map(({ name, stored }) => stored ?? name))) {
      const exported = tables
        .filter((table) => (table.stored ?? table.name) === name)
        .flatMap(({ columns }) => Object.keys(columns))
      const left = Object.keys(columnsLeftOut[name] ?? {})
      const own = all.filter((column) => column.name === name).map(({ column }) => column)
      const missing = own.filter((column) => column !== 'workspace_id' && ![...exported, ...left].includes(column))
      expect([name, missing]).toEqual([name, []])
      expect([name, left.filter((column) => !own.includes(column) || exported.includes(column))]).toEqual([name, []])
    }
  })

  test('refer only to tables before them', () => {
    for (const [index, { name, columns, from }] of tables.entries()) {
      const before = tables.slice(0, index).map((table) => table.name)
      const refs = Object.values(columns).flatMap(({ ref }) => (ref && ref !== 'any' ? [ref] : []))
      const parents = Array.isArray(from) ? from.map(({ parent }) => parent) : []
      for (const ref of [...refs, ...parents]) expect([name, ref, before.includes(ref)]).toEqual([name, ref, true])
    }
  })
})

test('a list of ids finds each of 5,000 ids, returns them in order, and no others', () => {
  const list = new IdList('iss')
  const ids = Array.from({ length: 5000 }, () => newId('iss'))
  for (const id of ids) expect(list.add(id)).toBe(true)
  for (const id of ids) expect(list.add(id)).toBe(false)
  expect([...list.chunks(999)].flat()).toEqual(ids)
  expect(ids.map((id) => list.indexOf(id))).toEqual(ids.map((_, index) => index))
  for (const other of [newId('iss'), newId('prj'), '', 'iss_', `prj_${ids[0]?.slice(4)}`])
    expect(list.has(other)).toBe(false)
  const extremes = [`iss_${'0'.repeat(26)}`, `iss_7${'z'.repeat(25)}`, `iss_${'0'.repeat(25)}1`]
  for (const id of extremes) expect(list.add(id)).toBe(true)
  expect(extremes.map((_, index) => list.at(5000 + index))).toEqual(extremes)
})
