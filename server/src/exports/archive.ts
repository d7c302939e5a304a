import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import { openTemporaryFile, type TemporaryFile } from '../storage/temporary-file.ts'

const compress = promisify(gzip)

/** How much JSON may expand, in an archive that is restored (docs/decisions/0045). */
export const maxRatio = 100
/** Above this, a part is stored without compression, so that every archive can be restored. */
const compressedRatio = maxRatio / 2

export const blockBytes = 512
const endBytes = 2 * blockBytes

export const paths = {
  manifest: 'manifest.json',
  checksums: 'checksums.txt',
  part: (table: string, number: number) => `data/${table}/${String(number).padStart(6, '0')}.jsonl`,
  file: (id: string) => `files/${id}`,
}

export interface Entry {
  path: string
  data: Buffer
}

/**
 * Writes an archive into a temporary file. Each entry is a gzip member of its own; their concatenation is one
 * gzip file. So the manifest can be written last, when its numbers are known, and come first.
 */
export class ArchiveWriter {
  readonly #body: TemporaryFile
  readonly #mtime: Date
  readonly #sums: string[] = []
  #bytes = 0

  private constructor(body: TemporaryFile, mtime: Date) {
    this.#body = body
    this.#mtime = mtime
  }

  static async create(mtime: Date): Promise<ArchiveWriter> {
    return new ArchiveWriter(await openTemporaryFile(), mtime)
  }

  async add(path: string, data: Buffer): Promise<void> {
    await this.#write(await this.#member(path, data))
    this.#sums.push(sumLine(sumOf(data), path))
  }

  /** An entry of known size whose bytes arrive as a stream. */
  async addStream(path: string, bytes: number, content: Readable): Promise<void> {
    const hash = createHash('sha256')
    const header = this.#header(path, bytes)
    const member = async function* () {
      yield header
      let read = 0
      for await (const chunk of content as AsyncIterable<Buffer>) {
        read += chunk.length
        hash.update(chunk)
        yield chunk
      }
      if (read !== bytes) throw new Error(`${path} has ${read} bytes instead of ${bytes}`)
      yield Buffer.alloc(paddingOf(bytes))
    }
    await pipeline(
      Readable.from(member(), { objectMode: false }),
      createGzip(),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) await this.#write(chunk)
      },
    )
    this.#sums.push(sumLine(hash.digest('hex'), path))
  }

  /** The whole archive and its size, with the manifest and `second` before all other entries. Readable until `close`. */
  async finish(manifest: object, second: Entry[]): Promise<{ bytes: number; read: () => Readable }> {
    const data = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
    const leading = [{ path: paths.manifest, data }, ...second]
    const first = Buffer.concat(await Promise.all(leading.map((entry) => this.#member(entry.path, entry.data))))
    const sums = [...leading.map((entry) => sumLine(sumOf(entry.data), entry.path)), ...this.#sums].join('')
    const last = Buffer.concat([
      await this.#member(paths.checksums, Buffer.from(sums)),
      await compress(Buffer.alloc(endBytes)),
    ])
    const { handle } = this.#body
    const whole = async function* () {
      yield first
      yield* handle.createReadStream({ start: 0, autoClose: false })
      yield last
    }
    return {
      bytes: first.length + this.#bytes + last.length,
      read: () => Readable.from(whole(), { objectMode: false }),
    }
  }

  async close(): Promise<void> {
    await this.#body.close()
  }

  async #member(path: string, data: Buffer): Promise<Buffer> {
    const entry = Buffer.concat([this.#header(path, data.length), data, Buffer.alloc(paddingOf(data.length))])
    const compressed = await compress(entry)
    return compressed.length * compressedRatio < entry.length ? compress(entry, { level: 0 }) : compressed
  }

  #header(path: string, bytes: number) {
    return tarHeader(path, bytes, this.#mtime)
  }

  async #write(data: Buffer) {
    await this.#body.handle.writeFile(data)
    this.#bytes += data.length
  }
}

const sumOf = (data: Buffer) => createHash('sha256').update(data).digest('hex')

export const paddingOf = (bytes: number) => (blockBytes - (bytes % blockBytes)) % blockBytes

/** As `sha256sum --check` reads it. */
export const sumLine = (sum: string, path: string) => `${sum}  ${path}\n`

/** The header of a plain file in the ustar format. */
export function tarHeader(path: string, bytes: number, mtime: Date, type = '0'): Buffer {
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  header.write(path, 0, 100)
  header.write(octal(0o644, 7), 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(bytes, 11), 124)
  header.write(octal(Math.floor(mtime.getTime() / 1000), 11), 136)
  header.write(' '.repeat(8), 148)
  header.write(type, 156)
  header.write('ustar\0' + '00', 257)
  header.write(`${octal(checksumOf(header), 6)} `, 148)
  return header
}

/** The sum of the header's bytes, with spaces in place of the checksum itself. */
export function checksumOf(header: Buffer): number {
  let sum = 8 * 32
  for (let at = 0; at < blockBytes; at++) if (at < 148 || at >= 156) sum += header[at] as number
  return sum
}
