import { createHash } from 'node:crypto'
import type { ReadOptions, SourceFile, SourceIssue, SourceProblem, SourceRecord } from '../record.ts'
import { excerpt, list, Produced } from './columns.ts'
import { jiraToMarkdown } from './jira-markup.ts'
import { person } from './people.ts'
import { findDateOrder, TableDates, type TableRow, tableRows } from './table.ts'

const dateColumns = ['Created', 'Updated', 'Resolved', 'Due date']

export function* jiraDates({ columns, cells }: TableRow) {
  yield* columns.all(cells, ...dateColumns)
  for (const cell of columns.all(cells, 'Comment', 'Comments')) yield cell.slice(0, Math.max(0, cell.indexOf(';')))
}

/**
 * The CSV that Jira exports with all fields. Jira repeats a column for each further value, so the name of a column says
 * nothing about its position.
 */
export async function* readJira(
  files: readonly SourceFile[],
  options: Pick<ReadOptions, 'dateOrder'>,
): AsyncGenerator<SourceRecord> {
  const dates = new TableDates(options, () => findDateOrder(files, jiraDates))
  const produced = new Produced()
  const people = new People()
  for (const file of files) {
    for await (const item of tableRows(file)) {
      if (item.kind === 'problem') {
        yield item
        continue
      }
      await dates.prepare(jiraDates(item))
      for (const record of recordsOf(item, dates, people)) {
        if (['user', 'label', 'cycle'].includes(record.kind) && 'id' in record) {
          if (!produced.isNew(record.kind, record.id)) continue
        }
        yield record
      }
    }
  }
  yield* people.unnamed()
}

function* recordsOf(item: TableRow, dates: TableDates, people: People): Generator<SourceRecord> {
  const { row, cells, columns } = item
  const problems: SourceProblem[] = []
  const one = (...names: string[]) => columns.one(cells, ...names)
  const time = (name: string) => dates.time(one(name), row, name, problems)
  const key = one('Issue key', 'Key')
  const id = one('Issue id') ?? key
  const title = one('Summary')
  if (title === null || key === null || id === null) {
    const field = title === null ? 'Summary' : 'Issue key'
    yield { kind: 'problem', row, field, value: key ?? title, message: 'is empty; the row was skipped' }
    return
  }
  const team = one('Project name') ?? one('Project key') ?? key.replace(/-\d+$/, '')
  const reporter = one('Reporter') === null && one('Reporter Id') === null ? 'Creator' : 'Reporter'
  const creator = people.of(one(reporter), one(`${reporter} Id`))
  const assignee = people.of(one('Assignee'), one('Assignee Id'))
  for (const user of [creator, assignee]) if (user) yield user
  const labels = [...new Set(columns.all(cells, 'Labels', 'Label').flatMap((cell) => list(cell, /[\s,]+/)))]
  for (const name of labels) yield { kind: 'label', id: name, name, color: null }
  const sprints = [...new Set(columns.all(cells, 'Sprint'))]
  for (const name of sprints) yield { kind: 'cycle', id: `${team}/${name}`, name, team, starts: null, ends: null }
  const sprint = sprints.at(-1)
  if (sprints.length > 1) {
    const message = 'An issue has one cycle; the last sprint is used.'
    yield { kind: 'problem', row, field: 'Sprint', value: excerpt(sprints.slice(0, -1).join(', ')), message }
  }
  const attachments = columns.all(cells, 'Attachment', 'Attachments').flatMap(attachmentOf)
  const toMarkdown = (text: string) => jiraToMarkdown(text, new Map(attachments.map(({ name, url }) => [name, url])))
  const links = linksOf(item)
  const seconds = Number(one('Original estimate') ?? Number.NaN)
  const issue: SourceIssue = {
    kind: 'issue',
    id,
    key,
    team,
    title,
    description: toMarkdown(one('Description') ?? ''),
    status: one('Status'),
    resolution: one('Resolution'),
    priority: one('Priority'),
    type: one('Issue Type'),
    labels,
    project: null,
    milestone: null,
    cycle: sprint === undefined ? null : `${team}/${sprint}`,
    parent: one('Parent key', 'Parent', 'Parent id', 'Custom field (Epic Link)', 'Custom field (Parent Link)'),
    ...links,
    creator: creator?.id ?? one(`${reporter} Id`),
    assignee: assignee?.id ?? one('Assignee Id'),
    hours: seconds > 0 && Number.isFinite(seconds) ? seconds / 3600 : null,
    points: number(one('Custom field (Story Points)', 'Custom field (Story point estimate)', 'Story Points')),
    due: dates.day(one('Due date'), row, 'Due date', problems),
    createdAt: time('Created'),
    updatedAt: time('Updated'),
    completedAt: time('Resolved'),
    archived: false,
    url: null,
    row,
  }
  yield issue
  const seen = new Map<string, number>()
  for (const cell of columns.all(cells, 'Comment', 'Comments')) {
    yield* commentOf(cell, { issue: id, row, seen }, dates, people, toMarkdown, problems)
  }
  for (const { name, url } of attachments) {
    yield { kind: 'attachment', id: `${id} ${url}`, issue: id, name, url, ...textUrl(issue.description, url), row }
  }
  yield* problems
}

