import { createReadStream } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LockedError, takeLock } from '../db/lock.ts'
import { filesBeside, type ListedFile, listedFiles, removeUnlisted } from './files.ts'
import { BackupReader, BadBackup } from './format.ts'

const pattern = /^baton-\d{8}T\d{6}\.\d{3}Z\.backup$/

/** `baton-20261117T030000.000Z.backup`: sorted by name is sorted by time. */
export const nameOf = (time: Date) => `baton-${time.toISOString().replaceAll(/[-:]/g, '')}.backup`

export const partOf = (path: string, writer: string) => `${path}.${writer}.part`

/** Backups in a directory, oldest first. */
export const backupsIn = async (dir: string) => (await readdir(dir)).filter((name) => pattern.test(name)).sort()

/** Runs `work` while no other process writes to the directory, so that none removes files that another needs. */
export async function whileLocked<T>(dir: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const unlock = await waitForLock(join(dir, '.lock'), signal)
  try {
    return await work()
  } finally {
    unlock()
  }
}

async function waitForLock(file: string, signal: AbortSignal | undefined) {
  for (;;) {
    try {
      return await takeLock(file)
    } catch (error) {
      if (!(error instanceof LockedError)) throw error
      await sleep(500, undefined, signal ? { signal } : {})
    }
  }
}

/** The uploaded files that a backup lists. */
export async function* filesOf(path: string): AsyncGenerator<ListedFile> {
  const reader = new BackupReader(createReadStream(path))
  try {
    await reader.header()
    for await (const block of reader.blocks()) {
      yield* listedFiles(block)
      return
    }
  } finally {
    await reader.close()
  }
}

/**
 * Removes the oldest backups beyond `keep`, but never `verified`, and the copies of uploaded files that none of the
 * others lists. Returns the names of the removed backups. Call it while the directory is locked.
 */
export async function removeOld(dir: string, keep: number, verified: string): Promise<string[]> {
  const all = await backupsIn(dir)
  const old = all.slice(0, Math.max(0, all.length - keep)).filter((name) => name !== verified)
  for (const name of old) await rm(join(dir, name))
  const listed = await listedIn(dir)
  if (listed) await removeUnlisted(filesBeside(dir), listed)
  return old
}

/** Hashes of the files that the backups list. Null if one cannot be read: its files may still be wanted. */
async function listedIn(dir: string): Promise<Set<string> | null> {
  const listed = new Set<string>()
  try {
    for (const name of await backupsIn(dir)) for await (const { sha256 } of filesOf(join(dir, name))) listed.add(sha256)
    return listed
  } catch (error) {
    if (error instanceof BadBackup) return null
    throw error
  }
}

/** Makes the names in it durable. */
export async function syncDirectory(dir: string) {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
