import type { SourceFile, SourceProblem } from '../record.ts'

/** Cells by position: columns may have the same name. The header is row 1, as in a spreadsheet. */
export interface CsvRow {
  kind: 'row'
  row: number
  cells: string[]
}

/** Of one row, in bytes. Longer ones mean a quote that is never closed. */
const maxRow = 4 * 1024 * 1024
export const maxColumns = 5000
/** Where the delimiter is looked for. */
const headBytes = 64 * 1024
const [quote, lineFeed, carriageReturn] = [34, 10, 13]
const delimiters = [',', ';', '\t']

/**
 * Reads RFC 4180 and what spreadsheets make of it: a byte order mark, UTF-16, `;` or tabs, any line break, stray quotes.
 * Rows are not padded. What cannot be read is a problem; a row that is too long ends the file.
 */
export async function* csvRows(file: SourceFile): AsyncGenerator<CsvRow | SourceProblem> {
  let cutter: RowCutter | undefined
  let row = 0
  for await (const chunk of asUtf8(await file.open())) {
    cutter ??= new RowCutter(delimiterOf(chunk))
    for (const cells of cutter.push(chunk)) {
      row++
      if (cutter.width > maxColumns) yield problem(row, `has more than ${maxColumns} cells; the others were not read`)
      if (cutter.width > maxColumns && row === 1) return
      yield* rowOf(row, cells)
    }
    if (cutter.fault) return yield problem(row + 1, cutter.fault)
  }
  const last = cutter?.end()
  if (last) yield* rowOf(++row, last)
  if (cutter?.fault) yield problem(row + 1, cutter.fault)
}

function* rowOf(row: number, cells: string[]): Generator<CsvRow | SourceProblem> {
  if (cells.length === 1 && cells[0] === '') return
  yield* damaged(row, cells)
  yield { kind: 'row', row, cells }
}

/** PostgreSQL stores no NUL; other bytes that are not UTF-8 were replaced when they were decoded. */
function* damaged(row: number, cells: string[]): Generator<SourceProblem> {
  let found: string | undefined
  for (const [index, cell] of cells.entries()) {
    if (cell.includes('\0')) cells[index] = cell.replaceAll('\0', '\ufffd')
    if (found === undefined && cells[index]?.includes('\ufffd')) found = cells[index]
  }
  if (found === undefined) return
  const at = found.indexOf('\ufffd')
  const value = found.slice(Math.max(0, at - 20), at + 20)
  yield { kind: 'problem', row, field: null, value, message: 'has bytes that are not UTF-8, shown as \ufffd' }
}

const problem = (row: number, message: string): SourceProblem => ({
  kind: 'problem',
  row,
  field: null,
  value: null,
  message,
})

/** Without a byte order mark. The first chunk has the first line, or 64 KB of it. */
async function* asUtf8(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0)
  let decode: ((chunk: Buffer) => Buffer) | undefined
  for await (const chunk of bytes) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    if (decode) yield decode(buffer)
    else {
      head = Buffer.concat([head, buffer])
      if (!head.includes(lineFeed) && head.length < headBytes) continue
      decode = decoderOf(head)
      yield decode(head)
    }
  }
  if (!decode) yield decoderOf(head)(head)
}

/** The function removes the mark from the first chunk that it gets. */
function decoderOf(head: Buffer): (chunk: Buffer) => Buffer {
  const mark = head.subarray(0, 2).toString('hex')
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : null
  if (encoding) {
    const decoder = new TextDecoder(encoding)
    return (chunk) => Buffer.from(decoder.decode(chunk, { stream: true }))
  }
  let marked = head.subarray(0, 3).toString('hex') === 'efbbbf'
  return (chunk) => {
    const start = marked ? 3 : 0
    marked = false
    return chunk.subarray(start)
  }
}

/** The most frequent one outside quotes in the header. */
function delimiterOf(head: Buffer): number {
  const text = head
    .subarray(0, headBytes)
    .toString('latin1')
    .replace(/"[^"]*"/g, '')
  const line = text.split(/[\r\n]/, 1)[0] as string
  const count = (delimiter: string) => line.split(delimiter).length
  return delimiters.reduce((best, one) => (count(one) > count(best) ? one : best)).charCodeAt(0)
}

/** Cuts bytes into cells. All characters with a meaning are ASCII, so cells are decoded as a whole. */
class RowCutter {
  fault: string | null = null
  /** Number of cells of the last row, including those beyond the limit, which are not kept. */
  width = 0
  readonly #delimiter: number
  readonly #cell = new Bytes()
  #state: 'start' | 'plain' | 'quoted' | 'quote in quotes' = 'start'
  #cells: string[] = []
  #count = 0
  #rowBytes = 0
  #afterReturn = false

