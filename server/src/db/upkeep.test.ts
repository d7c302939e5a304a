import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../test/database.ts'
import { compiledDir } from '../paths.ts'
import { type DatabaseMemory, Db } from './database.ts'
import { Disk } from './disk.ts'
import { openEmbedded } from './embedded.ts'
import { Sql, sql } from './sql.ts'

function temporaryDir() {
  const dir = mkdtempSync(join(tmpdir(), 'baton-embedded-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}

// PostgreSQL does this maintenance in background processes.
describe.skipIf(process.env.DATABASE_URL)('the embedded database', () => {
  const fill = sql`insert into "full" select n from generate_series(1, 5000) n`
  const upkeptOf = (db: Db) =>
    db.rows(sql`
      select relname as name, last_vacuum is not null as vacuumed from pg_stat_user_tables
      where relname in ('full', 'calm') and last_analyze is not null order by relname`)

  test('keeps nothing of the rows that it returned', async () => {
    const db = await openTestDatabase()
    onTestFinished(() => db.close())
    const [reads, characters] = [10_000, 20_000]
    await db.run(sql`create table pages (text text)`)
    await db.run(sql`insert into pages values (repeat('a', ${characters}::int))`)
    for (let read = 0; read < reads; read += 100) {
      const pages = await Promise.all(
        Array.from({ length: 100 }, () => db.row<{ text: string }>(sql`select text from pages`)),
      )
      for (const page of pages) expect(page?.text).toHaveLength(characters)
    }
    const { heap } = (await db.memory()) as DatabaseMemory
    expect(heap).toBeLessThan((reads * characters) / 2)
  })

  test('reuses the space of deleted rows', async () => {
    const db = await openTestDatabase()
    onTestFinished(() => db.close())
    for (const name of ['full', 'calm']) await db.run(new Sql(`create table "${name}" (id int)`, []))
    const size = () => db.row(sql`select pg_relation_size('"full"') as bytes`)
    await db.run(fill)
    await db.run(sql`insert into calm select n from generate_series(1, 50) n`)
    await db.tidy()
    expect(await upkeptOf(db)).toEqual([{ name: 'full', vacuumed: true }])
    const before = await size()
    for (let times = 1; times <= 3; times++) {
      await db.run(sql`delete from "full"`)
      await db.tidy()
      await db.run(fill)
    }
    expect(await size()).toEqual(before)

    await db.run(sql`insert into calm select n from generate_series(1, 15) n`)
    await db.tidy()
    expect(await upkeptOf(db)).toEqual([
      { name: 'calm', vacuumed: true },
      { name: 'full', vacuumed: true },
    ])
  })

  test('only analyzes tables that it has no disk space to vacuum', async () => {
    const dir = temporaryDir()
    const disk = new Disk(dir)
    const db = new Db(await openEmbedded({ dataDir: join(dir, 'db') }, { disk }))
    onTestFinished(() => db.close())
    await db.run(sql`create table "full" (id int)`)
    await db.run(fill)
    const { bavail, bsize } = statfsSync(dir)
    // The disk counts as nearly full.
    disk.keptFree = 0.6 * bavail * bsize
    await db.tidy()
    expect(await upkeptOf(db)).toEqual([{ name: 'full', vacuumed: false }])
  })

  test('keeps the WAL short', async () => {
    const dir = temporaryDir()
    const db = await openEmbedded({ dataDir: join(dir, 'db') })
    const segments = () => readdirSync(join(dir, 'db', 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name)).length
    await db.query(sql`create table lines (text text)`)
    let most = 0
    for (let written = 1; written <= 4 * 500; written++) {
      await db.query(sql`insert into lines select repeat('x', 500) from generate_series(1, 300)`)
      if (written % 500 === 0) most = Math.max(most, segments())
    }
    await db.close()
    // Segments have 16 MB. 85 MB are written between two checks, 340 MB in total.
    expect(most).toBeLessThanOrEqual(12)
  })

  test('is closed before its process ends, also with statements underway', async () => {
    const program = join(temporaryDir(), 'program.mjs')
    writeFileSync(
      program,
      `const { openEmbedded } = await import(${JSON.stringify(new URL('db/embedded.js', compiledDir).href)})
      const db = await openEmbedded({})
      void db.query({ text: 'select 1', values: [] })
      await db.close()
      console.log('closed')`,
    )
    const { stdout } = await promisify(execFile)(process.execPath, [program])
    expect(stdout).toBe('closed\n')
  })

  test('fails all statements and says so once when its thread ends', async () => {
    let thread: Worker | undefined
    process.once('worker', (started) => {
      thread = started
    })
    const lost: string[] = []
    const db = await openEmbedded({}, { onLost: ({ message }) => lost.push(message) })
    const running = db.query(sql`select count(*) from generate_series(1, 10000000000)`)
    const waiting = db.query(sql`select 1`)
    const failed = expect(Promise.allSettled([running, waiting])).resolves.toMatchObject([
      { reason: { message: 'its thread ended' } },
      { reason: { message: 'its thread ended' } },
    ])
    await thread?.terminate()
    await failed
    await expect(db.query(sql`select 1`)).rejects.toThrow('its thread ended')
    await expect(db.transaction((query) => query(sql`select 1`))).rejects.toThrow('its thread ended')
    await db.close()
    expect(lost).toEqual(['its thread ended'])
  })
})
