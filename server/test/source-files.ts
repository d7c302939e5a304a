import type { ReadOptions, SourceFile, SourceRecord } from '../src/imports/record.ts'

/** A file with this content, in chunks of any size, so that a test can cut it anywhere. */
export const sourceFile = (content: string | Buffer, { name = 'export.csv', chunk = 1000 } = {}): SourceFile => {
  const bytes = Buffer.from(content)
  return {
    name,
    open: async () =>
      (async function* () {
        for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
      })(),
  }
}

export const unmapped: ReadOptions = { columns: {}, dateOrder: null }

/** All records, by kind. */
export async function recordsIn(records: AsyncIterable<SourceRecord>) {
  const all: SourceRecord[] = []
  for await (const record of records) all.push(record)
  const of = <K extends SourceRecord['kind']>(kind: K) =>
    all.filter((one): one is Extract<SourceRecord, { kind: K }> => one.kind === kind)
  return {
    all,
    issues: of('issue'),
    comments: of('comment'),
    users: of('user'),
    labels: of('label'),
    projects: of('project'),
    milestones: of('milestone'),
    cycles: of('cycle'),
    attachments: of('attachment'),
    problems: of('problem'),
  }
}

/** A CSV as RFC 4180 writes it. */
export const csvOf = (rows: string[][]) =>
  rows
    .map((row) => row.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(','))
    .join('\r\n')
    .concat('\r\n')

/** A row for a header: values by column; a list fills the columns of that name in order. */
export function rowFor(header: string[], values: Record<string, string | string[]>): string[] {
  const left = new Map(Object.entries(values).map(([name, value]) => [name, [value].flat()]))
  const row = header.map((name) => left.get(name)?.shift() ?? '')
  const unused = [...left].filter(([, rest]) => rest.length > 0)
  if (unused.length > 0) throw new Error(`no columns for ${unused.map(([name]) => name)}`)
  return row
}
