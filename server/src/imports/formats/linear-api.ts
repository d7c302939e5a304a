import type { SourceFile, SourceIssue, SourceRecord } from '../record.ts'
import { readDay, readTime } from './dates.ts'
import { jsonItems } from './json-items.ts'

// biome-ignore lint/suspicious/noExplicitAny: data of another service; each field is checked where it is read
type Json = any

/** Relations are kept in memory until their issue comes; those of 100,000 issues take about 30 MB. */
const maxRelations = 200_000

/**
 * Lines of `fetch-linear.ts`: `{"kind": "issues", "data": {…}}`, named after the lists of Linear's API. Relations come
 * before issues.
 */
export async function* readLinearApi(files: readonly SourceFile[]): AsyncGenerator<SourceRecord> {
  const relations = new Relations()
  const teams = new Map<string, string>()
  for await (const item of jsonItems(files)) {
    if (item.kind === 'problem') {
      yield item
      continue
    }
    const { row, value } = item
    const node: Json = typeof value.data === 'object' && value.data !== null ? value.data : {}
    if (text(node.id) === null) continue
    if (value.kind === 'teams') teams.set(node.id, text(node.name) ?? text(node.key) ?? node.id)
    else if (value.kind === 'issueRelations') yield* relations.add(node, row)
    else yield* recordsOf(value.kind, node, row, relations, teams)
  }
}

function* recordsOf(
  kind: unknown,
  node: Json,
  row: number,
  relations: Relations,
  teams: Map<string, string>,
): Generator<SourceRecord> {
  const { id } = node
  const name = text(node.name) ?? ''
  switch (kind) {
    case 'users':
      yield { kind: 'user', id, name: name || (text(node.displayName) ?? ''), email: text(node.email) }
      return
    case 'issueLabels':
      // A group cannot be on an issue.
      if (node.isGroup !== true) yield { kind: 'label', id, name, color: text(node.color) }
      return
    case 'projects':
      yield { kind: 'project', id, name, description: text(node.content) ?? text(node.description) ?? '' }
      return
    case 'projectMilestones':
      yield { kind: 'milestone', id, name, project: idOf(node.project), due: day(node.targetDate) }
      return
    case 'cycles':
      yield {
        kind: 'cycle',
        id,
        name: text(node.name) ?? `Cycle ${node.number}`,
        team: teams.get(idOf(node.team) ?? '') ?? null,
        starts: day(node.startsAt),
        ends: day(node.endsAt),
      }
      return
    case 'issues':
      yield* issueOf(node, row, relations, teams)
      return
    case 'comments':
      yield* commentOf(node, row)
      return
    case 'attachments': {
      const [issue, url] = [idOf(node.issue), text(node.url)]
      if (issue && url)
        yield { kind: 'attachment', id, issue, name: text(node.title) ?? url, url, ...linkMark(url), row }
    }
  }
}

function* issueOf(node: Json, row: number, relations: Relations, teams: Map<string, string>): Generator<SourceRecord> {
  const { description, files } = withFiles(text(node.description) ?? '')
  // Issues in the trash are deleted after 30 days.
  if (node.trashed === true) return
  const issue: SourceIssue = {
    kind: 'issue',
    id: node.id,
    key: text(node.identifier),
    team: teams.get(idOf(node.team) ?? '') ?? null,
    title: text(node.title) ?? '',
    description,
    status: text(node.state?.name),
    statusType: text(node.state?.type),
    priority: text(node.priorityLabel),
    type: null,
    labels: Array.isArray(node.labelIds) ? node.labelIds.filter((one: unknown) => text(one) !== null) : [],
    project: idOf(node.project),
    milestone: idOf(node.projectMilestone),
    cycle: idOf(node.cycle),
    parent: idOf(node.parent),
    ...relations.of(node.id),
    creator: idOf(node.creator),
    assignee: idOf(node.assignee),
    hours: null,
    points: typeof node.estimate === 'number' ? node.estimate : null,
    due: day(node.dueDate),
    createdAt: time(node.createdAt),
    updatedAt: time(node.updatedAt),
    completedAt: time(node.completedAt) ?? time(node.canceledAt),
    archived: text(node.archivedAt) !== null,
    url: text(node.url),
    row,
  }
  yield issue
  for (const file of files) yield { ...file, id: `${node.id} ${file.textUrl}`, issue: node.id, row }
}

/** Comments on projects and documents have no issue. */
function* commentOf(node: Json, row: number): Generator<SourceRecord> {
  const issue = text(node.issueId) ?? idOf(node.issue)
  if (!issue) return
  const { description, files } = withFiles(text(node.body) ?? '')
  yield {
    kind: 'comment',
    id: node.id,
    issue,
    author: idOf(node.user),
    text: description,
    createdAt: time(node.createdAt),
    updatedAt: time(node.editedAt) ?? time(node.updatedAt),
    row,
  }
  for (const file of files) yield { ...file, id: `${node.id} ${file.textUrl}`, issue, comment: node.id, row }
}

const upload = /(!?\[([^[\]\n]{0,200})\]\()?(https:\/\/uploads\.linear\.app\/[\w./-]+)(\?[\w=&%.~+-]*)?/g

/** The signature is removed from the text: it expires, and it differs each time, as if the text had changed. */
function withFiles(body: string) {
  const files = new Map<string, { kind: 'attachment'; name: string; url: string; textUrl: string }>()
  const description = body.replace(upload, (_, link = '', label = '', url = '', signature = '') => {
    const name = label.trim() || url.split('/').at(-1) || 'file'
    if (!files.has(url)) files.set(url, { kind: 'attachment', name, url: url + signature, textUrl: url })
    return link + url
  })
  return { description, files: [...files.values()] }
}

const linkMark = (url: string) => (url.startsWith('https://uploads.linear.app/') ? {} : { isLink: true })

/** By the issue that has them. Linear stores each once. */
class Relations {
  readonly #byIssue = new Map<string, { type: string; other: string }[]>()
  #count = 0

  of(id: string): Pick<SourceIssue, 'blocks' | 'blockedBy' | 'duplicateOf' | 'related'> {
    const all = this.#byIssue.get(id) ?? []
    const others = (type: string) => all.filter((one) => one.type === type).map(({ other }) => other)
    return {
      blocks: others('blocks'),
      blockedBy: [],
      duplicateOf: others('duplicate')[0] ?? null,
      related: [...others('related'), ...others('similar')],
    }
  }

  *add(node: Json, row: number): Generator<SourceRecord> {
    const [from, to, type] = [idOf(node.issue), idOf(node.relatedIssue), text(node.type)]
    if (!from || !to || !type) return
    if (++this.#count > maxRelations) {
      if (this.#count > maxRelations + 1) return
      const message = `Only the first ${maxRelations} relations are read.`
      yield { kind: 'problem', row, field: null, value: null, message }
      return
    }
    const known = this.#byIssue.get(from)
    if (known) known.push({ type, other: to })
    else this.#byIssue.set(from, [{ type, other: to }])
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const idOf = (value: Json): string | null => text(value?.id)
const time = (value: unknown) => (typeof value === 'string' ? readTime(value, null) : null)
const day = (value: unknown) => (typeof value === 'string' ? readDay(value, null) : null)
