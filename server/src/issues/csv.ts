import { Readable } from 'node:stream'
import { type IssueExport, programLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { csvLine } from '../http/csv.ts'
import { Reply } from '../http/route.ts'
import { projectInReach } from '../installations/reach.ts'
import { teamCovered } from '../workspaces/coverage.ts'
import type { StoredIssue } from './queries.ts'
import { listStatement, withUrl } from './read.ts'

/** Issues read at once; one can have a description of 100 KB. */
const atOnce = 200

type Row = StoredIssue &
  Record<
    'team' | 'project' | 'milestone' | 'cycle' | 'parent' | 'reporter' | 'assignee' | 'delegate' | 'labels',
    string | null
  > & { url: string }

const columns = [
  'id',
  'code',
  'title',
  'description',
  'status',
  'priority',
  'type',
  'team',
  'project',
  'milestone',
  'cycle',
  'parent',
  'reporter',
  'assignee',
  'delegate',
  'labels',
  'time_estimate',
  'due_date',
  'completed_at',
  'created_at',
  'updated_at',
  'personal',
  'url',
] as const

/** Streams the issues that the list with the same filters shows. The reader's speed sets how fast they are read. */
export function exportIssues(ctx: Context, caller: Actor, filter: IssueExport) {
  const lines = async function* () {
    yield csvLine(columns)
    for await (const rows of csvPages(ctx, caller, filter)) {
      yield rows.map((row) => csvLine(columns.map((column) => String(row[column] ?? '')))).join('')
    }
  }
  const name = `issues-${ctx.clock.now().toISOString().slice(0, 10)}.csv`
  return new Reply(Readable.from(lines()), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  })
}

/** The newest `most` issues with the names of what they refer to. */
export async function* csvPages(
  ctx: Context,
  caller: Actor,
  filter: IssueExport,
  most: number = programLimits.csvRows,
): AsyncGenerator<Row[]> {
  let last: string | undefined
  for (let left = most; left > 0; left -= atOnce) {
    const wanted = Math.min(left, atOnce)
    const rows = await ctx.db.rows<Row>(withNames(caller, filter, last, wanted))
    yield rows.map((row) => ({ ...row, ...withUrl(ctx.config, row) }))
    last = rows.at(-1)?.id
    if (rows.length < wanted) return
  }
}

/** Names of items that an app cannot access are left out, as it sees only their ids elsewhere. */
const withNames = (caller: Actor, filter: IssueExport, after: string | undefined, count: number) => sql`
  select l.*, t.name as team, p.title as project, m.name as milestone, c.name as cycle, x.code as parent,
    reporter.display_name as reporter, assignee.display_name as assignee, delegate.display_name as delegate,
    (select string_agg(b.name, ', ' order by b.name) from labels b where b.id = any(l.label_ids)) as labels
  from (${listStatement(caller, filter, after, count)}) l
  left join teams t on t.id = l.team_id
  left join projects p on p.id = l.project_id and ${projectInReach(caller)}
  left join milestones m on m.id = l.milestone_id and m.project_id = p.id
  left join cycles c on c.id = l.cycle_id
  left join issues x on x.id = l.parent_id and ${teamCovered(caller, sql`x.team_id`)}
  left join users reporter on reporter.id = l.reporter_id
  left join users assignee on assignee.id = l.assignee_id
  left join users delegate on delegate.id = l.delegate_id
  order by l.id desc`
