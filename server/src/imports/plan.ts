import { hash } from 'node:crypto'
import { type ImportMapping, type Issue, limits, normalizeName } from '@baton/protocol'

import { proposePriority, proposeStatus, proposeType } from './mapping.ts'
import type { SourceComment, SourceIssue } from './record.ts'
import { closedLabelOf, type Problem } from './survey.ts'

/** Ids here of what the source refers to; null for what is left out. */
export interface Targets {
  /** By name; '' for issues without a team. */
  teams: ReadonlyMap<string, string | null>
  users: ReadonlyMap<string, string>
  labels: ReadonlyMap<string, string | null>
  projects: ReadonlyMap<string, string | null>
  milestones: ReadonlyMap<string, { id: string; projectId: string } | null>
  /** By `cycleKey`. */
  cycles: ReadonlyMap<string, string | null>
}

export interface Attachment {
  external_id: string
  name: string
  url: string
  text_url: string | null
  comment: string | null
  is_link: boolean
  file_id: string
  fetched: boolean
}

/** The values of an issue that the source decides. */
export interface PlannedIssue {
  title: string
  description: string
  status: Issue['status']
  priority: Issue['priority']
  type: Issue['type']
  team_id: string | null
  project_id: string | null
  milestone_id: string | null
  cycle_id: string | null
  reporter_id: string | null
  assignee_id: string | null
  label_ids: string[]
  time_estimate: number | null
  due_date: string | null
  completed_at: string | null
  created_at: string
  updated_at: string
}

export interface Planned<T> {
  item: T
  problems: Problem[]
  /** Of everything that the source and the mapping decide. */
  hash: Buffer
}

export const cycleKey = (cycle: string, teamId: string) => `${cycle}\n${teamId}`
export const closedLabelKey = (label: string) => `closed ${label}`

/** Whether the mapping leaves the issue out; its team may be skipped too. */
export const isLeftOut = (issue: { archived: boolean }, mapping: ImportMapping) => issue.archived && !mapping.archived

export const statusFor = (mapping: ImportMapping, status: string, category: string | null | undefined) =>
  Object.hasOwn(mapping.statuses, status) ? (mapping.statuses[status] ?? null) : proposeStatus(status, category)

/** What the issue becomes. `now` stands for times that the source does not have. */
export function planIssue(
  issue: SourceIssue,
  mapping: ImportMapping,
  targets: Targets,
  attachments: readonly Attachment[],
  now: Date,
): Planned<PlannedIssue> {
  const problems: Problem[] = []
  const report = (field: string, value: string | null, message: string) =>
    problems.push({ row: issue.row, field, value: value === null ? null : clip(value, 200), message })

  const mapped = <T extends string>(
    field: 'status' | 'priority' | 'type',
    value: string | null,
    found: T | null,
    otherwise: T,
  ): T => {
    if (value !== null && found === null) report(field, value, `is not mapped; the issue gets ${otherwise}`)
    return found ?? otherwise
  }
  const own = <T>(table: Record<string, T | null>, value: string, proposal: T | null): T | null =>
    Object.hasOwn(table, value) ? (table[value] ?? null) : proposal
  const { statuses: _, priorities, types } = mapping
  const status = mapped(
    'status',
    issue.status,
    issue.status === null ? null : statusFor(mapping, issue.status, issue.statusType),
    'backlog',
  )
  const priority = mapped(
    'priority',
    issue.priority,
    issue.priority === null ? null : own(priorities, issue.priority, proposePriority(issue.priority)),
    'no_priority',
  )
  const type = mapped(
    'type',
    issue.type,
    issue.type === null ? null : own(types, issue.type, proposeType(issue.type)),
    'task',
  )

  const title = titleOf(issue.title, report)
  const texts = withFiles(
    cleanText(issue.description),
    attachments.filter(({ comment }) => comment === null),
  )
  const description = cut(texts, limits.description, () =>
    report('description', null, `has more than ${limits.description} characters; the rest is left out`),
  )
  const team_id = targets.teams.get(issue.team ?? '') ?? null
  const place = placeOf(issue, team_id, targets, report)

  const labels = issue.labels.map((label) => targets.labels.get(label))
  const closed = status === 'done' ? closedLabelOf(issue) : null
  if (closed) labels.push(targets.labels.get(closedLabelKey(closed)))
  const label_ids = [...new Set(labels.filter((label) => typeof label === 'string'))].sort().slice(0, limits.idsInArray)

  const user = (id: string | null) => (id === null ? null : (targets.users.get(id) ?? null))
  const created_at = timeOf(issue.createdAt) ?? now.toISOString()
  const updated_at = later(timeOf(issue.updatedAt) ?? created_at, created_at)
  const planned: PlannedIssue = {
    title,
    description,
    status,
    priority,
    type,
    team_id,
    ...place,
    reporter_id: user(issue.creator),
    assignee_id: user(issue.assignee),
    label_ids,
    time_estimate: hoursOf(issue, mapping),
    due_date: issue.due === null ? null : timeOf(issue.due),
    completed_at: status === 'done' ? (timeOf(issue.completedAt) ?? updated_at) : null,
    created_at,
    updated_at,
  }
  // Ids of items that this import creates are not known in a preview, so the hash has the source's ids.
  const { team, project, milestone, cycle, creator, assignee, createdAt, updatedAt } = issue
  const hash = hashOf([
    [
      title,
      texts,
      status,
      priority,
      type,
      planned.time_estimate,
      planned.due_date,
      createdAt,
      updatedAt,
      issue.completedAt,
    ],
    [team, project, milestone, cycle, creator, assignee],
    issue.labels.filter((label) => targets.labels.get(label)),
    closed,
  ])
  return { item: planned, problems, hash }
}

