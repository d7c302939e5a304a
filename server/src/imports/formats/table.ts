import type { ReadOptions, SourceFile, SourceProblem } from '../record.ts'
import { Columns, excerpt } from './columns.ts'
import { csvRows } from './csv.ts'
import { type DateOrder, DateOrders, isAmbiguous, readDay, readTime } from './dates.ts'

export interface TableRow {
  kind: 'row'
  row: number
  cells: string[]
  columns: Columns
}

/** The rows of a CSV with its header. Problems come in between. */
export async function* tableRows(file: SourceFile): AsyncGenerator<TableRow | SourceProblem> {
  let columns: Columns | undefined
  for await (const item of csvRows(file)) {
    if (item.kind === 'problem') yield item
    else if (!columns) columns = new Columns(item.cells)
    else {
      yield* columns.surplus(item.row, item.cells)
      yield { kind: 'row', row: item.row, cells: item.cells, columns }
    }
  }
  if (!columns)
    yield { kind: 'problem', row: null, field: null, value: file.name, message: 'The file has no header and no rows.' }
}

/** The header of a file; empty if it has none. */
export async function headerOf(file: SourceFile): Promise<string[]> {
  for await (const item of csvRows(file)) if (item.kind === 'row') return new Columns(item.cells).names
  return []
}

/** The texts of a row that can be dates. */
export type DatesOf = (row: TableRow) => Iterable<string>

export async function findDateOrder(files: readonly SourceFile[], datesOf: DatesOf): Promise<DateOrders> {
  const orders = new DateOrders()
  for (const file of files) {
    for await (const item of tableRows(file)) {
      if (item.kind === 'row') for (const text of datesOf(item)) orders.see(text)
    }
  }
  return orders
}

/** Reads the dates of all files in one order: the chosen one, or the one that fits all of them. */
export class TableDates {
  readonly #find: () => Promise<DateOrders>
  #order: DateOrder | null
  #isKnown: boolean

  constructor(options: Pick<ReadOptions, 'dateOrder'>, find: () => Promise<DateOrders>) {
    this.#order = options.dateOrder
    this.#isKnown = options.dateOrder !== null
    this.#find = find
  }

  time(text: string | null, row: number, field: string, problems: SourceProblem[]) {
    return this.#read(readTime, text, row, field, problems)
  }

  day(text: string | null, row: number, field: string, problems: SourceProblem[]) {
    return this.#read(readDay, text, row, field, problems)
  }

  /** Reads all rows once if the order matters here. */
  async prepare(texts: Iterable<string>) {
    if (this.#isKnown) return
    for (const text of texts) {
      if (!isAmbiguous(text)) continue
      this.#order = (await this.#find()).order
      this.#isKnown = true
      return
    }
  }

  #read(read: typeof readTime, text: string | null, row: number, field: string, problems: SourceProblem[]) {
    if (text === null) return null
    const value = read(text, this.#order)
    if (value !== null) return value
    const message =
      this.#order === null && isAmbiguous(text)
        ? 'needs the order of day and month'
        : 'is not a date that can be read, such as 2026-12-24, 24/Dec/26 or 24.12.2026'
    problems.push({ kind: 'problem', row, field, value: excerpt(text), message })
    return null
  }
}
