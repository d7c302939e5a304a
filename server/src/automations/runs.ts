import { type AutomationRun, automationLimits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Db, Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'

/** An issue that became personal is not shown: every member reads runs. */
export const readRuns = (db: Queryable, rest: Sql) =>
  db.rows<AutomationRun>(sql`
    select r.id, r.version, r.cause,
      case when i.id is not null then jsonb_build_object('id', i.id, 'code', i.code, 'title', i.title) end as issue,
      r.state, r.reason, r.message, r.actions, jsonb_array_length(r.chain) + 1 as depth, r.created_at, r.finished_at
    from automation_runs r left join issues i on i.id = r.issue_id and not i.personal
    where ${rest}`)

export async function listRuns(
  ctx: Context,
  { workspaceId }: Member,
  id: string,
  query: PageQuery & { state?: AutomationRun['state'] },
) {
  found(await ctx.db.row(sql`select 1 from automations where id = ${id} and workspace_id = ${workspaceId}`))
  return page<AutomationRun>(
    ctx.keys,
    `runs of ${id}`,
    query,
    (run) => [run.id],
    (after, count) =>
      readRuns(
        ctx.db,
        sql`r.automation_id = ${id} ${query.state ? sql`and r.state = ${query.state}` : none}
          ${after ? sql`and r.id < ${after[0]}` : none}
          order by r.id desc limit ${count}`,
      ),
  )
}

const sweptAtOnce = 2000

/** automation.run-history: deletes runs that finished more than 30 days ago. */
export async function sweepRuns(db: Db, now: Date) {
  const before = plus(now, -days(automationLimits.runDays))
  for (;;) {
    const deleted = await db.run(sql`
      delete from automation_runs where id = any(array(
        select id from automation_runs where finished_at < ${before} limit ${sweptAtOnce}))`)
    if (deleted < sweptAtOnce) return
  }
}
