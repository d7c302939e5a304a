import { readdirSync, readFileSync } from 'node:fs'
import type { Db } from './database.ts'
import { sql } from './sql.ts'

const folder = new URL('../../migrations/', import.meta.url)

/** Any number, as long as every process takes the same: only one migrates at a time. */
const migrationLock = 7_226_866

/** It takes as long as it takes, and so does the wait for another process that is at it. */
const begin = `
  set local statement_timeout = 0;
  set local lock_timeout = 0;
  select pg_advisory_xact_lock(${migrationLock});
  create table if not exists migrations (name text primary key, applied_at timestamptz(3) not null default now())`

/**
 * Applies the numbered SQL files that the database has not seen, each in a transaction of its own. Two processes
 * may do this at once: the second waits for the lock, looks again and finds the work done.
 */
export async function migrate(db: Db): Promise<string[]> {
  const applied: string[] = []
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.sql')) continue
    const text = readFileSync(new URL(name, folder), 'utf8')
    const done = await db.tx(async (tx) => {
      await tx.script(begin)
      if (await tx.row(sql`select 1 from migrations where name = ${name}`)) return false
      await tx.script(text)
      await tx.run(sql`insert into migrations (name) values (${name})`)
      return true
    })
    if (done) applied.push(name)
  }
  return applied
}
