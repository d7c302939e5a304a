import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { serverDir } from '../paths.ts'
import { type Db, isLockTimeout } from './database.ts'
import { sql } from './sql.ts'
import { refuseUnfinished } from './unfinished.ts'

const folder = new URL('migrations/', serverDir)

/** An arbitrary number, the same in every process: only one migrates at a time. */
const migrationLock = 7_226_866

/**
 * While a migration waits for a table lock, all other statements on that table queue behind it. So it gives up early,
 * lets them through and tries again: the lock may be held by a backup that takes an hour.
 */
const lockTimeout = '2s'
const retryDelayMs = 1000

/** Only the wait for locks is limited, not the work itself. */
const begin = `
  set local lock_timeout = '${lockTimeout}';
  set local statement_timeout = 0;
  select pg_advisory_xact_lock(${migrationLock});
  create table if not exists migrations (name text primary key, applied_at timestamptz(3) not null default now())`

/** Called once for each migration that has to wait. */
type OnWaiting = (name: string) => void

/** The migrations of this version, in their order. */
export const migrationNames = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()

/** How the migrations of the database differ from those of this version. */
export async function differingMigrations(db: Db): Promise<{ missing: string[]; unknown: string[] }> {
  await refuseUnfinished(db)
  const { exists } = (await db.row<{ exists: boolean }>(sql`
    select to_regclass('public.migrations') is not null as exists`)) as { exists: boolean }
  const rows = exists ? await db.rows<{ name: string }>(sql`select name from migrations order by name`) : []
  const applied = rows.map(({ name }) => name)
  const expected = migrationNames()
  return {
    missing: expected.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !expected.includes(name)),
  }
}

/**
 * Applies the numbered SQL files that are not applied yet, each in its own transaction, and returns their names. Two
 * processes may do this at once: the second waits for the lock and then finds the work done.
 */
export async function migrate(
  db: Db,
  onWaiting: OnWaiting = () => {},
  { names = migrationNames(), isLoading = false }: { names?: readonly string[]; isLoading?: boolean } = {},
): Promise<string[]> {
  if (!isLoading) await refuseUnfinished(db)
  const applied: string[] = []
  for (const name of names) {
    const text = readFileSync(new URL(name, folder), 'utf8')
    if (await applyMigration(db, name, text, onWaiting)) applied.push(name)
  }
  return applied
}

/** Returns false when it was applied before. */
export async function applyMigration(db: Db, name: string, text: string, onWaiting: OnWaiting): Promise<boolean> {
  for (let first = true; ; first = false) {
    try {
      return await tryToApply(db, name, text)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (first) onWaiting(name)
      await sleep(retryDelayMs)
    }
  }
}

const tryToApply = (db: Db, name: string, text: string): Promise<boolean> =>
  db.tx(async (tx) => {
    await tx.script(begin)
    if (await tx.row(sql`select 1 from migrations where name = ${name}`)) return false
    await tx.script(text)
    await tx.run(sql`insert into migrations (name) values (${name})`)
    return true
  })
