import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'

export interface DecidedReviews {
  accepted: number
  sent_back: number
}

/** How often the results of these sessions were accepted and sent back, by session. */
export async function reviewsDecided(
  db: Queryable,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, DecidedReviews>> {
  const rows = await db.rows<DecidedReviews & { id: string }>(sql`
    select session_id as id, (count(*) filter (where state = 'accepted'))::int as accepted,
      (count(*) filter (where state = 'sent_back'))::int as sent_back
    from reviews where session_id = any(${sessionIds}) group by session_id`)
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}
