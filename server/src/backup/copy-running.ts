import { constants } from 'node:fs'
import { copyFile, mkdir, open, readdir, rm, stat, statfs, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigError } from '../config.ts'
import type { Db } from '../db/database.ts'

const megabyte = 1024 * 1024
/** Kept free beside the copy, for the database that goes on writing. */
const reserveBytes = 128 * megabyte
/** A file changed this shortly before it was looked at may change again without a newer time. */
const coarseTimeMs = 100

/** When a file was last the same as its copy. */
interface Seen {
  mtimeMs: number
  size: number
  at: number
}

/**
 * Copies the directory of a running embedded database. Statements wait only while what changed during the first copy is
 * copied again. The copy is what a crash right after a checkpoint would leave: complete, without any transaction in
 * progress. `freeBytes` is for tests.
 */
export async function copyRunning(
  db: Db,
  from: string,
  to: string,
  { signal, freeBytes = freeBytesOf }: { signal?: AbortSignal; freeBytes?: (dir: string) => Promise<number> } = {},
): Promise<void> {
  await refuseWithoutRoom(from, dirname(to), freeBytes)
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { mode: 0o700 })
  const seen = new Map<string, Seen>()
  const update = () => updateCopy(from, to, seen, signal)
  await update()
  // What changed meanwhile, so that little is left for the third time.
  await update()
  await db.tx(async (tx) => {
    await tx.script('checkpoint')
    await update()
  })
}

async function refuseWithoutRoom(from: string, disk: string, freeBytes: (dir: string) => Promise<number>) {
  let bytes = reserveBytes
  for (const file of await filesIn(from)) bytes += (await stat(join(from, file)).catch(() => ({ size: 0 }))).size
  const free = await freeBytes(disk)
  if (free >= bytes) return
  throw new ConfigError(
    `A backup needs ${bytes} bytes of free disk in ${disk} for a copy of the database, and ${free} are free. Free some, or set BATON_DATA_DIR on a larger disk.`,
  )
}

async function freeBytesOf(dir: string) {
  const { bavail, bsize } = await statfs(dir)
  return bavail * bsize
}

/** Paths of all files, folders first. A file may disappear at any time. */
async function filesIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
}

async function updateCopy(from: string, to: string, seen: Map<string, Seen>, signal: AbortSignal | undefined) {
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (entry.isDirectory())
      await mkdir(join(to, join(entry.parentPath, entry.name).slice(from.length)), { recursive: true })
  }
  const files = new Set(
    entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(from.length + 1)),
  )
  for (const file of files) {
    signal?.throwIfAborted()
    await updateFile(join(from, file), join(to, file), file, seen)
  }
  for (const file of [...seen.keys()].filter((file) => !files.has(file))) {
    await rm(join(to, file), { force: true })
    seen.delete(file)
  }
}

async function updateFile(from: string, to: string, file: string, seen: Map<string, Seen>) {
  const at = Date.now()
  const found = await stat(from).catch(() => undefined)
  // Deleted since the folder was read; the next update notices.
  if (!found) return
  const before = seen.get(file)
  const isSame =
    before &&
    before.mtimeMs === found.mtimeMs &&
    before.size === found.size &&
    before.mtimeMs < before.at - coarseTimeMs
  if (isSame) return
  try {
    if (before) await copyDifference(from, to)
    else await copyFile(from, to, constants.COPYFILE_FICLONE)
    seen.set(file, { mtimeMs: found.mtimeMs, size: found.size, at })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Reads both and writes only the blocks that differ: a large table of which a few pages changed is one file. */
async function copyDifference(from: string, to: string) {
  const [source, copy] = await Promise.all([open(from, 'r'), open(to, 'r+')])
  try {
    const [here, there] = [Buffer.allocUnsafe(megabyte), Buffer.allocUnsafe(megabyte)]
    let at = 0
    for (;;) {
      const [read, copied] = await Promise.all([source.read(here, 0, megabyte, at), copy.read(there, 0, megabyte, at)])
      const block = here.subarray(0, read.bytesRead)
      if (!block.equals(there.subarray(0, copied.bytesRead))) await copy.write(block, 0, block.length, at)
      at += block.length
      if (block.length < megabyte) break
    }
    await truncate(to, at)
  } finally {
    await Promise.all([source.close(), copy.close()])
  }
}
