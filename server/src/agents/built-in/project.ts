import { api, type IssueStatus, issueStatuses, type Project } from '@baton/protocol'
import { issueUrlSql } from '../../addresses.ts'
import type { Context } from '../../context.ts'
import { sql } from '../../db/sql.ts'
import { issueInReach } from '../../installations/reach.ts'
import type { Hands } from '../mind.ts'
import { used } from './look.ts'
import { counted, linked, type Other, statusWords } from './relations.ts'

/** Of more than these the rest is counted and not named. */
const named = 5
const issuesRead = 1000

interface Row extends Other {
  overdue: boolean
  blockers: string[]
  started: boolean
}

/** How a project stands: its issues by status, and those that somebody should look at. */
export async function projectSummary({ db, config, clock }: Context, hands: Hands, projectId: string) {
  const project = await used<Project>(hands, api.getProject, { project_id: projectId })
  const caller = await hands.caller()
  const rows = await db.rows<Row>(sql`
    select i.id, i.code, i.title, i.status, u.display_name as assignee,
      ${issueUrlSql(config)} as url,
      i.status <> 'done' and i.due_date < ${clock.now()} as overdue, i.status in ('in_progress', 'qa', 'release') as started,
      array(select b.code from issue_blocks n join issues b on b.id = n.blocker_id
        where n.blocked_id = i.id and b.status <> 'done' and not b.personal order by b.id) as blockers
    from issues i left join users u on u.id = i.assignee_id
    where i.project_id = ${projectId} and i.workspace_id = ${caller.workspaceId} and ${issueInReach(caller)}
    order by i.id limit ${issuesRead}`)
  return { count: rows.length, text: summaryOf(project, rows, clock.now()) }
}

export function summaryOf(project: Pick<Project, 'title' | 'target_date'>, rows: Row[], now: Date): string {
  if (rows.length === 0) return `**${project.title}** has no issues yet.`
  const count = (status: IssueStatus) => rows.filter((row) => row.status === status).length
  const counts = issueStatuses
    .filter((status) => count(status) > 0)
    .map((status) => `${count(status)} ${statusWords(status)}`)
  const open = rows.filter(({ status }) => status !== 'done')
  const late = project.target_date && new Date(project.target_date) < now && open.length > 0
  return [
    `**${project.title}**: ${counted(rows.length, 'issue')} · ${counts.join(' · ')}`,
    ...(late ? [`Its target date was ${project.target_date?.slice(0, 10)}.`] : []),
    '',
    ...listed(
      'Overdue',
      open.filter(({ overdue }) => overdue),
      linked,
    ),
    ...listed(
      'Blocked',
      open.filter(({ blockers }) => blockers.length > 0),
      (row) => `${linked(row)} waits for ${row.blockers.join(', ')}`,
    ),
    ...listed(
      'Under way, nobody assigned',
      open.filter(({ started, assignee }) => started && !assignee),
      linked,
    ),
    ...listed(
      'Waiting for somebody to take it',
      open.filter(({ started, assignee }) => !started && !assignee),
      linked,
    ),
  ]
    .join('\n')
    .trim()
}

function listed(title: string, rows: Row[], line: (row: Row) => string): string[] {
  if (rows.length === 0) return []
  const more = rows.length > named ? [`- and ${rows.length - named} more`] : []
  return [`**${title}** (${rows.length})`, ...rows.slice(0, named).map((row) => `- ${line(row)}`), ...more, '']
}
