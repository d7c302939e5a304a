import type { Issue } from '@baton/protocol'
import { days } from '../../clock.ts'

export interface RelatedIssue extends Pick<Issue, 'id' | 'code' | 'title' | 'status'> {
  url: string
  assignee: string | null
}

export interface Relations {
  issue: Pick<Issue, 'status' | 'due_date' | 'assignee_id' | 'updated_at'>
  /** The time zone of the assignee, in which the due date is a day. */
  timeZone: string | null
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

const formats = new Map<string, Intl.DateTimeFormat>()

/** The calendar day in the zone, as 2026-05-04. */
function dayIn(timeZone: string, moment: Date): string {
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone, ...parts })
  formats.set(timeZone, format)
  return format.format(moment)
}

/** The day on which it was due, if that day has ended in the zone. Until then it is not overdue. */
export function missedDay(dueDate: string | null, timeZone: string | null, now: Date): string | null {
  if (!dueDate) return null
  const due = dayIn(timeZone ?? 'UTC', new Date(dueDate))
  return due < dayIn(timeZone ?? 'UTC', now) ? due : null
}

/** Notes about blockers, relatives, due date, assignee and inactivity. */
export function relationNotes(relations: Relations, activeAt: Date, now: Date) {
  const { issue, timeZone, blockers, blocked, parent, children } = relations
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
  const missed = missedDay(issue.due_date, timeZone, now)
  if (missed && !isDone(issue)) notes.push(`Overdue: it was due on ${missed}.`)
  if (started.includes(issue.status) && !issue.assignee_id) notes.push('Started, but unassigned.')
  const quietDays = Math.floor((now.getTime() - activeAt.getTime()) / days(1))
  if (quietDays >= inactiveDays && !isDone(issue)) notes.push(`No activity for ${quietDays} days.`)
  return notes
}
