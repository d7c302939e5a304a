import { createHash } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type TSchema, Type } from 'typebox'
import { ApiError } from '../http/errors.ts'
import { parseJson } from '../http/json.ts'
import { bodyProblems } from '../http/validate.ts'
import { blockBytes, checksumOf, maxRatio, paddingOf, paths, sumLine } from './archive.ts'
import type { Row, Table } from './columns.ts'
import { tables } from './contents.ts'
import { Manifest, partRows } from './manifest.ts'

/** Why an archive is refused, for the person who sent it. */
export class ArchiveProblem extends Error {
  readonly path: string | null
  readonly line: number | null
  constructor(message: string, path: string | null = null, line: number | null = null) {
    super(message)
    this.path = path
    this.line = line
  }
}

/** What a reader does with the content of an archive, in the order of the archive. */
export interface ArchiveHandler {
  manifest(manifest: Manifest): Promise<void>
  /** One part. `problem` makes an error that names the row. */
  rows(table: Table, rows: Row[], problem: (index: number, message: string) => ArchiveProblem): Promise<void>
  /** Reads `content` to its end. */
  file(id: string, bytes: number, content: AsyncIterable<Buffer>, path: string): Promise<void>
}

/** A row has at most this size; a part is smaller, unless it is one such row. */
const jsonBytes = 16 * 1024 * 1024
/** Decompressed in pieces, so that the ratio is known while a part is read. */
const pieceBytes = 16 * 1024
const ratioSlack = 4 * pieceBytes

/**
 * Reads an archive in one pass and checks its form: entries, order, sizes, checksums, and the schema of each row. The
 * archive can come from anyone. Only plain files with the names that an export has are accepted: no tar library has to
 * be trusted with links, devices, long names or sparse files.
 */
export async function readArchive(source: Readable, handler: ArchiveHandler): Promise<void> {
  const input = new Decompressed(source)
  try {
    await new ArchiveReader(input, handler).run()
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string }
    if (typeof code === 'string' && code.startsWith('Z_')) {
      throw new ArchiveProblem(`The archive is not a complete gzip file: ${message}.`)
    }
    throw error
  } finally {
    input.destroy()
  }
}

class ArchiveReader {
  readonly #input: Decompressed
  readonly #handler: ArchiveHandler
  readonly #rows = new Map<string, number>()
  /** Hash and length of the `checksums.txt` that belongs to what was read. */
  readonly #sums = createHash('sha256')
  #sumsBytes = 0
  #jsonBytes = 0
  #manifest: Manifest | undefined
  #table = 0
  #part = 0
  #files = { count: 0, bytes: 0 }

  constructor(input: Decompressed, handler: ArchiveHandler) {
    this.#input = input
    this.#handler = handler
  }

  async run() {
    for (;;) {
      const header = await this.#readHeader()
      if (header.path === paths.checksums) return this.#finish(header.bytes)
      if (header.path.startsWith('files/')) await this.#readFile(header.path, header.bytes)
      else await this.#readJson(header.path, header.bytes)
    }
  }

