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
  const people = new People(files)
  const unread = new UnreadColumns()
  for (const file of files) {
    for await (const item of tableRows(file)) {
      if (item.kind === 'problem') {
        yield item
        continue
      }
      await dates.prepare(jiraDates(item))
      await people.prepare(item)
      unread.see(item)
      for (const record of recordsOf(item, dates, people)) {
        if (['user', 'label', 'cycle'].includes(record.kind) && 'id' in record) {
          if (!produced.isNew(record.kind, record.id)) continue
        }
        yield record
      }
    }
  }
  yield* people.unnamed()
  yield* unread.problems()
}

function* recordsOf(item: TableRow, dates: TableDates, people: People): Generator<SourceRecord> {
  const { row, cells, columns } = item
  people.learn(item)
  const problems: SourceProblem[] = []
  const one = (...names: string[]) => columns.one(cells, ...names)
  const time = (name: string) => dates.time(one(name), row, name, problems)
  const key = one('Issue key', 'Key')
  const title = one('Summary')
  if (title === null || key === null) {
    const field = title === null ? 'Summary' : 'Issue key'
    yield { kind: 'problem', row, field, value: key ?? title, message: 'is empty; the row was skipped' }
    return
  }
  // Each Jira site counts its issues from 10000, so a number alone would find an issue of another site.
  const project = key.replace(/-\d+$/, '')
  const idOf = (number: string | null) => number && `${project}/${number}`
  const id = idOf(one('Issue id')) ?? key
  const team = one('Project name') ?? one('Project key') ?? project
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
  const known = { files: new Map(attachments.map(({ name, url }) => [name, url])), names: people.names }
  const toMarkdown = (text: string) => jiraToMarkdown(text, known)
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
    parent: parentOf(item, idOf),
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

/** A key, or the number of an issue, which is in the same project. */
function parentOf({ cells, columns }: TableRow, idOf: (number: string) => string | null): string | null {
  const names = ['Parent key', 'Parent', 'Parent id', 'Custom field (Epic Link)', 'Custom field (Parent Link)']
  const parent = columns.one(cells, ...names)
  return parent !== null && /^\d+$/.test(parent) ? idOf(parent) : parent
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

/** Columns with values that issues here do not have. */
const unreadColumns = [
  'Components',
  'Component/s',
  'Fix versions',
  'Fix Version/s',
  'Affects versions',
  'Affects Version/s',
]

/** Counts the issues whose values are not imported, so that one problem says it. */
class UnreadColumns {
  readonly #found = new Map<string, { issues: number; values: Set<string> }>()

  see({ columns, cells }: TableRow) {
    for (const name of unreadColumns) {
      const values = columns.all(cells, name)
      if (values.length === 0) continue
      const found = this.#found.get(name) ?? { issues: 0, values: new Set() }
      this.#found.set(name, found)
      found.issues++
      for (const value of values) if (found.values.size < 10) found.values.add(excerpt(value))
    }
  }

  *problems(): Generator<SourceProblem> {
    for (const [field, { issues, values }] of this.#found) {
      const message = `of ${issues} issue${issues === 1 ? '' : 's'} are not imported`
      yield { kind: 'problem', row: null, field, value: excerpt([...values].join(', ')), message }
    }
  }
}

const maxPeople = 20_000

/** Comments and mentions have account ids only; columns of other rows have the names of some of them. */
class People {
  readonly #files: readonly SourceFile[]
  readonly #used = new Set<string>()
  readonly #unnamed = new Set<string>()
  /** By account id. */
  readonly names = new Map<string, string>()
  #areNamesRead = false

  constructor(files: readonly SourceFile[]) {
    this.#files = files
  }

  /** Reads the names of all rows, once, if the row mentions an account. */
  async prepare(item: TableRow) {
    if (this.#areNamesRead || !item.cells.some((cell) => cell.includes('[~accountid:'))) return
    this.#areNamesRead = true
    for (const file of this.#files) for await (const row of tableRows(file)) if (row.kind === 'row') this.learn(row)
  }

  learn({ columns, cells }: TableRow) {
    for (const column of ['Assignee', 'Reporter', 'Creator']) {
      const [name, id] = [columns.one(cells, column), columns.one(cells, `${column} Id`)]
      if (name !== null && id !== null && this.names.size < maxPeople) this.names.set(id, name)
    }
  }

  of(name: string | null, accountId: string | null) {
    if (name === null) {
      if (accountId === null) return null
      const user = person(accountId)
      if (user?.email) return user
      if (!this.#used.has(accountId) && this.#unnamed.size < maxPeople) this.#unnamed.add(accountId)
      return null
    }
    const user = person(name, accountId)
    if (user && this.#used.size < maxPeople) this.#used.add(user.id)
    return user
  }

  /** Users without a name in the rows that refer to them. */
  *unnamed(): Generator<SourceRecord> {
    for (const id of this.#unnamed) {
      const user = this.#used.has(id) ? null : person(this.names.get(id) ?? id, id)
      if (user) yield user
    }
  }
}
