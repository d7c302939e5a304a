import type { SourceFile, SourceLabel, SourceRecord, SourceUser } from '../record.ts'
import { excerpt, Produced } from './columns.ts'
import { readDay, readTime } from './dates.ts'
import { type JsonItem, jsonItems } from './json-items.ts'

// biome-ignore lint/suspicious/noExplicitAny: data of another service; each field is checked where it is read
type Json = any

/**
 * Issues and comments as GitHub's REST API and `gh issue list --json` write them. Pull requests are issues in the REST
 * API, and are skipped.
 */
export async function* readGithub(files: readonly SourceFile[]): AsyncGenerator<SourceRecord> {
  const produced = new Produced()
  let pullRequests = 0
  for await (const item of jsonItems(files)) {
    if (item.kind === 'problem') {
      yield item
      continue
    }
    for (const one of itemsOf(item)) {
      if (isPullRequest(one.value)) {
        pullRequests++
        continue
      }
      for (const record of recordsOf(one)) {
        if (['user', 'label', 'milestone'].includes(record.kind) && 'id' in record) {
          if (!produced.isNew(record.kind, record.id)) continue
        }
        yield record
      }
    }
  }
  if (pullRequests > 0) {
    const value = String(pullRequests)
    const message = `${value} pull request${pullRequests === 1 ? ' was' : 's were'} skipped`
    yield { kind: 'problem', row: null, field: null, value, message, skipped: pullRequests }
  }
}

/** A search wraps the issues; the fetcher names the kind of each object. */
function itemsOf({ row, value, kind }: JsonItem): JsonItem[] {
  if (Array.isArray(value.items)) return value.items.filter(isObject).map((one: Json) => ({ kind, row, value: one }))
  if (isObject(value.data) && typeof value.kind === 'string') return [{ kind, row, value: value.data }]
  return [{ kind, row, value }]
}

