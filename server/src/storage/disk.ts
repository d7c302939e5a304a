import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { checkKey, NoSuchKey, type Storage, StorageUnavailable, WrongLength } from './storage.ts'

/** Left for the database, logs and other programs on the same disk. */
const keptFreeBytes = 256 * 1024 * 1024

/** Files in a directory, by key. Names that begin with a dot are not values: unfinished writes, and the marker. */
export class DiskStorage implements Storage {
  readonly #dir: string
  readonly #freeBytes: () => Promise<number>

  constructor(dir: string, freeBytes = () => freeBytesOf(dir)) {
    this.#dir = dir
    this.#freeBytes = freeBytes
  }

  async put(key: string, body: Readable, bytes: number): Promise<{ sha256: Buffer }> {
    const path = this.#path(key)
    const unfinished = unfinishedOf(path)
    let written = false
    try {
      await available(() => this.#prepare(path, bytes))
      const sha256 = await writeAll(unfinished, body, bytes)
      await available(async () => {
        await rename(unfinished, path)
        written = true
        await syncDirectory(dirname(path))
      })
      return { sha256 }
    } catch (error) {
      await rm(written ? path : unfinished, { force: true }).catch(() => {})
      throw error instanceof NoSuchKey ? new StorageUnavailable(`${key} was removed while it was written`) : error
    } finally {
      body.destroy()
    }
  }

  async #prepare(path: string, bytes: number) {
    await makeDirectory(dirname(path))
    const left = (await this.#freeBytes()) - bytes
    if (left < keptFreeBytes) throw new StorageUnavailable('the disk of the files is full')
  }

  async read(key: string, range?: { start: number; end: number }): Promise<Readable> {
    const handle = await available(() => open(this.#path(key), 'r'))
    return handle.createReadStream(range)
  }

  async remove(key: string): Promise<void> {
    const path = this.#path(key)
    await available(async () => {
      await rm(path, { force: true })
      await rm(unfinishedOf(path), { force: true })
      await this.#removeEmpty(dirname(path))
    })
  }

  /** The folders of the first part of a key stay. */
  async #removeEmpty(dir: string) {
    const synced = await syncDirectory(dir).then(() => true, ignoring('ENOENT'))
    if (!synced || dirname(dir) === this.#dir) return
    if (await rmdir(dir).then(() => true, ignoring('ENOTEMPTY', 'EEXIST', 'ENOENT'))) await syncDirectory(dirname(dir))
  }

  async *list(prefix: string): AsyncIterable<{ key: string; bytes: number; writtenAt: Date }> {
    checkKey(prefix.replace(/\/$/, ''))
    const dir = join(this.#dir, prefix)
    const entries = await available(() => readdir(dir, { withFileTypes: true }).catch(ignoring('ENOENT')))
    const names = new Set((entries || []).map(({ name }) => name))
    for (const entry of entries || []) {
      const name = entry.name.startsWith('.') ? unfinishedName.exec(entry.name)?.[1] : entry.name
      if (name === undefined || (name !== entry.name && names.has(name))) continue
      if (entry.isDirectory()) yield* this.list(`${prefix}${entry.name}/`)
      else {
        const found = await available(() => stat(join(dir, entry.name)).catch(ignoring('ENOENT')))
        if (found) yield { key: `${prefix}${name}`, bytes: found.size, writtenAt: found.mtime }
      }
    }
  }

  #path(key: string) {
    checkKey(key)
    return join(this.#dir, key)
  }
}

/** In the same directory, so that renaming it is atomic. */
const unfinishedOf = (path: string) => join(dirname(path), `.${path.slice(dirname(path).length + 1)}.part`)

const unfinishedName = /^\.([A-Za-z0-9_-]+)\.part$/

async function writeAll(path: string, body: Readable, bytes: number): Promise<Buffer> {
  const handle = await available(() => open(path, 'w', 0o600))
  try {
    const sha256 = await copyTo(handle, body, bytes)
    await available(() => handle.sync())
    return sha256
  } finally {
    await handle.close()
  }
}

/** Errors of the body are thrown as they are; those of the disk as StorageUnavailable. */
export async function copyTo(handle: FileHandle, body: Readable, bytes: number): Promise<Buffer> {
  const hash = createHash('sha256')
  let copied = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    copied += chunk.length
    if (copied > bytes) throw new WrongLength(`more than ${bytes} bytes`)
    hash.update(chunk)
    await available(() => writeChunk(handle, chunk))
  }
  if (copied < bytes) throw new WrongLength(`${copied} of ${bytes} bytes`)
  return hash.digest()
}

async function writeChunk(handle: FileHandle, chunk: Buffer) {
  for (let offset = 0; offset < chunk.length; ) offset += (await handle.write(chunk, offset)).bytesWritten
}

/** Makes the names in it durable. */
async function syncDirectory(dir: string) {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Not Node's `recursive`: it never returns on file systems without mkdir, such as /proc. */
export async function makeDirectory(dir: string): Promise<void> {
  const exists = await stat(dir).then(() => true, ignoring('ENOENT'))
  if (exists) return
  await makeDirectory(dirname(dir))
  // Another process may make it at the same time.
  if (await mkdir(dir, { mode: 0o700 }).then(() => true, ignoring('EEXIST'))) await syncDirectory(dirname(dir))
}

async function freeBytesOf(dir: string) {
  const { bavail, bsize } = await statfs(dir)
  return bavail * bsize
}

const ignoring =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException): false => {
    if (codes.includes(error.code ?? '')) return false
    throw error
  }

async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new NoSuchKey(message)
    if (!code) throw error
    throw new StorageUnavailable(message)
  }
}
