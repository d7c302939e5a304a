import { days, plus } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { sweepAccessTokens } from '../login/grants.ts'

/** Registered programs that no person has approved are deleted after this time. */
const unusedMs = days(30)

/** Deletes expired rows. Used codes and rotated tokens stay until then, to detect replays. */
export async function sweepOAuth(db: Queryable, now: Date) {
  await db.run(sql`delete from oauth_requests where expires_at < ${now}`)
  await db.run(sql`delete from oauth_codes where expires_at < ${plus(now, -days(1))}`)
  await sweepAccessTokens(db, now)
  await db.run(sql`delete from refresh_tokens where expires_at < ${now}`)
  await db.run(sql`
    delete from oauth_clients where used_at is null and created_at < ${plus(now, -unusedMs)}`)
}

/** Deletes the consents that an erased person had open. */
export const deleteRequestsOf = (tx: Queryable, userId: string) =>
  tx.run(sql`delete from oauth_requests where user_id = ${userId}`)
