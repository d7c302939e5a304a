import pg from 'pg'
import { type Sql, sql } from '../src/db/sql.ts'
import type { TestApp } from './harness.ts'
import { withDatabase } from './postgres.ts'

/**
 * Starts requests while another connection holds a lock that they need, and releases it once several wait for it, so
 * that they have all read what was stored before the first of them changes it. Needs PostgreSQL.
 */
export const collide = <T>(app: TestApp, lock: Sql, start: () => Promise<T>[]): Promise<T[]> =>
  whileLocked(app, lock, 5, () => Promise.all(start()))

/**
 * Starts a request while another connection holds a lock that it needs, and makes changes on that connection once the
 * request waits: what the request read before is old when it continues. Needs PostgreSQL.
 */
export const overtake = <T>(app: TestApp, lock: Sql, start: () => Promise<T>, changes: Sql[]): Promise<T> =>
  whileLocked(app, lock, 1, start, changes)

async function whileLocked<T>(
  { ctx: { db } }: TestApp,
  lock: Sql,
  waiting: number,
  start: () => Promise<T>,
  changes: Sql[] = [],
): Promise<T> {
  const used = await db.row<{ name: string }>(sql`select current_database() as name`)
  const holder = new pg.Client({ connectionString: withDatabase(process.env.DATABASE_URL ?? '', used?.name ?? '') })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query(lock.text, [...lock.values])
    const requests = start()
    requests.catch(() => {}) // awaited below, unless the lock cannot be released
    while ((await waitingForLocks(holder)) < waiting);
    for (const { text, values } of changes) await holder.query(text, [...values])
    await holder.query('commit')
    return await requests
  } finally {
    await holder.end()
  }
}

async function waitingForLocks(client: pg.Client): Promise<number> {
  // Within a transaction the view would stay as it was when first read.
  await client.query('select pg_stat_clear_snapshot()')
  const { rows } = await client.query(`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`)
  return rows[0].count
}

/** How many there were in the database, also during earlier tests. */
export async function deadlocksIn({ ctx }: TestApp): Promise<number> {
  const row = await ctx.db.row<{ deadlocks: number }>(
    sql`select deadlocks::int from pg_stat_database where datname = current_database()`,
  )
  return row?.deadlocks ?? 0
}