  async #readHeader(): Promise<{ path: string; bytes: number }> {
    const header = await this.#input.take(blockBytes)
    const text = (from: number, length: number) => {
      const field = header.subarray(from, from + length)
      const end = field.indexOf(0)
      return field.subarray(0, end < 0 ? length : end).toString('latin1')
    }
    const path = text(0, 100)
    const number = (from: number, length: number) => {
      const digits = text(from, length).trim()
      if (!/^[0-7]{1,12}$/.test(digits)) throw new ArchiveProblem('An entry has an unreadable header.', shown(path))
      return Number.parseInt(digits, 8)
    }
    if (header.every((byte) => byte === 0)) throw new ArchiveProblem(`The archive ends without ${paths.checksums}.`)
    if (number(148, 8) !== checksumOf(header)) throw new ArchiveProblem('An entry has a damaged header.', shown(path))
    const type = text(156, 1)
    if (type !== '0')
      throw new ArchiveProblem('An entry is a link, a device or another kind of special file.', shown(path))
    if (
      text(345, 155) !== '' ||
      !/^(manifest\.json|checksums\.txt|data\/[a-z_]{1,40}\/\d{6}\.jsonl|files\/fil_[0-9a-z]{26})$/.test(path)
    ) {
      throw new ArchiveProblem('An entry has a name that no export contains.', shown(path))
    }
    return { path, bytes: number(124, 12) }
  }

  async #readJson(path: string, bytes: number) {
    if (this.#files.count > 0) throw new ArchiveProblem('An entry comes after the files.', path)
    if (bytes > jsonBytes) throw new ArchiveProblem(`An entry has more than ${jsonBytes} bytes.`, path)
    const data = await this.#input.take(bytes)
    await this.#input.take(paddingOf(bytes))
    this.#jsonBytes += bytes
    if (this.#jsonBytes > maxRatio * (this.#input.compressedBytes + ratioSlack)) {
      throw new ArchiveProblem(`The archive expands to more than ${maxRatio} times its size.`, path)
    }
    this.#addSum(createHash('sha256').update(data).digest('hex'), path)
    if (path === paths.manifest) return this.#readManifest(data)
    await this.#readPart(path, data)
  }

  async #readManifest(data: Buffer) {
    if (this.#manifest) throw new ArchiveProblem('The archive has two manifests.', paths.manifest)
    const value = parsed(data, paths.manifest, null)
    const [problem] = manifestProblems(value)
    if (problem) throw new ArchiveProblem(`${problem[0]} ${problem[1]}.`, paths.manifest)
    this.#manifest = value as Manifest
    await this.#handler.manifest(this.#manifest)
  }

  async #readPart(path: string, data: Buffer) {
    if (!this.#manifest) throw new ArchiveProblem(`The first entry must be ${paths.manifest}.`, path)
    const [, name, number] = path.split(/[/.]/) as [string, string, string]
    const index = tables.findIndex((table) => table.name === name)
    const table = tables[index]
    if (!table) throw new ArchiveProblem('An entry has a name that no export contains.', path)
    const expected = index === this.#table ? this.#part + 1 : 1
    if (index < this.#table || Number(number) !== expected) throw new ArchiveProblem('An entry is out of order.', path)
    this.#table = index
    this.#part = expected
    const lines = linesOf(data)
    if (lines.length === 0 || lines.length > partRows) {
      throw new ArchiveProblem(`A part must have 1 to ${partRows} lines.`, path)
    }
    const check = rowProblems(table)
    const rows = lines.map((line, index) => {
      const row = parsed(line, path, index + 1)
      const [problem] = check(row)
      if (problem) throw new ArchiveProblem(`${problem[0]} ${problem[1]}.`, path, index + 1)
      return row as Row
    })
    this.#rows.set(name, (this.#rows.get(name) ?? 0) + rows.length)
    await this.#handler.rows(table, rows, (index, message) => new ArchiveProblem(message, path, index + 1))
  }

  async #readFile(path: string, bytes: number) {
    if (!this.#manifest) throw new ArchiveProblem(`The first entry must be ${paths.manifest}.`, path)
    this.#files = { count: this.#files.count + 1, bytes: this.#files.bytes + bytes }
    if (this.#files.bytes > this.#manifest.files.bytes) {
      throw new ArchiveProblem('The files are larger than the manifest says.', path)
    }
    const hash = createHash('sha256')
    const input = this.#input
    const content = (async function* () {
      for await (const chunk of input.stream(bytes)) {
        hash.update(chunk)
        yield chunk
      }
    })()
    await this.#handler.file(path.slice('files/'.length), bytes, content, path)
    await input.take(paddingOf(bytes))
    this.#addSum(hash.digest('hex'), path)
  }

  async #finish(bytes: number) {
    const wrong = new ArchiveProblem('The checksums do not match the content.', paths.checksums)
    if (!this.#manifest || bytes !== this.#sumsBytes) throw wrong
    const hash = createHash('sha256')
    for await (const chunk of this.#input.stream(bytes)) hash.update(chunk)
    if (!hash.digest().equals(this.#sums.digest())) throw wrong
    for (const { name } of tables) {
      if ((this.#rows.get(name) ?? 0) !== this.#manifest.rows[name]) {
        throw new ArchiveProblem(`The number of rows of ${name} is not the one in the manifest.`, paths.manifest)
      }
    }
    const { count, bytes: total } = this.#manifest.files
    if (this.#files.count !== count || this.#files.bytes !== total) {
      throw new ArchiveProblem('The number or size of the files is not the one in the manifest.', paths.manifest)
    }
  }

  #addSum(sum: string, path: string) {
    const line = sumLine(sum, path)
    this.#sums.update(line)
    this.#sumsBytes += line.length
  }
}

/** Takes exact numbers of bytes from the decompressed stream. */
class Decompressed {
  /** Compressed bytes that were read so far. */
  compressedBytes = 0
  readonly #source: Readable
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: Readable) {
    this.#source = source
    const count = (bytes: number) => {
      this.compressedBytes += bytes
    }
    const pieces = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        for (let at = 0; at < chunk.length; at += pieceBytes) {
          const piece = chunk.subarray(at, at + pieceBytes)
          count(piece.length)
          yield piece
        }
      }
    }
    const gunzip = createGunzip()
    // Errors arrive where the chunks are read.
    pipeline(source, pieces, gunzip, () => {})
    this.#chunks = (gunzip as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  }

  async take(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.stream(bytes)) parts.push(part)
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }

  async *stream(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next()
        if (next.done) throw new ArchiveProblem('The archive is incomplete.')
        this.#rest = next.value
      }
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  destroy() {
    this.#source.destroy()
  }
}

/** A name from an archive, for a message. */
const shown = (path: string) => path.replace(/[^\x20-\x7e]/g, '?').slice(0, 100)

function linesOf(data: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let from = 0; from < data.length; ) {
    const end = data.indexOf(10, from)
    lines.push(data.subarray(from, end < 0 ? data.length : end))
    from = end < 0 ? data.length : end + 1
  }
  return lines
}

function parsed(data: Buffer, path: string, line: number | null): unknown {
  try {
    return parseJson(data)
  } catch (error) {
    if (error instanceof ApiError) throw new ArchiveProblem('is not valid JSON.', path, line)
    throw error
  }
}

const manifestProblems = bodyProblems(Manifest)

const checks = new Map<string, ReturnType<typeof bodyProblems>>()
function rowProblems({ name, columns }: Table) {
  const known = checks.get(name)
  if (known) return known
  const properties: Record<string, TSchema> = Object.fromEntries(
    Object.entries(columns).map(([column, { schema }]) => [column, schema]),
  )
  const check = bodyProblems(Type.Object(properties, { additionalProperties: false }))
  checks.set(name, check)
  return check
}
