import type { ReadOptions, SourceFile, SourceIssue, SourceProblem, SourceRecord } from '../record.ts'
import { type Columns, list, Produced, withoutFormulaQuote } from './columns.ts'
import { person } from './people.ts'
import { findDateOrder, TableDates, type TableRow, tableRows } from './table.ts'

const dateColumns = ['Created', 'Updated', 'Completed', 'Canceled', 'Due Date', 'Cycle Start', 'Cycle End']

export function* linearDates({ columns, cells }: TableRow) {
  yield* columns.all(cells, ...dateColumns)
}

/** The CSV that Linear exports. It has grown over the years, so each column but the title may be missing. */
export async function* readLinearCsv(
  files: readonly SourceFile[],
  options: Pick<ReadOptions, 'dateOrder'>,
): AsyncGenerator<SourceRecord> {
  const dates = new TableDates(options, () => findDateOrder(files, linearDates))
  const produced = new Produced()
  for (const file of files) {
    for await (const item of tableRows(file)) {
      if (item.kind === 'problem') {
        yield item
        continue
      }
      await dates.prepare(linearDates(item))
      for (const record of recordsOf(item.row, item.cells.map(withoutFormulaQuote), item.columns, dates)) {
        if ('id' in record && record.kind !== 'issue' && !produced.isNew(record.kind, record.id)) continue
        yield record
      }
    }
  }
}

function* recordsOf(row: number, cells: string[], columns: Columns, dates: TableDates): Generator<SourceRecord> {
  const problems: SourceProblem[] = []
  const one = (...names: string[]) => columns.one(cells, ...names)
  const time = (name: string) => dates.time(one(name), row, name, problems)
  const key = one('ID')
  const title = one('Title')
  if (title === null || key === null) {
    const field = title === null ? 'Title' : 'ID'
    yield { kind: 'problem', row, field, value: key ?? title, message: 'is empty; the row was skipped' }
    return
  }
  const team = one('Team')
  const project = one('Project')
  const milestone = one('Project Milestone')
  const [creator, assignee] = [person(one('Creator')), person(one('Assignee'))]
  const labels = list(one('Labels'))
  for (const one of [creator, assignee]) if (one) yield one
  for (const name of labels) yield { kind: 'label', id: name, name, color: null }
  const projectId = project && (one('Project ID') ?? project)
  if (project && projectId) yield { kind: 'project', id: projectId, name: project, description: '' }
  const milestoneId = milestone && (one('Project Milestone ID') ?? `${projectId}/${milestone}`)
  if (milestone && milestoneId)
    yield { kind: 'milestone', id: milestoneId, name: milestone, project: projectId, due: null }
  const cycle = one('Cycle Number', 'Cycle Name')
  const cycleId = cycle && `${team ?? ''}/${cycle}`
  if (cycleId)
    yield {
      kind: 'cycle',
      id: cycleId,
      name: one('Cycle Name') ?? `Cycle ${cycle}`,
      team,
      starts: dates.day(one('Cycle Start'), row, 'Cycle Start', problems),
      ends: dates.day(one('Cycle End'), row, 'Cycle End', problems),
    }
  const [completed, canceled] = [time('Completed'), time('Canceled')]
  const issue: SourceIssue = {
    kind: 'issue',
    id: one('UUID') ?? key,
    key,
    team,
    title,
    description: one('Description') ?? '',
    status: one('Status'),
    priority: one('Priority'),
    type: null,
    labels,
    project: projectId,
    milestone: milestoneId,
    cycle: cycleId,
    parent: one('Parent issue'),
    blocks: list(one('Blocks')),
    blockedBy: list(one('Blocked by')),
    duplicateOf: list(one('Duplicate of'))[0] ?? null,
    related: list(one('Related to')),
    creator: creator?.id ?? null,
    assignee: assignee?.id ?? null,
    hours: null,
    points: number(one('Estimate')),
    due: dates.day(one('Due Date'), row, 'Due Date', problems),
    createdAt: time('Created'),
    updatedAt: time('Updated'),
    completedAt: completed ?? canceled,
    archived: one('Archived') !== null,
    url: one('URL'),
    row,
  }
  yield issue
  yield* problems
}

const number = (text: string | null) => (text !== null && Number.isFinite(Number(text)) ? Number(text) : null)
