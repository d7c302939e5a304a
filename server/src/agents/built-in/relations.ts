import type { Issue } from '@baton/protocol'
import { days } from '../../clock.ts'

export interface RelatedIssue extends Pick<Issue, 'id' | 'code' | 'title' | 'status'> {
  url: string
  assignee: string | null
}

export interface Relations {
  issue: Pick<Issue, 'status' | 'due_date' | 'assignee_id' | 'updated_at'>
  blockers: RelatedIssue[]
  blocked: RelatedIssue[]
  parent: RelatedIssue | null
  children: RelatedIssue[]
}

const inactiveDays = 30
const isDone = ({ status }: Pick<Issue, 'status'>) => status === 'done'
const started: Issue['status'][] = ['in_progress', 'qa', 'release']

export const issueLink = ({ code, title, url }: Pick<RelatedIssue, 'code' | 'title' | 'url'>) =>
  `[${code} ${title.replace(/[[\]\\]/g, '\\$&')}](${url})`
export const countOf = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

export const statusLabel = (status: Issue['status']) => status.replaceAll('_', ' ')

/** Notes about blockers, relatives, due date, assignee and inactivity. */
export function relationNotes({ issue, blockers, blocked, parent, children }: Relations, activeAt: Date, now: Date) {
  const notes: string[] = []
  for (const other of blockers) {
    if (isDone(other)) notes.push(`No longer blocked by ${issueLink(other)}, which is done.`)
    else notes.push(`Blocked by ${issueLink(other)} (${statusLabel(other.status)}, ${other.assignee ?? 'unassigned'}).`)
  }
  const waiting = blocked.filter((other) => !isDone(other))
  if (waiting.length > 0 && !isDone(issue)) notes.push(`Blocks ${waiting.map(issueLink).join(', ')}.`)
  if (parent && isDone(parent) && !isDone(issue))
    notes.push(`Its parent ${issueLink(parent)} is done. Is this issue still needed?`)
  const open = children.filter((other) => !isDone(other))
  if (children.length > 0)
    notes.push(
      open.length === 0
        ? `All ${children.length} sub-issues are done. Is this issue done too?`
        : `${children.length - open.length} of ${children.length} sub-issues are done. Open: ${open.slice(0, 3).map(issueLink).join(', ')}${open.length > 3 ? ` and ${open.length - 3} more` : ''}.`,
    )
  if (issue.due_date && new Date(issue.due_date) < now && !isDone(issue))
    notes.push(`Overdue: it was due on ${issue.due_date.slice(0, 10)}.`)
  if (started.includes(issue.status) && !issue.assignee_id) notes.push('Started, but unassigned.')
  const quietDays = Math.floor((now.getTime() - activeAt.getTime()) / days(1))
  if (quietDays >= inactiveDays && !isDone(issue)) notes.push(`No activity for ${quietDays} days.`)
  return notes
}
