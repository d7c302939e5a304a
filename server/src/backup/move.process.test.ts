import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { verifiesOnPostgres } from '../../../conformance/requirements.ts'
import { addWorkspaces, emptyPlace, newPostgres, openPlace } from '../../test/backup-service.ts'
import { systemClock } from '../clock.ts'
import { DataDir } from '../db/data-dir.ts'
import type { Db } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { sql } from '../db/sql.ts'
import { LoadRefused } from './load.ts'
import { move } from './move.ts'
import { allTables, type RowSum, sameText, sumOf } from './tables.ts'

const sums = (db: Db): Promise<Record<string, RowSum>> =>
  db.tx(async (tx) => {
    await tx.script(sameText)
    const found: Record<string, RowSum> = {}
    for (const table of await allTables(tx)) found[table.name] = await sumOf(tx, table)
    return found
  })

const foreignKeys = (db: Db) =>
  db.rows(sql`
    select conrelid::regclass::text as "table", conname as name from pg_constraint
    where connamespace = 'public'::regnamespace and contype = 'f' order by 1, 2`)

/** Made once. */
let original: ReturnType<typeof makeService> | undefined

async function makeService() {
  const dir = mkdtempSync(join(tmpdir(), 'baton-move-'))
  const { db, close } = await openPlace({ BATON_DATA_DIR: dir })
  await migrate(db)
  // So many that the table is copied in two parts.
  await addWorkspaces(db, 12_000)
  await db.run(sql`insert into rate_windows (key, max, taken, first, last_at) values ('a', 1, 0, 0, 0)`)
  const expected = await sums(db)
  const keys = await foreignKeys(db)
  await close()
  return { dir, expected, keys }
}

afterAll(async () => {
  if (original) rmSync((await original).dir, { recursive: true })
})

/** An embedded service with rows, stopped. */
async function stoppedService() {
  original ??= makeService()
  const { expected, keys, dir: from } = await original
  const env = await emptyPlace('embedded')
  const dir = env.BATON_DATA_DIR as string
  cpSync(from, dir, { recursive: true })
  return { dir, env, expected, keys }
}

/** `batches`: how many are copied before it is ended. */
async function moveTo(dir: string, url: string, batches = Number.POSITIVE_INFINITY) {
  const dataDir = await DataDir.open(dir)
  const ending = new AbortController()
  let asked = 0
  // Asked once for each batch.
  const signal = {
    throwIfAborted() {
      if (++asked > batches) ending.abort()
      ending.signal.throwIfAborted()
    },
  }
  try {
    return await move({ dataDir, url, clock: systemClock, progress: () => {}, signal: signal as AbortSignal })
  } finally {
    dataDir.close()
  }
}

const target = async () => {
  const url = await newPostgres()
  const { db } = await openPlace({ DATABASE_URL: url, BATON_SECRET_KEY: Buffer.alloc(32).toString('base64') })
  return { url, db }
}

describe('a move to PostgreSQL', { timeout: 180_000 }, () => {
  test('copies every table, marks the directory and deletes nothing', {
    ...verifiesOnPostgres('move.equal', 'move.marks-source'),
  }, async () => {
    const { dir, env, expected } = await stoppedService()
    const { url, db } = await target()
    const before = readdirSync(`${dir}/db`).sort()
    const { tables, movedAt } = await moveTo(dir, url)
    expect(tables).toEqual(expected)
    expect(await sums(db)).toEqual(expected)
    expect(await migrate(db)).toEqual([])
    // The next number of a column that counts by itself is free.
    await db.run(sql`insert into rate_windows (key, max, taken, first, last_at) values ('b', 1, 0, 0, 0)`)
    expect(readdirSync(`${dir}/db`).sort()).toEqual(before)
    await expect(openPlace(env)).rejects.toThrow(`at ${movedAt}`)
  })

  test('that is ended anywhere goes on, without a row twice', verifiesOnPostgres('move.resumes'), async () => {
    const { dir, expected, keys } = await stoppedService()
    const { url, db } = await target()
    for (const batches of [0, 1, 60, 20, 2]) {
      await expect(moveTo(dir, url, batches)).rejects.toThrow('aborted')
      await expect(migrate(db)).rejects.toThrow('unfinished')
    }
    await moveTo(dir, url)
    expect(await sums(db)).toEqual(expected)
    expect(await foreignKeys(db)).toEqual(keys)
  })

  test('copies again what changed since it was ended', verifiesOnPostgres('move.resumes'), async () => {
    const { dir, env } = await stoppedService()
    const { url, db } = await target()
    await expect(moveTo(dir, url, 89)).rejects.toThrow('aborted')
    const { db: source, close } = await openPlace(env)
    await source.run(
      sql`update workspaces set name = 'changed' where id in (select id from workspaces order by id limit 5)`,
    )
    await source.run(sql`delete from workspaces where id in (select id from workspaces order by id limit 1)`)
    await addWorkspaces(source, 10)
    const expected = await sums(source)
    await close()
    await moveTo(dir, url)
    expect(await sums(db)).toEqual(expected)
  })

  test('to a database that holds anything else is refused and changes nothing', {
    ...verifiesOnPostgres('move.target-not-empty'),
  }, async () => {
    const { dir, env } = await stoppedService()
    const { url, db } = await target()
    await db.tx((tx) => tx.script('create schema other; create table other.notes (text text)'))
    await expect(moveTo(dir, url)).rejects.toThrow(LoadRefused)
    const count = sql`select count(*)::int as count from pg_class where relkind = 'r' and relnamespace in
      (select oid from pg_namespace where nspname in ('public', 'baton_load', 'other'))`
    expect(await db.row(count)).toEqual({ count: 1 })
    // Nor into the unfinished move of another instance.
    const other = await target()
    await expect(moveTo(dir, other.url, 3)).rejects.toThrow('aborted')
    const copied = `${dir}-other`
    cpSync(dir, copied, { recursive: true })
    const { db: changed, close } = await openPlace({ BATON_DATA_DIR: copied })
    await changed.run(sql`insert into settings (name, value) values ('instance_id', 'other')`)
    await close()
    await expect(moveTo(copied, other.url)).rejects.toThrow(LoadRefused)
    const { close: closeAgain } = await openPlace(env)
    await closeAgain()
  })
})
