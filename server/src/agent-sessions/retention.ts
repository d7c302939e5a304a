import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Db, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'

const sessionsPerBatch = 200

/** settings.retention-sessions: a message can still reopen one that is complete, so it is locked before it is deleted. */
export async function sweepSessions(db: Db, now: Date, { config: { keepDays } }: Context) {
  if (keepDays.sessions === 0) return
  const before = plus(now, -days(keepDays.sessions))
  const isOld = sql`(s.ended_at is not null or s.state in ('complete', 'error', 'stale')) and s.updated_at < ${before}`
  while ((await db.tx((tx) => deleteSessions(tx, isOld))) === sessionsPerBatch);
}

/** Deletes some of the sessions `s` with their activities, and returns how many. Another worker may delete others. */
export async function deleteSessions(tx: Tx, which: Sql, limit = sessionsPerBatch): Promise<number> {
  const rows = await tx.rows<{ id: string }>(sql`
    select s.id from agent_sessions s where ${which} limit ${limit} for update skip locked`)
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  await tx.run(sql`delete from agent_activities where session_id = any(${ids})`)
  await tx.run(sql`delete from agent_sessions where id = any(${ids})`)
  return ids.length
}