const isObject = (value: unknown): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Also a comment on one: the list of a repository's comments has both. */
const isPullRequest = (value: Json) =>
  isObject(value.pull_request) || value.isPullRequest === true || /\/pull\/\d+(?:$|#)/.test(webUrl(value))

const webUrl = (value: Json): string => text(value.html_url) ?? text(value.url) ?? ''

function* recordsOf({ row, value }: JsonItem): Generator<SourceRecord> {
  const repository = repositoryOf(value)
  if (typeof value.issue_url === 'string' && value.title === undefined) {
    const number = /\/issues\/(\d+)$/.exec(value.issue_url)?.[1]
    yield* commentOf(value, `${repository}#${number}`, row)
    return
  }
  const { number } = value
  if (typeof number !== 'number' || typeof value.title !== 'string') {
    const message = 'is no issue with a number and a title, and was skipped'
    yield { kind: 'problem', row, field: null, value: excerpt(JSON.stringify(value)), message }
    return
  }
  if (repository === '') {
    // Its number alone would find an issue of another repository.
    const message = 'names no repository and was skipped; add url to the fields of gh issue list --json'
    yield { kind: 'problem', row, field: 'url', value: `#${number}`, message }
    return
  }
  const id = `${repository}#${number}`
  const creator = userOf(value.user ?? value.author)
  const assignees = objects(value.assignees ?? [value.assignee]).flatMap((one) => userOf(one) ?? [])
  if (creator) yield creator
  yield* assignees
  const labels: SourceLabel[] = (Array.isArray(value.labels) ? value.labels : []).flatMap(labelOf)
  yield* labels
  const milestone = isObject(value.milestone) ? value.milestone : null
  const milestoneName = milestone && text(milestone.title)
  const milestoneId = milestoneName && `${repository}/${milestone.number ?? milestoneName}`
  if (milestoneName && milestoneId)
    yield {
      kind: 'milestone',
      id: milestoneId,
      name: milestoneName,
      project: null,
      due: day(milestone.due_on ?? milestone.dueOn),
    }
  const comments = objects(value.comments)
  const body = unixLines(text(value.body) ?? '')
  yield {
    kind: 'issue',
    id,
    key: null,
    team: repository,
    title: value.title,
    description: body,
    status: statusOf(value),
    priority: null,
    type: text(value.type?.name) ?? text(value.issueType?.name),
    labels: labels.map((label) => label.id),
    project: null,
    milestone: milestoneId,
    cycle: null,
    parent: parentOf(value, repository),
    blocks: [],
    blockedBy: [],
    duplicateOf: null,
    related: [],
    creator: creator?.id ?? null,
    assignee: assignees[0]?.id ?? null,
    ...(assignees.length > 1 ? { assignees: assignees.map((one) => one.id) } : {}),
    hours: null,
    points: null,
    due: null,
    createdAt: time(value.created_at ?? value.createdAt),
    updatedAt: time(value.updated_at ?? value.updatedAt),
    completedAt: time(value.closed_at ?? value.closedAt),
    archived: false,
    url: text(value.html_url) ?? text(value.url),
    row,
  }
  if (assignees.length > 1) {
    const names = assignees.slice(1).map((one) => one.id)
    const message = 'An issue has one assignee; the first one is used.'
    yield { kind: 'problem', row, field: 'assignees', value: excerpt(names.join(', ')), message }
  }
  yield* filesIn(body, id, row)
  for (const comment of comments) yield* commentOf(comment, id, row)
}

function* commentOf(value: Json, issue: string, row: number): Generator<SourceRecord> {
  const body = unixLines(text(value.body) ?? '')
  const author = userOf(value.user ?? value.author)
  if (author) yield author
  // `gh` has the node id, REST the number; both have it at the end of the address.
  const number = /#issuecomment-(\d+)$/.exec(webUrl(value))?.[1]
  const id = `${issue}/${number ?? value.id ?? row}`
  yield {
    kind: 'comment',
    id,
    issue,
    author: author?.id ?? null,
    text: body,
    createdAt: time(value.created_at ?? value.createdAt),
    updatedAt: time(value.updated_at ?? value.updatedAt),
    row,
  }
  yield* filesIn(body, issue, row, id)
}

/** Files that users dropped into a text. */
const uploads =
  /https:\/\/(?:github\.com\/(?:user-attachments\/(?:assets|files)|[\w.-]+\/[\w.-]+\/(?:assets|files))\/[\w./-]+|user-images\.githubusercontent\.com\/[\w./%-]+)/g

function* filesIn(body: string, issue: string, row: number, comment?: string): Generator<SourceRecord> {
  for (const url of new Set(body.match(uploads))) {
    const name = decoded(url.split('/').at(-1) ?? 'file')
    yield {
      kind: 'attachment',
      id: `${issue} ${url}`,
      issue,
      name,
      url,
      textUrl: url,
      ...(comment ? { comment } : {}),
      row,
    }
  }
}

function decoded(part: string) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** owner/name; empty if the data does not say it. */
function repositoryOf(value: Json): string {
  const api = /\/repos\/([^/]+\/[^/]+)/.exec(
    text(value.repository_url) ?? text(value.issue_url) ?? text(value.url) ?? '',
  )
  const web = /^https?:\/\/[^/]+\/([^/]+\/[^/]+)\/(?:issues|pull)\/\d/.exec(webUrl(value))
  return api?.[1] ?? web?.[1] ?? ''
}

function parentOf(value: Json, repository: string): string | null {
  const [, owner, number] = /\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)$/.exec(text(value.parent_issue_url) ?? '') ?? []
  if (owner) return `${owner}#${number}`
  return typeof value.parent?.number === 'number'
    ? `${repositoryOf(value.parent) || repository}#${value.parent.number}`
    : null
}

/** open, closed, not planned or duplicate. */
function statusOf(value: Json): string | null {
  const state = text(value.state)?.toLowerCase() ?? null
  const reason = (text(value.state_reason) ?? text(value.stateReason) ?? '').toLowerCase()
  return state === 'closed' && ['not_planned', 'duplicate'].includes(reason) ? reason.replace('_', ' ') : state
}

/** GitHub shows no addresses; `gh` has the name of some users. */
function userOf(value: Json): SourceUser | null {
  const login = isObject(value) ? text(value.login) : null
  if (login === null) return null
  return { kind: 'user', id: login, name: text(value.name) ?? login, email: text(value.email) }
}

function labelOf(value: Json): SourceLabel[] {
  const name = typeof value === 'string' ? text(value) : isObject(value) ? text(value.name) : null
  if (name === null) return []
  const color = text(value.color)
  const isColor = color !== null && /^[0-9a-f]{6}$/i.test(color)
  return [{ kind: 'label', id: name, name, color: isColor ? `#${color.toLowerCase()}` : null }]
}

const objects = (value: Json): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const time = (value: unknown) => (typeof value === 'string' ? readTime(value, null) : null)
const day = (value: unknown) => (typeof value === 'string' ? readDay(value, null) : null)
const unixLines = (value: string) => value.replace(/\r\n?/g, '\n')
