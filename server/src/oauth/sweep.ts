import { days, plus } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { sweepAccessTokens } from '../login/grants.ts'

/** Programs that nobody ever consented to are forgotten after a month. */
const unusedMs = days(30)

/** Removes what can never be used again. Used codes and rotated tokens stay while they tell of a theft. */
export async function sweepOAuth(db: Queryable, now: Date) {
  await db.run(sql`delete from oauth_requests where expires_at < ${now}`)
  await db.run(sql`delete from oauth_codes where expires_at < ${plus(now, -days(1))}`)
  await sweepAccessTokens(db, now)
  await db.run(sql`delete from refresh_tokens where expires_at < ${now}`)
  await db.run(sql`
    delete from oauth_clients where used_at is null and created_at < ${plus(now, -unusedMs)}`)
}
