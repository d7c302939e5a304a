import { existsSync } from 'node:fs'
import { open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock } from '../clock.ts'
import { type Config, ConfigError } from '../config.ts'
import { Db } from '../db/database.ts'
import { keyFileIn, readKeyFile } from '../db/key-file.ts'
import { connectPostgres } from '../db/postgres.ts'
import { makeDirectory } from '../storage/disk.ts'
import type { Storage } from '../storage/storage.ts'
import { filesOf, partOf, syncDirectory, whileLocked } from './backup-dir.ts'
import { withEmbeddedBackup } from './embedded-backup.ts'
import { type CopiedFiles, copyFiles, filesBeside } from './files.ts'
import { type Summary, verifyBackup } from './verify.ts'
import { withBackup } from './write.ts'

/** What is backed up: the parts of a service that a backup needs. */
export interface Service {
  config: Pick<Config, 'database' | 'files'>
  db: Db
  clock: Clock
  storage: Storage | null
}

export interface Options {
  withoutKey?: boolean
  /** Uploaded files are copied beside the backup. */
  withFiles?: boolean
  signal?: AbortSignal
  /** For tests. */
  freeBytes?: (dir: string) => Promise<number>
}

export interface Made extends Summary {
  file: string
  bytes: number
  /** Null: they are in S3, which a backup only lists. */
  files: CopiedFiles | null
}

/** Passes a backup to `use`, compressed, while the service goes on. */
export async function backUp(
  service: Service,
  use: (backup: Readable) => Promise<void>,
  options: Options,
): Promise<{ hasKey: boolean }> {
  const { config, db, clock } = service
  const { database } = config
  const description = { madeAt: clock.now(), files: options.withFiles ? 'copied' : 'listed' } as const
  if (database.kind === 'embedded') {
    const dataDir = resolve(database.dataDir)
    const key = options.withoutKey ? null : keyIn(dataDir)
    await withEmbeddedBackup({ ...options, ...description, db, dataDir, key }, use)
    return { hasKey: key !== null }
  }
  // A connection of its own: the service's have time limits.
  const own = new Db(
    connectPostgres(database.url, () => {}, { unlimited: true }),
    { guarded: false },
  )
  try {
    // The key is never in a backup of PostgreSQL: other programs can read the database, but not the key.
    await withBackup(own, { ...description, key: null }, use)
    return { hasKey: false }
  } finally {
    await own.close()
  }
}

/** The generated key. An operator who sets BATON_SECRET_KEY keeps it elsewhere. */
const keyIn = (dataDir: string) => (existsSync(keyFileIn(dataDir)) ? readKeyFile(keyFileIn(dataDir)) : null)

/**
 * Writes a backup to `path`, and copies of the uploaded files beside it. The name appears when the file is complete and
 * verified and all files are copied. `isStillWanted` is asked right before.
 */
export async function writeBackupFile(
  service: Service,
  path: string,
  options: Options & { writer?: string; isStillWanted?: () => Promise<boolean> } = {},
): Promise<Made> {
  const { signal, isStillWanted } = options
  const dir = dirname(path)
  await makeDirectory(dir)
  return whileLocked(dir, signal, async () => {
    if (existsSync(path)) throw new ConfigError(`${path} exists already.`)
    await removeParts(dir, path)
    const part = partOf(path, options.writer ?? String(process.pid))
    try {
      const storage = service.config.files?.kind === 'directory' ? service.storage : null
      await backUp(service, (backup) => writeDurably(backup, part, signal), { ...options, withFiles: storage !== null })
      const summary = await verifyBackup(part)
      const files = storage && (await copyFiles(filesOf(part), storage, filesBeside(dir), signal))
      signal?.throwIfAborted()
      if (isStillWanted && !(await isStillWanted())) throw new Error('another process has taken over this backup')
      await rename(part, path)
      await syncDirectory(dir)
      return { ...summary, file: path, bytes: (await stat(path)).size, files }
    } finally {
      await rm(part, { force: true })
    }
  })
}

/** Of a process that was killed while it wrote the same backup. */
async function removeParts(dir: string, path: string) {
  const start = path.slice(dir.length + 1)
  for (const name of await readdir(dir))
    if (name.startsWith(`${start}.`) && name.endsWith('.part')) await rm(join(dir, name), { force: true })
}

async function writeDurably(backup: Readable, path: string, signal: AbortSignal | undefined) {
  const handle = await open(path, 'wx', 0o600)
  try {
    await writeFile(handle, backup, signal ? { signal } : {})
    await handle.sync()
  } finally {
    await handle.close()
  }
}