  constructor(delimiter: number) {
    this.#delimiter = delimiter
  }

  *push(chunk: Buffer): Generator<string[]> {
    let at = 0
    while (at < chunk.length) {
      const byte = chunk[at] as number
      if (this.#afterReturn) {
        this.#afterReturn = false
        if (byte === lineFeed) {
          at++
          continue
        }
      }
      if (this.#state === 'quoted') at = this.#readQuoted(chunk, at)
      else if (this.#state === 'start' && byte === quote) {
        this.#state = 'quoted'
        at++
      } else if (this.#state === 'quote in quotes' && byte === quote) {
        this.#cell.append(chunk, at, at + 1)
        this.#state = 'quoted'
        at++
      } else {
        const end = this.#readPlain(chunk, at)
        this.#rowBytes += end - at + 1
        at = end + 1
        if (end < chunk.length && chunk[end] !== this.#delimiter) {
          this.#afterReturn = chunk[end] === carriageReturn
          yield this.#endRow()
        }
      }
      if (this.#rowBytes > maxRow) {
        this.fault = `is longer than ${maxRow / 1024 / 1024} MB, or a quote in it is not closed; the rest of the file was not read`
        return
      }
    }
  }

  /** The last row, if no line break follows it. */
  end(): string[] | null {
    if (this.#state === 'quoted') {
      this.fault = 'has a quote that is not closed; the rest of the file was not read'
      return null
    }
    if (this.#state === 'start' && this.#count === 0) return null
    this.#endCell(this.#cell.take())
    return this.#endRow()
  }

  /** Up to the next quote that is not doubled, or the end of the chunk; returns the position after it. */
  #readQuoted(chunk: Buffer, at: number): number {
    const end = this.#cell.appendQuoted(chunk, at)
    this.#rowBytes += end - at + 1
    if (end < chunk.length) this.#state = 'quote in quotes'
    return end + 1
  }

  /** Up to the end of the cell or of the chunk; returns that position. */
  #readPlain(chunk: Buffer, at: number): number {
    const delimiter = this.#delimiter
    let end = at
    for (; end < chunk.length; end++) {
      const byte = chunk[end]
      if (byte === delimiter || byte === lineFeed || byte === carriageReturn) break
    }
    // Text follows a closing quote: then the quotes are a part of the text.
    if (this.#state === 'quote in quotes' && end > at) this.#cell.surround(quote)
    const isWhole = end < chunk.length
    if (isWhole && this.#cell.length === 0) this.#endCell(chunk.toString('utf8', at, end))
    else {
      this.#cell.append(chunk, at, end)
      if (isWhole) this.#endCell(this.#cell.take())
      else if (end > at) this.#state = 'plain'
    }
    return end
  }

  #endCell(text: string) {
    if (this.#count++ < maxColumns) this.#cells.push(text)
    this.#state = 'start'
  }

  #endRow(): string[] {
    const cells = this.#cells
    this.width = this.#count
    this.#cells = []
    this.#count = 0
    this.#rowBytes = 0
    return cells
  }
}

/** The bytes of one cell; grows to the limit of a row. */
class Bytes {
  length = 0
  #buffer = Buffer.allocUnsafe(4096)

  append(chunk: Buffer, start: number, end: number) {
    this.#grow(end - start)
    chunk.copy(this.#buffer, this.length, start, end)
    this.length += end - start
  }

  /** Byte by byte: texts with many quotes would need a call for each short piece. Returns where it stopped. */
  appendQuoted(chunk: Buffer, start: number): number {
    this.#grow(chunk.length - start)
    const buffer = this.#buffer
    let [at, to] = [start, this.length]
    for (; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (byte === quote) {
        if (chunk[at + 1] !== quote) break
        at++
      }
      buffer[to++] = byte
    }
    this.length = to
    return at
  }

  surround(byte: number) {
    this.#grow(2)
    this.#buffer.copy(this.#buffer, 1, 0, this.length)
    this.#buffer[0] = byte
    this.#buffer[this.length + 1] = byte
    this.length += 2
  }

  take(): string {
    const text = this.#buffer.toString('utf8', 0, this.length)
    this.length = 0
    return text
  }

  #grow(more: number) {
    if (this.length + more <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(2 * (this.length + more))
    this.#buffer.copy(larger, 0, 0, this.length)
    this.#buffer = larger
  }
}