const textUrl = (description: string, url: string) => (description.includes(`(${url})`) ? { textUrl: url } : {})
const number = (text: string | null) => (text !== null && Number.isFinite(Number(text)) ? Number(text) : null)

/**
 * `date;author;text`. The text may contain semicolons. It has no id: author, time and text identify it, so that a later
 * export with more comments finds it again.
 */
function* commentOf(
  cell: string,
  { issue, row, seen }: { issue: string; row: number; seen: Map<string, number> },
  dates: TableDates,
  people: People,
  toMarkdown: (text: string) => string,
  problems: SourceProblem[],
): Generator<SourceRecord> {
  const [, date, author, text] = /^([^;]*);([^;]*);([\s\S]*)$/.exec(cell) ?? []
  const isSplit = date !== undefined && /^\s*\d/.test(date)
  const user = isSplit ? people.of(null, author?.trim() || null) : null
  if (user) yield user
  const hash = createHash('sha256').update(cell).digest('base64url').slice(0, 22)
  const count = (seen.get(hash) ?? 0) + 1
  seen.set(hash, count)
  yield {
    kind: 'comment',
    id: `${issue}/${hash}${count > 1 ? `/${count}` : ''}`,
    issue,
    author: isSplit ? (user?.id ?? (author?.trim() || null)) : null,
    text: toMarkdown(isSplit ? (text ?? '') : cell),
    createdAt: isSplit ? dates.time(date, row, 'Comment', problems) : null,
    updatedAt: null,
    row,
  }
}

/** `date;author;name;address`; the name may contain semicolons. */
function attachmentOf(cell: string): { name: string; url: string }[] {
  const [, date, name, url] = /^([^;]*);[^;]*;([\s\S]*);(https?:\/\/[^;\s]+)\s*$/.exec(cell) ?? []
  if (date !== undefined && name && url) return [{ name: name.trim() || 'file', url }]
  return /^https?:\/\/\S+$/.test(cell) ? [{ name: cell.split('/').at(-1) || 'file', url: cell }] : []
}

/** Columns such as "Outward issue link (Blocks)": outward is "blocks", inward is "is blocked by". */
function linksOf({ cells, columns }: TableRow): Pick<SourceIssue, 'blocks' | 'blockedBy' | 'duplicateOf' | 'related'> {
  const found = {
    blocks: [] as string[],
    blockedBy: [] as string[],
    duplicateOf: null as string | null,
    related: [] as string[],
  }
  for (const [index, name] of columns.names.entries()) {
    const [, direction, type] = /^(inward|outward) issue link \((.*)\)$/i.exec(name) ?? []
    const value = cells[index]?.trim()
    if (!direction || !type || !value) continue
    const isOutward = direction.toLowerCase() === 'outward'
    if (/^block/i.test(type)) (isOutward ? found.blocks : found.blockedBy).push(value)
    else if (/^duplicate/i.test(type) && isOutward && found.duplicateOf === null) found.duplicateOf = value
    else if (!found.related.includes(value)) found.related.push(value)
  }
  return found
}

/** Comments name their author by account id only; other columns have the name of some of them. */
class People {
  readonly #named = new Set<string>()
  readonly #unnamed = new Set<string>()

  of(name: string | null, accountId: string | null) {
    if (name === null) {
      if (accountId === null) return null
      const user = person(accountId)
      if (user?.email) return user
      if (!this.#named.has(accountId) && this.#unnamed.size < 20_000) this.#unnamed.add(accountId)
      return null
    }
    const user = person(name, accountId)
    if (user && this.#named.size < 20_000) this.#named.add(user.id)
    return user
  }

  *unnamed(): Generator<SourceRecord> {
    for (const id of this.#unnamed) if (!this.#named.has(id)) yield { kind: 'user', id, name: id, email: null }
  }
}
