import { createHash, type Hash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { ConfigError } from '../config.ts'
import type { RowSum } from './tables.ts'

// A backup is a gzip file: a line of JSON (`Header`), a COPY block for each table, a line of JSON (`Footer`).

export interface Header {
  format: 1
  /** Of this backup: a restore that was interrupted goes on only with the same one. */
  id: string
  made_at: string
  /** Of Baton. */
  version: string
  source: { database: 'embedded' | 'postgres'; version: string }
  migrations: string[]
  /** Uploaded files: `copied` beside the backup, or only `listed` in the table `files`. */
  files: 'copied' | 'listed'
  /** The secret key in base64; only of an embedded service. */
  key?: string
}

export interface TableSum extends RowSum {
  /** Of the bytes of its block. */
  sha256: string
}

export interface Footer {
  tables: Record<string, TableSum>
}

export interface Block {
  name: string
  columns: string[]
  /** Whole lines of PostgreSQL's text format. */
  lines: AsyncIterable<Uint8Array>
}

/** The file cannot be used. The message says why. */
export class BadBackup extends ConfigError {}

const end = '\\.\n'
const blockStart = (name: string, columns: readonly string[]) => `COPY ${name} (${columns.join(', ')}) FROM stdin;\n`

/** The text of a backup. */
export async function* textOf(
  header: Header,
  blocks: AsyncIterable<Block & { sum: RowSum }>,
): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(`${JSON.stringify(header)}\n`)
  const tables: Footer['tables'] = {}
  for await (const { name, columns, lines, sum } of blocks) {
    const hash = createHash('sha256')
    for await (const chunk of surrounded(blockStart(name, columns), lines)) {
      hash.update(chunk)
      yield chunk
    }
    tables[name] = { ...sum, sha256: hash.digest('hex') }
  }
  yield Buffer.from(`${JSON.stringify({ tables } satisfies Footer)}\n`)
}

async function* surrounded(start: string, lines: AsyncIterable<Uint8Array>) {
  yield Buffer.from(start)
  yield* lines
  yield Buffer.from(end)
}

/** What gzip writes first: no name, no time, and an unknown system, so that every byte of a backup can be checked. */
const gzipStart = Buffer.from('1f8b08000000000000ff', 'hex')

/** The compressed form of the text. */
export function compressed(text: AsyncIterable<Uint8Array>): Readable {
  let written = 0
  const withStart = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = written; at < gzipStart.length && at - written < chunk.length; at++)
        chunk[at - written] = gzipStart[at] as number
      written += chunk.length
      done(null, chunk)
    },
  })
  const gzip = createGzip({ level: 4 })
  const input = Readable.from(text, { objectMode: false })
  input.on('error', (error) => gzip.destroy(error))
  gzip.on('error', (error) => {
    input.destroy()
    withStart.destroy(error)
  })
  withStart.once('close', () => {
    input.destroy()
    gzip.destroy()
  })
  return input.pipe(gzip).pipe(withStart)
}

const maxLineBytes = { header: 1024 ** 2, block: 64 * 1024, row: 512 * 1024 ** 2, footer: 16 * 1024 ** 2 }

/** Reads a backup from its beginning to its end. Every problem is thrown as `BadBackup`. */
export class BackupReader {
  readonly #gunzip = createGunzip({ chunkSize: 1024 ** 2 })
  readonly #chunks: AsyncIterator<Buffer>
  #bytesRead = 0
  #buffer: Buffer = Buffer.alloc(0)
  readonly #found: Record<string, { rows: number; sha256: string }> = {}
  footer: Footer | undefined

