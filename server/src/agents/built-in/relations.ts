import type { Issue } from '@baton/protocol'
import { days } from '../../clock.ts'

/** Another issue, as far as it concerns this one. */
export interface Other extends Pick<Issue, 'id' | 'code' | 'title' | 'status'> {
  url: string
  assignee: string | null
}

export interface Surroundings {
  issue: Pick<Issue, 'status' | 'due_date' | 'assignee_id' | 'updated_at'>
  blockers: Other[]
  blocked: Other[]
  parent: Other | null
  children: Other[]
}

const untouchedDays = 30
const isOver = ({ status }: Pick<Issue, 'status'>) => status === 'done'
const underWay: Issue['status'][] = ['in_progress', 'qa', 'release']

export const linked = ({ code, title, url }: Pick<Other, 'code' | 'title' | 'url'>) =>
  `[${code} ${title.replace(/[[\]\\]/g, '\\$&')}](${url})`
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

export const statusWords = (status: Issue['status']) => status.replaceAll('_', ' ')
const who = ({ assignee }: Other) => assignee ?? 'nobody assigned'

/** What stands in the way, or no longer does, and what was forgotten. */
export function relationNotes(
  { issue, blockers, blocked, parent, children }: Surroundings,
  touchedAt: Date,
  now: Date,
) {
  const notes: string[] = []
  for (const other of blockers) {
    if (isOver(other)) notes.push(`${linked(other)} blocked it and is done: the way is free.`)
    else notes.push(`Blocked by ${linked(other)}: ${statusWords(other.status)}, ${who(other)}.`)
  }
  const waiting = blocked.filter((other) => !isOver(other))
  if (waiting.length > 0 && !isOver(issue)) notes.push(`Holds up ${waiting.map(linked).join(', ')}.`)
  if (parent && isOver(parent) && !isOver(issue))
    notes.push(`Its parent ${linked(parent)} is done: is this still wanted?`)
  const open = children.filter((other) => !isOver(other))
  if (children.length > 0)
    notes.push(
      open.length === 0
        ? `All ${children.length} sub-issues are done: is it done too?`
        : `${children.length - open.length} of ${children.length} sub-issues are done; open: ${open.slice(0, 3).map(linked).join(', ')}${open.length > 3 ? ` and ${open.length - 3} more` : ''}.`,
    )
  if (issue.due_date && new Date(issue.due_date) < now && !isOver(issue))
    notes.push(`Due since ${issue.due_date.slice(0, 10)}.`)
  if (underWay.includes(issue.status) && !issue.assignee_id) notes.push('Under way, with nobody assigned.')
  const quietDays = Math.floor((now.getTime() - touchedAt.getTime()) / days(1))
  if (quietDays >= untouchedDays && !isOver(issue))
    notes.push(`Before this, nobody had touched it for ${quietDays} days.`)
  return notes
}
