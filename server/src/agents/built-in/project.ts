import { api, type IssueStatus, issueStatuses, type Project } from '@baton/protocol'
import { issueUrlSql } from '../../addresses.ts'
import type { Context } from '../../context.ts'
import { sql } from '../../db/sql.ts'
import { issueInReach } from '../../installations/reach.ts'
import type { AgentSessionApi } from '../agent-session-api.ts'
import { useTool } from './read.ts'
import { countOf, issueLink, missedDay, type RelatedIssue, statusLabel } from './relations.ts'

/** The rest of a longer list is only counted. */
const issuesListed = 5
const issuesRead = 1000

interface Row extends RelatedIssue {
  overdue: boolean
  blockers: string[]
  started: boolean
}

/** The project's issues by status, and those that are overdue, blocked or unassigned. */
export async function projectSummary({ db, config, clock }: Context, session: AgentSessionApi, projectId: string) {
  const project = await useTool<Project>(session, api.getProject, { project_id: projectId })
  const caller = await session.caller()
  const now = clock.now()
  const rows = await db.rows<Omit<Row, 'overdue'> & { dueDate: string | null; timeZone: string | null }>(sql`
    select i.id, i.code, i.title, i.status, u.display_name as assignee,
      ${issueUrlSql(config)} as url,
      i.due_date as "dueDate", u.time_zone as "timeZone", i.status in ('in_progress', 'qa', 'release') as started,
      array(select b.code from issue_blocks n join issues b on b.id = n.blocker_id
        where n.blocked_id = i.id and b.status <> 'done' and not b.personal order by b.id) as blockers
    from issues i left join users u on u.id = i.assignee_id
    where i.project_id = ${projectId} and i.workspace_id = ${caller.workspaceId} and ${issueInReach(caller)}
    order by i.id limit ${issuesRead}`)
  const dated = rows.map(({ dueDate, timeZone, ...row }) => ({
    ...row,
    overdue: row.status !== 'done' && missedDay(dueDate, timeZone, now) !== null,
  }))
  return { count: rows.length, text: summaryOf(project, dated, now) }
}

export function summaryOf(project: Pick<Project, 'title' | 'target_date'>, rows: Row[], now: Date): string {
  if (rows.length === 0) return `**${project.title}** has no issues yet.`
  const count = (status: IssueStatus) => rows.filter((row) => row.status === status).length
  const counts = issueStatuses
    .filter((status) => count(status) > 0)
    .map((status) => `${count(status)} ${statusLabel(status)}`)
  const open = rows.filter(({ status }) => status !== 'done')
  const late = project.target_date && new Date(project.target_date) < now && open.length > 0
  return [
    `**${project.title}**: ${countOf(rows.length, 'issue')} · ${counts.join(' · ')}`,
    ...(late ? [`The target date, ${project.target_date?.slice(0, 10)}, has passed.`] : []),
    '',
    ...listed(
      'Overdue',
      open.filter(({ overdue }) => overdue),
      issueLink,
    ),
    ...listed(
      'Blocked',
      open.filter(({ blockers }) => blockers.length > 0),
      (row) => `${issueLink(row)}: blocked by ${row.blockers.join(', ')}`,
    ),
    ...listed(
      'Started, unassigned',
      open.filter(({ started, assignee }) => started && !assignee),
      issueLink,
    ),
    ...listed(
      'Not started, unassigned',
      open.filter(({ started, assignee }) => !started && !assignee),
      issueLink,
    ),
  ]
    .join('\n')
    .trim()
}

function listed(title: string, rows: Row[], line: (row: Row) => string): string[] {
  if (rows.length === 0) return []
  const more = rows.length > issuesListed ? [`- and ${rows.length - issuesListed} more`] : []
  return [`**${title}** (${rows.length})`, ...rows.slice(0, issuesListed).map((row) => `- ${line(row)}`), ...more, '']
}
