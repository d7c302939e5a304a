import { createHash, type Hash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { makeDirectory } from '../storage/disk.ts'
import { NoSuchKey, type Storage } from '../storage/storage.ts'
import type { Block } from './format.ts'

/** An uploaded file that a backup lists. */
export interface ListedFile {
  id: string
  bytes: number
  /** In hex. */
  sha256: string
}

/** Beside the backups of a directory. */
export const filesBeside = (backupDir: string) => join(backupDir, 'files')

const keyOf = (id: string) => `files/${id}`

/** The uploaded files among the rows of the table `files`. It is the first block, so a list needs no more of a backup. */
export async function* listedFiles({ name, columns, lines }: Block): AsyncGenerator<ListedFile> {
  if (name !== 'files') return
  const [id, bytes, sha256, state] = ['id', 'bytes', 'sha256', 'state'].map((column) => columns.indexOf(column)) as [
    number,
    number,
    number,
    number,
  ]
  for await (const chunk of lines) {
    for (const line of Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString().split('\n')) {
      const fields = line.split('\t')
      // A bytea is written as \x…, and its backslash twice.
      const [, hash] = /^\\\\x([0-9a-f]{64})$/.exec(fields[sha256] ?? '') ?? []
      if (fields[state] === 'ready' && hash) yield { id: fields[id] ?? '', bytes: Number(fields[bytes]), sha256: hash }
    }
  }
}

export interface CopiedFiles {
  listed: number
  copied: number
  copiedBytes: number
  /** Ids of files whose bytes the storage does not have. */
  missing: string[]
}

/** Copies each file that is not there yet. Files never change, so one that is there is complete. */
export async function copyFiles(
  files: AsyncIterable<ListedFile>,
  storage: Storage,
  to: string,
  signal?: AbortSignal,
): Promise<CopiedFiles> {
  const result: CopiedFiles = { listed: 0, copied: 0, copiedBytes: 0, missing: [] }
  for await (const file of files) {
    signal?.throwIfAborted()
    result.listed++
    if (await hasFile(to, file)) continue
    try {
      await writeWhole(to, file, await storage.read(keyOf(file.id)))
      result.copied++
      result.copiedBytes += file.bytes
    } catch (error) {
      if (!(error instanceof NoSuchKey) && !(error instanceof WrongContent)) throw error
      result.missing.push(file.id)
    }
  }
  return result
}

class WrongContent extends Error {}

async function writeWhole(dir: string, { sha256 }: ListedFile, body: Readable) {
  await makeDirectory(dir)
  const part = join(dir, `.${sha256}.${randomUUID()}.part`)
  const handle = await open(part, 'wx', 0o600)
  try {
    const hash = createHash('sha256')
    await writeFile(handle, hashed(body, hash))
    if (hash.digest('hex') !== sha256) throw new WrongContent()
    await handle.sync()
    await rename(part, join(dir, sha256))
  } finally {
    await handle.close().catch(() => {})
    await rm(part, { force: true })
  }
}

async function* hashed(body: AsyncIterable<Buffer>, hash: Hash) {
  for await (const chunk of body) {
    hash.update(chunk)
    yield chunk
  }
}

const hasFile = async (dir: string, { sha256, bytes }: ListedFile) =>
  (await stat(join(dir, sha256)).catch(() => undefined))?.size === bytes

/** Those that are missing, or have other content. */
export async function damagedFiles(files: AsyncIterable<ListedFile>, dir: string): Promise<string[]> {
  const damaged: string[] = []
  const checked = new Set<string>()
  for await (const file of files) {
    if (checked.has(file.sha256)) continue
    checked.add(file.sha256)
    const hash = createHash('sha256')
    const isRead = await pipeline(createReadStream(join(dir, file.sha256)), hash).then(
      () => true,
      () => false,
    )
    if (!isRead || hash.digest('hex') !== file.sha256) damaged.push(file.sha256)
  }
  return damaged
}

/** Puts the listed files into the storage, unless they are there. Returns the ids of those that cannot be brought back. */
export async function bringBack(
  files: AsyncIterable<ListedFile>,
  dir: string | null,
  storage: Storage,
): Promise<string[]> {
  const stored = new Map<string, number>()
  for await (const { key, bytes } of storage.list('files/')) stored.set(key, bytes)
  const missing: string[] = []
  for await (const file of files) {
    if (stored.get(keyOf(file.id)) === file.bytes) continue
    if (dir === null || !(await hasFile(dir, file))) {
      missing.push(file.id)
      continue
    }
    const { sha256 } = await storage.put(keyOf(file.id), createReadStream(join(dir, file.sha256)), file.bytes)
    if (sha256.toString('hex') === file.sha256) continue
    await storage.remove(keyOf(file.id))
    missing.push(file.id)
  }
  return missing
}

/** Removes copies that no backup lists, and unfinished ones. Files of other names are left alone. */
export async function removeUnlisted(dir: string, listed: ReadonlySet<string>) {
  for (const name of await readdir(dir).catch(() => [])) {
    const [, hash, part] = /^(?:([0-9a-f]{64})|\.[0-9a-f]{64}\.[0-9a-f-]{36}(\.part))$/.exec(name) ?? []
    if (part || (hash && !listed.has(hash))) await rm(join(dir, name), { force: true })
  }
}
