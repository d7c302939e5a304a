import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import type { Db } from './db/database.ts'
import { insertSetting, readSetting } from './db/settings.ts'
import { DiskStorage, makeDirectory } from './storage/disk.ts'
import type { Storage } from './storage/storage.ts'

/** Opens the configured storage of files, or none. */
export async function openStorage({ files }: Pick<Config, 'files'>, db: Db): Promise<Storage | null> {
  if (!files) return null
  // Loaded only where it is used: it needs the whole of undici, a fifth of a start and 10 MB of memory.
  if (files.kind === 's3') return new (await import('./storage/s3.ts')).S3Storage(files)
  const dir = resolve(files.path)
  await checkDirectory(dir, db)
  return new DiskStorage(dir)
}

const marker = '.baton-instance'

/**
 * file.directory-shared: all processes of an instance must see the same files. The first start writes the instance's id
 * into the directory; every later start, on any machine, must find it there. So a directory that is not mounted, or
 * belongs to another instance, stops the start instead of losing files.
 */
async function checkDirectory(dir: string, db: Db): Promise<void> {
  await insertSetting(db, 'instance_id', randomBytes(16).toString('hex'))
  const id = (await readSetting(db, 'instance_id')) as string
  const path = join(dir, marker)
  const unusable = (error: Error) => new ConfigError(`BATON_FILES_DIR ${dir} cannot be used: ${error.message}`)
  const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw unusable(error)
  })
  if (found !== null && found.trim() !== id) {
    throw new ConfigError(`BATON_FILES_DIR ${dir} belongs to another instance; choose the directory of this one`)
  }
  if (found === null) {
    if (await readSetting(db, 'files_directory')) {
      throw new ConfigError(
        `BATON_FILES_DIR ${dir} has no marker of this instance; mount its directory there, or move its files there with ${marker}`,
      )
    }
    await writeMarker(dir, id).catch((error) => {
      throw unusable(error)
    })
  }
  await insertSetting(db, 'files_directory', 'marked')
}

async function writeMarker(dir: string, id: string) {
  await makeDirectory(dir)
  const draft = join(dir, `${marker}.${process.pid}`)
  await writeFile(draft, `${id}\n`, { mode: 0o600, flush: true })
  await rename(draft, join(dir, marker))
}
