import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { isFirst, isRedelivery, isRetry } from './claim.ts'

export interface Backlog {
  due: number
  /** Null if none is due. */
  oldestAt: string | null
}

/**
 * Deliveries that could be sent now, with those being sent. Held ones and replays are not counted: they wait for a
 * person, or until nothing else is due.
 */
export const readBacklog = async (db: Queryable, now: Date): Promise<Backlog> =>
  (await db.row<Backlog>(sql`
    select coalesce(sum(d.count), 0)::int as due, min(d.oldest) as "oldestAt"
    from endpoints e, lateral (
      select count(*) as count, min(next_at) as oldest from deliveries
        where endpoint_id = e.id and ${isFirst} and e.state = 'enabled' and redeliver_at is null
      union all
      select count(*), min(next_at) from deliveries
        where endpoint_id = e.id and ${isRetry} and e.state = 'enabled' and redeliver_at is null and next_at <= ${now}
      union all
      select count(*), min(redeliver_at) from deliveries where endpoint_id = e.id and ${isRedelivery}
    ) d
    where e.deleted_at is null and not e.paused`)) as Backlog
