import { createHash } from 'node:crypto'
import type { ReadOptions, SourceFile, SourceIssue, SourceProblem, SourceRecord } from '../record.ts'
import { Columns, list, Produced, withoutFormulaQuote } from './columns.ts'
import { person } from './people.ts'
import { findDateOrder, TableDates, type TableRow, tableRows } from './table.ts'

/** By field of SourceIssue: names of columns that are proposed for it, the first that is there. */
const names: Record<string, readonly string[]> = {
  id: ['id', 'uuid', 'external id'],
  key: ['code', 'key', 'issue key', 'identifier', 'issue id', 'ticket'],
  title: ['title', 'summary', 'name', 'subject', 'issue', 'task', 'task name'],
  description: ['description', 'body', 'notes', 'details', 'text'],
  status: ['status', 'state', 'list', 'column', 'section'],
  priority: ['priority', 'urgency'],
  type: ['type', 'issue type', 'kind', 'category'],
  team: ['team', 'team name', 'board', 'project name'],
  labels: ['labels', 'label', 'tags', 'tag'],
  project: ['project', 'epic'],
  milestone: ['milestone', 'version', 'fix version'],
  cycle: ['cycle', 'sprint', 'iteration'],
  parent: ['parent', 'parent issue', 'parent key', 'parent id'],
  blocks: ['blocks', 'blocking'],
  blockedBy: ['blocked by', 'depends on'],
  duplicateOf: ['duplicate of'],
  related: ['related to', 'related', 'relates to'],
  creator: ['reporter', 'creator', 'created by', 'author'],
  assignee: ['assignee', 'assigned to', 'owner', 'responsible'],
  hours: ['time_estimate', 'hours', 'estimated hours', 'estimate (h)'],
  points: ['points', 'story points', 'estimate'],
  due: ['due_date', 'due date', 'due', 'deadline', 'due on'],
  createdAt: ['created_at', 'created', 'created at', 'creation date', 'date created'],
  updatedAt: ['updated_at', 'updated', 'updated at', 'last modified'],
  completedAt: ['completed_at', 'completed', 'completed at', 'closed', 'closed at', 'resolved', 'done'],
  url: ['url', 'link'],
}

export const csvFields: readonly string[] = Object.keys(names)

/** The columns of `GET /issues.csv` that no other tracker has. */
const batonColumns = ['code', 'time_estimate', 'delegate', 'due_date', 'personal']
const isBaton = (columns: Columns) => batonColumns.every((name) => columns.has(name))

export function proposeColumns(header: string[]): Record<string, number> {
  const columns = new Columns(header)
  const proposed: Record<string, number> = {}
  for (const [field, candidates] of Object.entries(names)) {
    const position = candidates.flatMap((name) => columns.positions(name))[0]
    if (position !== undefined && !Object.values(proposed).includes(position)) proposed[field] = position
  }
  return proposed
}

/** Any cell can be a date: which columns are read as dates is chosen later. */
export const anyDates = ({ cells }: TableRow): Iterable<string> => cells

/**
 * Any CSV, with a chosen column for each field, and the one that Baton writes. A second file has to have the columns of
 * the first.
 */
export async function* readPlainCsv(files: readonly SourceFile[], options: ReadOptions): AsyncGenerator<SourceRecord> {
  const dates = new TableDates(options, () => findDateOrder(files, anyDates))
  const produced = new Produced()
  const ids = new RowIds()
  let first: Columns | undefined
  for (const file of files) {
    for await (const item of tableRows(file)) {
      if (item.kind === 'problem') {
        yield item
        continue
      }
      if (first === undefined) yield* exportOf(item.columns, file)
      first ??= item.columns
      if (first.names.join('\n') !== item.columns.names.join('\n')) {
        const message = 'The file has other columns than the first file and was skipped.'
        yield { kind: 'problem', row: null, field: null, value: file.name, message }
        break
      }
      const positions = 'title' in options.columns ? options.columns : proposeColumns(item.columns.names)
      await dates.prepare(dateTexts(item, positions))
      for (const record of recordsOf(item, positions, dates, ids)) {
        if ('id' in record && record.kind !== 'issue' && !produced.isNew(record.kind, record.id)) continue
        yield record
      }
    }
  }
}

