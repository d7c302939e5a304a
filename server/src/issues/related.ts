import { type IssueSummary, programLimits, type Related, type Watcher } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { issueInReach } from '../installations/reach.ts'
import { memberCovered } from '../workspaces/coverage.ts'
import { watcherCanSee, watchersOf } from './watchers.ts'

/** Watchers and duplicates of an issue that the caller can access. */
export async function readRelated(
  db: Queryable,
  caller: Actor,
  id: string,
): Promise<Pick<Related, 'watchers' | 'duplicate_of' | 'duplicates'>> {
  const watchers = await db.rows<Watcher>(sql`
    select w.user_id, w.state = 'muted' as muted
    from (${watchersOf([id])}) w join issues i on i.id = w.issue_id
    where w.state <> 'stopped' and ${watcherCanSee} and ${memberCovered(caller, sql`w.user_id`)}
    order by w.user_id <> ${caller.id}, w.user_id limit ${programLimits.watchersListed}`)
  const duplicates = await db.rows<IssueSummary & { original: boolean }>(sql`
    select i.id, i.code, i.title, i.status, d.original
    from (
      select duplicate_of_id as id, true as original from issue_duplicates where issue_id = ${id}
      union all
      (select issue_id, false from issue_duplicates where duplicate_of_id = ${id}
        order by issue_id desc limit ${programLimits.duplicatesListed})
    ) d
    join issues i on i.id = d.id
    where ${issueInReach(caller)}
    order by i.id desc`)
  const summaries = (original: boolean) =>
    duplicates.filter((one) => one.original === original).map(({ original: _, ...summary }) => summary)
  return { watchers, duplicate_of: summaries(true)[0] ?? null, duplicates: summaries(false) }
}