function placeOf(
  issue: SourceIssue,
  teamId: string | null,
  targets: Targets,
  report: (field: string, value: string | null, message: string) => void,
): Pick<PlannedIssue, 'project_id' | 'milestone_id' | 'cycle_id'> {
  const milestone = issue.milestone === null ? null : (targets.milestones.get(issue.milestone) ?? null)
  const project_id =
    issue.project === null ? (milestone?.projectId ?? null) : (targets.projects.get(issue.project) ?? null)
  const fits = milestone !== null && milestone.projectId === project_id
  if (milestone && !fits)
    report('milestone', issue.milestone, 'belongs to another project; the issue gets no milestone')
  const cycle_id = issue.cycle && teamId ? (targets.cycles.get(cycleKey(issue.cycle, teamId)) ?? null) : null
  return { project_id, milestone_id: fits ? milestone.id : null, cycle_id }
}

/** Points are not hours: they need a factor. */
function hoursOf({ hours, points }: SourceIssue, { hours_per_point }: ImportMapping): number | null {
  const value = hours ?? (points !== null && hours_per_point !== null ? points * hours_per_point : null)
  return value === null || !Number.isFinite(value)
    ? null
    : Math.min(Math.max(Math.round(value * 100) / 100, 0), 100_000)
}

export interface PlannedComment {
  text: string
  author_id: string | null
  created_at: string
  updated_at: string
}

/** Null for a comment without text. */
export function planComment(
  comment: SourceComment,
  targets: Pick<Targets, 'users'>,
  attachments: readonly Attachment[],
  now: Date,
): { item: PlannedComment; problems: Problem[] } | null {
  const problems: Problem[] = []
  const whole = withFiles(cleanText(comment.text), attachments)
  if (whole.trim() === '') return null
  const text = cut(whole, limits.comment, () => {
    const message = `has more than ${limits.comment} characters; the rest is left out`
    problems.push({ row: comment.row, field: 'comment', value: null, message })
  })
  const created_at = timeOf(comment.createdAt) ?? now.toISOString()
  const updated_at = later(timeOf(comment.updatedAt) ?? created_at, created_at)
  const author_id = comment.author === null ? null : (targets.users.get(comment.author) ?? null)
  return { item: { text, author_id, created_at, updated_at }, problems }
}

/**
 * Files that the text shows are shown by their id. An attachment that could not be fetched, or that is only a link,
 * keeps its address (import.attachments).
 */
function withFiles(text: string, attachments: readonly Attachment[]): string {
  let shown = text
  const links: string[] = []
  for (const { fetched, text_url, url, name, file_id } of attachments) {
    if (fetched && text_url !== null) shown = shown.replaceAll(`](${text_url}`, `](${file_id}`)
    else if (!fetched && text_url === null && !shown.includes(url)) {
      links.push(`[${cleanName(name, 200).replace(/[[\]\\]/g, ' ')}](<${url.replace(/[<>\s]/g, '')}>)`)
    }
  }
  return links.length === 0 ? shown : [shown.trimEnd(), links.join('\n')].filter(Boolean).join('\n\n')
}

function titleOf(title: string, report: (field: string, value: string | null, message: string) => void): string {
  const clean = cleanText(title).replace(/\s+/g, ' ').trim()
  if (clean === '') {
    report('title', null, 'is empty; the issue is called Untitled')
    return 'Untitled'
  }
  return cut(clean, limits.title, () =>
    report('title', clean, `has more than ${limits.title} characters; the rest is left out`),
  )
}

/** Without what a database cannot store. */
export const cleanText = (text: string) =>
  text
    .replace(/\p{Cs}/gu, '\uFFFD')
    .replaceAll('\u0000', '')
    .replace(/\r\n?/g, '\n')

/** A name in its stored form: one line, without hidden characters, of limited length. */
export const cleanName = (text: string, most: number = limits.name) =>
  clip(
    normalizeName(
      cleanText(text)
        .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
        .replace(/[\p{Cf}\p{Cs}\u2800\uFFFC]/gu, ''),
    ).replace(/^\p{M}+/u, ''),
    most,
  ).trim() || 'Untitled'

/** Counts Unicode characters, each of which has one or two units. */
export const clip = (text: string, most: number) =>
  text.length <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join('')

function cut(text: string, most: number, onCut: () => void): string {
  const kept = clip(text, most)
  if (kept.length < text.length) onCut()
  return kept
}

/** In the format of the API; null unless it is a time that can be stored. */
function timeOf(text: string | null): string | null {
  if (text === null) return null
  const time = new Date(text)
  const year = time.getUTCFullYear()
  return Number.isNaN(time.getTime()) || year < 1900 || year > 2999 ? null : time.toISOString()
}

const later = (a: string, b: string) => (a > b ? a : b)

export const hashOf = (value: unknown) => hash('sha256', JSON.stringify(value), 'buffer')