/** Read as a plain CSV, such an export loses comments, links and all but one value of repeated columns. */
function* exportOf(columns: Columns, file: SourceFile): Generator<SourceRecord> {
  const has = (...names: string[]) => names.every((name) => columns.has(name))
  const tracker = has('Issue key', 'Summary')
    ? 'Jira'
    : has('ID', 'Team', 'Title', 'Cycle Number', 'Parent issue')
      ? 'Linear'
      : null
  if (tracker === null) return
  const message = `is an export of ${tracker}; create an import with ${tracker} as the source to import all of it`
  yield { kind: 'problem', row: null, field: null, value: file.name, message }
}

function* dateTexts({ cells }: TableRow, positions: Record<string, number>) {
  for (const field of ['due', 'createdAt', 'updatedAt', 'completedAt']) yield cells[positions[field] ?? -1] ?? ''
}

function* recordsOf(
  { row, cells: raw, columns }: TableRow,
  positions: Record<string, number>,
  dates: TableDates,
  ids: RowIds,
): Generator<SourceRecord> {
  const problems: SourceProblem[] = []
  const cells = isBaton(columns) ? raw.map(withoutFormulaQuote) : raw
  const one = (field: string) => cells[positions[field] ?? -1]?.trim() || null
  /** The other columns with the name of the chosen one too. */
  const all = (field: string) => {
    const name = columns.names[positions[field] ?? -1]
    return name === undefined ? [] : columns.all(cells, name).flatMap((cell) => list(cell, /[,;\n]/))
  }
  const time = (field: string) => dates.time(one(field), row, field, problems)
  const number = (field: string) => numberOf(one(field), row, field, problems)
  if (isBaton(columns) && columns.one(cells, 'personal') === 'true') {
    // Everyone in a team could read it.
    const message = 'A private issue was skipped.'
    yield { kind: 'problem', row, field: 'personal', value: one('key'), message, skipped: 1 }
    return
  }
  const title = one('title')
  if (title === null) {
    yield { kind: 'problem', row, field: 'title', value: null, message: 'is empty; the row was skipped' }
    return
  }
  const [creator, assignee] = [person(one('creator')), person(one('assignee'))]
  for (const user of [creator, assignee]) if (user) yield user
  const labels = [...new Set(all('labels'))]
  for (const name of labels) yield { kind: 'label', id: name, name, color: null }
  const [team, project, milestone, cycle] = [one('team'), one('project'), one('milestone'), one('cycle')]
  if (project) yield { kind: 'project', id: project, name: project, description: '' }
  const milestoneId = milestone && `${project ?? ''}/${milestone}`
  if (milestone && milestoneId) yield { kind: 'milestone', id: milestoneId, name: milestone, project, due: null }
  const cycleId = cycle && `${team ?? ''}/${cycle}`
  if (cycle && cycleId) yield { kind: 'cycle', id: cycleId, name: cycle, team, starts: null, ends: null }
  const key = one('key')
  const issue: SourceIssue = {
    kind: 'issue',
    id: one('id') ?? key ?? ids.of(cells),
    key,
    team,
    title,
    description: one('description') ?? '',
    status: one('status'),
    priority: one('priority'),
    type: one('type'),
    labels,
    project,
    milestone: milestoneId,
    cycle: cycleId,
    parent: one('parent'),
    blocks: all('blocks'),
    blockedBy: all('blockedBy'),
    duplicateOf: one('duplicateOf'),
    related: all('related'),
    creator: creator?.id ?? null,
    assignee: assignee?.id ?? null,
    hours: number('hours'),
    points: number('points'),
    due: dates.day(one('due'), row, 'due', problems),
    createdAt: time('createdAt'),
    updatedAt: time('updatedAt'),
    completedAt: time('completedAt'),
    archived: false,
    url: one('url'),
    row,
  }
  yield issue
  yield* problems
}

/** 1.5 and 1,5. */
function numberOf(text: string | null, row: number, field: string, problems: SourceProblem[]): number | null {
  if (text === null) return null
  if (/^\d{1,9}(?:[.,]\d{1,6})?$/.test(text)) return Number(text.replace(',', '.'))
  problems.push({ kind: 'problem', row, field, value: text.slice(0, 100), message: 'is not a number' })
  return null
}

/**
 * Ids of rows without one, from their content: the same file gives the same ids again, and another file does not. Equal
 * rows are counted, up to a limit that bounds the memory.
 */
class RowIds {
  readonly #counts = new Map<string, number>()

  of(cells: string[]): string {
    const hash = createHash('sha256').update(cells.join('\u001f')).digest('base64url').slice(0, 22)
    const count = (this.#counts.get(hash) ?? 0) + 1
    if (this.#counts.size < 100_000 || count > 1) this.#counts.set(hash, count)
    return `row:${hash}${count > 1 ? `/${count}` : ''}`
  }
}
