import type { Described, ReadOptions, SourceFile, SourceRecord } from '../record.ts'
import { readGithub } from './github.ts'
import { jiraDates, readJira } from './jira.ts'
import { readLinearApi } from './linear-api.ts'
import { linearDates, readLinearCsv } from './linear-csv.ts'
import { anyDates, proposeColumns, readPlainCsv } from './plain-csv.ts'
import { type DatesOf, findDateOrder, headerOf } from './table.ts'

export type ImportSource = 'linear' | 'github' | 'jira' | 'csv'

/** Reads the files of an import. The same files and options give the same records each time. */
export async function* readSource(
  source: ImportSource,
  files: readonly SourceFile[],
  options: ReadOptions,
): AsyncGenerator<SourceRecord> {
  if (source === 'github') yield* readGithub(files)
  else if (source === 'jira') yield* readJira(files, options)
  else if (source === 'csv') yield* readPlainCsv(files, options)
  else if (await isJson(files)) yield* readLinearApi(files)
  else yield* readLinearCsv(files, options)
}

/** What can be said without a mapping. Reads all rows, because one late date can decide about the order of all. */
export async function describeSource(source: ImportSource, files: readonly SourceFile[]): Promise<Described> {
  const [first] = files
  if (!first || source === 'github' || (source === 'linear' && (await isJson(files))))
    return { columns: [], dateOrderNeeded: false, dateOrder: null }
  const columns = await headerOf(first)
  const { order, needed } = await findDateOrder(files, datesOf[source])
  return {
    columns,
    dateOrderNeeded: needed,
    dateOrder: order,
    ...(source === 'csv' ? { proposed: proposeColumns(columns) } : {}),
  }
}

const datesOf: Record<'linear' | 'jira' | 'csv', DatesOf> = { linear: linearDates, jira: jiraDates, csv: anyDates }

/** Linear's data is a CSV, or lines of JSON that were fetched from its API. */
async function isJson(files: readonly SourceFile[]): Promise<boolean> {
  for await (const chunk of (await files[0]?.open()) ?? []) {
    const start = Buffer.from(chunk).toString('latin1').trimStart()
    if (start !== '') return start.startsWith('{')
  }
  return false
}
