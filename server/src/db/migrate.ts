import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, isLockTimeout } from './database.ts'
import { sql } from './sql.ts'

const folder = new URL('../../migrations/', import.meta.url)

/** Any number, as long as every process takes the same: only one migrates at a time. */
const migrationLock = 7_226_866

/**
 * While a migration waits for a table, everybody else who wants it waits behind it. So it gives up soon, lets them
 * through and tries again: what holds the table may be a backup that takes an hour.
 */
const patience = '2s'
const pauseMs = 1000

/** The work itself takes as long as it takes. */
const begin = `
  set local lock_timeout = '${patience}';
  set local statement_timeout = 0;
  select pg_advisory_xact_lock(${migrationLock});
  create table if not exists migrations (name text primary key, applied_at timestamptz(3) not null default now())`

/** Told once of a migration that has to wait. */
type Waiting = (name: string) => void

/**
 * Applies the numbered SQL files that the database has not seen, each in a transaction of its own. Two processes
 * may do this at once: the second waits for the lock, looks again and finds the work done.
 */
export async function migrate(db: Db, waiting: Waiting = () => {}): Promise<string[]> {
  const applied: string[] = []
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.sql')) continue
    const text = readFileSync(new URL(name, folder), 'utf8')
    if (await applyPatiently(db, name, text, waiting)) applied.push(name)
  }
  return applied
}

/** False when it has been applied before. */
export async function applyPatiently(db: Db, name: string, text: string, waiting: Waiting): Promise<boolean> {
  for (let first = true; ; first = false) {
    try {
      return await apply(db, name, text)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (first) waiting(name)
      await sleep(pauseMs)
    }
  }
}

const apply = (db: Db, name: string, text: string): Promise<boolean> =>
  db.tx(async (tx) => {
    await tx.script(begin)
    if (await tx.row(sql`select 1 from migrations where name = ${name}`)) return false
    await tx.script(text)
    await tx.run(sql`insert into migrations (name) values (${name})`)
    return true
  })