  constructor(input: AsyncIterable<Buffer>) {
    const source = Readable.from(this.#withStartChecked(input), { objectMode: false })
    source.once('error', (error) => this.#gunzip.destroy(error))
    this.#gunzip.once('close', () => source.destroy())
    this.#chunks = source.pipe(this.#gunzip)[Symbol.asyncIterator]()
  }

  async *#withStartChecked(input: AsyncIterable<Buffer>) {
    for await (const chunk of input) {
      for (let at = this.#bytesRead; at < gzipStart.length && at - this.#bytesRead < chunk.length; at++)
        if (chunk[at - this.#bytesRead] !== gzipStart[at]) throw new BadBackup('The file is not a backup of Baton.')
      this.#bytesRead += chunk.length
      yield chunk
    }
    if (this.#bytesRead === 0) throw new BadBackup('The file is empty.')
  }

  async header(): Promise<Header> {
    return headerOf(await this.#line('header'))
  }

  /** The tables in order. What was not read of one is skipped, and checked all the same. */
  async *blocks(): AsyncGenerator<Block> {
    for (;;) {
      const line = await this.#line(this.#buffer[0] === '{'.charCodeAt(0) ? 'footer' : 'block')
      if (line.startsWith('{')) return this.#finish(line)
      const [, name, columns] = /^COPY (\S+) \((.+)\) FROM stdin;$/.exec(line) ?? []
      if (!name || !columns || this.#found[name]) throw new BadBackup('The backup is damaged: a table is expected.')
      const lines = this.#lines(name, createHash('sha256').update(`${line}\n`))
      yield { name, columns: columns.split(', '), lines }
      for await (const _ of lines);
    }
  }

  /** For a reader that needs no more. */
  async close() {
    await this.#chunks.return?.()
  }

  async #finish(line: string) {
    this.footer = footerOf(line)
    if (this.#buffer.length > 0 || (await this.#more())) throw new BadBackup('The backup is damaged: it goes on.')
    if (this.#gunzip.bytesWritten !== this.#bytesRead)
      throw new BadBackup('The backup is damaged: other data follows it.')
    const { tables } = this.footer
    for (const name of new Set([...Object.keys(tables), ...Object.keys(this.#found)])) {
      const [listed, found] = [tables[name], this.#found[name]]
      if (!listed || !found || listed.rows !== found.rows || listed.sha256 !== found.sha256)
        throw new BadBackup(`The backup is damaged: the table ${name} is not as it was written.`)
    }
  }

  async *#lines(name: string, hash: Hash): AsyncGenerator<Uint8Array> {
    let rows = 0
    for (;;) {
      const terminator = this.#buffer.indexOf(`\n${end}`)
      const stop = startsWith(this.#buffer, end) ? 0 : terminator + 1
      const isLast = stop > 0 || startsWith(this.#buffer, end)
      const upTo = isLast ? stop : this.#buffer.lastIndexOf('\n') + 1
      if (upTo > 0) {
        const lines = this.#buffer.subarray(0, upTo)
        hash.update(lines)
        rows += newlinesIn(lines)
        this.#buffer = this.#buffer.subarray(upTo)
        yield lines
      }
      if (isLast) {
        this.#buffer = this.#buffer.subarray(end.length)
        this.#found[name] = { rows, sha256: hash.update(end).digest('hex') }
        return
      }
      await this.#need('row')
    }
  }

  async #line(kind: keyof typeof maxLineBytes): Promise<string> {
    for (;;) {
      const at = this.#buffer.indexOf('\n')
      if (at >= 0) {
        const line = this.#buffer.toString('utf8', 0, at)
        this.#buffer = this.#buffer.subarray(at + 1)
        return line
      }
      await this.#need(this.#buffer[0] === '{'.charCodeAt(0) && kind === 'block' ? 'footer' : kind)
    }
  }

  async #need(kind: keyof typeof maxLineBytes) {
    if (this.#buffer.length > maxLineBytes[kind]) throw new BadBackup('The backup is damaged: a line has no end.')
    if (!(await this.#more())) throw new BadBackup('The backup is cut short: its last line is missing.')
  }

  async #more(): Promise<boolean> {
    try {
      const { done, value } = await this.#chunks.next()
      if (done) return false
      this.#buffer = this.#buffer.length > 0 ? Buffer.concat([this.#buffer, value]) : value
      return true
    } catch (error) {
      if (error instanceof BadBackup) throw error
      const code = String((error as NodeJS.ErrnoException).code)
      if (code === 'Z_BUF_ERROR') throw new BadBackup('The backup is cut short.')
      if (code.startsWith('Z_')) throw new BadBackup(`The backup is damaged: ${(error as Error).message}.`)
      throw new BadBackup(`The backup cannot be read: ${(error as Error).message}.`)
    }
  }
}

const startsWith = (buffer: Buffer, text: string) => buffer.toString('latin1', 0, text.length) === text

function newlinesIn(lines: Buffer) {
  let count = 0
  for (let at = lines.indexOf(10); at >= 0; at = lines.indexOf(10, at + 1)) count++
  return count
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(line: string, which: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    if (isRecord(value)) return value
  } catch {}
  throw new BadBackup(`The file is not a backup of Baton: its ${which} line is not as expected.`)
}

function headerOf(line: string): Header {
  const header = parsed(line, 'first')
  const { format, id, made_at, version, source, migrations, files, key } = header
  if (typeof format === 'number' && format > 1)
    throw new BadBackup(`The backup has format ${format}, which this version cannot read: use a newer Baton.`)
  const texts = [id, made_at, version, isRecord(source) ? source.database : undefined]
  const isRight =
    format === 1 &&
    texts.every((text) => typeof text === 'string') &&
    Array.isArray(migrations) &&
    migrations.every((name) => typeof name === 'string') &&
    (files === 'copied' || files === 'listed') &&
    ['string', 'undefined'].includes(typeof key)
  if (!isRight) throw new BadBackup('The file is not a backup of Baton: its first line is not as expected.')
  return header as unknown as Header
}

function footerOf(line: string): Footer {
  const { tables } = parsed(line, 'last')
  const isSum = (sum: unknown) =>
    isRecord(sum) && typeof sum.rows === 'number' && typeof sum.sum === 'string' && typeof sum.sha256 === 'string'
  if (!isRecord(tables) || !Object.values(tables).every(isSum))
    throw new BadBackup('The backup is damaged: its last line is not as expected.')
  return { tables: tables as Footer['tables'] }
}
