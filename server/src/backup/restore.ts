import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Config, ConfigError } from '../config.ts'
import type { DataDir } from '../db/data-dir.ts'
import { Db } from '../db/database.ts'
import { keyFileIn, writeKeyFile } from '../db/key-file.ts'
import { migrate } from '../db/migrate.ts'
import { openPostgres } from '../db/open-postgres.ts'
import { connectPostgres } from '../db/postgres.ts'
import { readSetting } from '../db/settings.ts'
import { sql } from '../db/sql.ts'
import { DiskStorage } from '../storage/disk.ts'
import { settleRestored } from './after-restore.ts'
import { bringBack, filesBeside, type ListedFile } from './files.ts'
import { BackupReader, BadBackup, type Header } from './format.ts'
import { beginLoad, differing, endLoad, type Job, joinTables, LoadRefused, loadBlock, refuseUnknown } from './load.ts'
import { type Summary, verifyBackup, verifyFiles } from './verify.ts'

export interface Restore {
  /** A path, or the bytes of a backup from a pipe. */
  backup: string | AsyncIterable<Buffer>
  /** Of copies of uploaded files; null: beside the backup. */
  filesDir: string | null
  withoutFiles: boolean
  holdDeliveries: boolean
  /** Null with PostgreSQL. */
  dataDir: DataDir | null
  config: Pick<Config, 'database' | 'files' | 'secretKey'>
  progress(line: string): void
  /** Called with the complete database before it may be used, and with its key. Both can be called again. */
  checkKey(db: Db, key: Buffer): Promise<void>
  /** Erases the people on the list beside the backup; null: it came through a pipe. */
  eraseListed(db: Db, key: Buffer, backupDir: string | null): Promise<void>
}

export interface Restored extends Pick<Summary, 'tables' | 'rows'> {
  header: Omit<Header, 'key'>
  /** Ids of uploaded files that could not be brought back. */
  missingFiles: string[]
}

/** Fills an empty directory or database from a backup. Called again after an interruption, it goes on. */
export async function restore(options: Restore): Promise<Restored> {
  const { backup, config } = options
  if (typeof backup === 'string') await refuseDamaged(options)
  const reader = new BackupReader(typeof backup === 'string' ? createReadStream(backup) : backup)
  try {
    const header = await reader.header()
    const job: Job = { what: 'restore', id: header.id, migrations: header.migrations }
    refuseUnknown(job)
    const key = keyOf(header, config)
    const db = await openTarget(options, job)
    try {
      const loaded = await load(db, reader, job, options)
      const missingFiles = await restoreFiles(db, options)
      if (!(await isWhole(db))) await finish(db, key, options)
      const { key: _, ...shown } = header
      return { header: shown, ...loaded, missingFiles }
    } finally {
      const isDone = await isWhole(db)
      await db.close()
      if (isDone) options.dataDir?.unmark('restore')
    }
  } finally {
    await reader.close()
  }
}

async function finish(db: Db, key: Buffer, { backup, config, dataDir, ...options }: Restore) {
  await migrate(db, () => {}, { isLoading: true })
  await db.tx((tx) => settleRestored(tx, options))
  await options.checkKey(db, key)
  await options.eraseListed(db, key, typeof backup === 'string' ? dirname(backup) : null)
  if (dataDir && !config.secretKey) writeKeyFile(keyFileIn(dataDir.path), key)
  await endLoad(db)
}

/** Of an embedded database: it was killed after the last step but one. */
const isWhole = async (db: Db) =>
  (await db.row(sql`
    select 1 where to_regclass('public.migrations') is not null
      and not exists (select from pg_namespace where nspname = 'baton_load')`)) !== undefined

/** Before anything is written. A pipe can be read only once, so its damage is found at its end. */
async function refuseDamaged({ backup, filesDir, withoutFiles, config }: Restore) {
  const path = backup as string
  const { header } = await verifyBackup(path)
  if (withoutFiles || config.files?.kind !== 'directory' || header.files !== 'copied') return
  const dir = filesDir ?? filesBeside(dirname(path))
  const damaged = await verifyFiles(path, dir)
  if (damaged.length === 0) return
  throw new BadBackup(
    `${damaged.length} uploaded files are missing or damaged in ${dir}, such as ${damaged[0]}. Bring them back, or add --without-files.`,
  )
}

function keyOf({ key }: Header, { secretKey, database }: Pick<Config, 'secretKey' | 'database'>): Buffer {
  const given = secretKey?.toString('base64')
  if (key !== undefined && given !== undefined && key !== given) {
    throw new LoadRefused(
      'BATON_SECRET_KEY is not the key of this backup, which is in its first line (gzip -dc FILE | head -1). Set that one.',
    )
  }
  const used = given ?? key
  if (used === undefined || (database.kind === 'postgres' && !secretKey))
    throw new LoadRefused(
      'The backup does not contain the secret key: set BATON_SECRET_KEY to the key of its instance.',
    )
  return Buffer.from(used, 'base64')
}

async function openTarget({ dataDir, config, progress }: Restore, job: Job): Promise<Db> {
  if (config.database.kind === 'postgres') {
    await (await openPostgres(config.database.url, () => {}, progress)).close()
    return new Db(
      connectPostgres(config.database.url, () => {}, { unlimited: true }),
      { guarded: false },
    )
  }
  const dir = dataDir as DataDir
  const marked = dir.marked('restore')
  if (marked ? marked.id !== job.id : !dir.isEmpty) {
    throw new LoadRefused(
      marked
        ? `BATON_DATA_DIR ${dir.path} holds an unfinished restore of another backup. Use an empty directory.`
        : `BATON_DATA_DIR ${dir.path} is not empty. Use an empty directory.`,
    )
  }
  dir.mark('restore', { id: job.id })
  return dir.openDatabase(progress, ({ message }) => progress(message), { purpose: 'restore' })
}

async function load(db: Db, reader: BackupReader, job: Job, { dataDir }: Restore) {
  const stage = dataDir && (await isWhole(db)) ? 'joined' : await beginLoad(db, job)
  for await (const block of reader.blocks()) {
    if (stage !== 'joined') await loadBlock(db, block, dataDir?.path ?? null)
  }
  const expected = reader.footer?.tables ?? {}
  if (stage !== 'joined') {
    const wrong = await differing(db, expected)
    if (wrong.length > 0)
      throw new BadBackup(`The restored rows differ from those of the backup in: ${wrong.join(', ')}.`)
    await joinTables(db)
  }
  const sums = Object.values(expected)
  return { tables: sums.length, rows: sums.reduce((total, { rows }) => total + rows, 0) }
}

/** Files in S3 are not part of a backup. */
async function restoreFiles(db: Db, { config: { files }, backup, filesDir, withoutFiles }: Restore): Promise<string[]> {
  if (files?.kind !== 'directory' || withoutFiles) return []
  const dir = filesDir ?? (typeof backup === 'string' ? filesBeside(dirname(backup)) : null)
  const target = resolve(files.path)
  const owner = await readFile(join(target, '.baton-instance'), 'utf8').catch(() => null)
  if (owner !== null && owner.trim() !== (await readSetting(db, 'instance_id'))) {
    throw new ConfigError(
      `BATON_FILES_DIR ${target} belongs to another instance: choose another directory and run the same command again.`,
    )
  }
  return bringBack(restoredFiles(db), dir, new DiskStorage(target))
}

const rowsAtOnce = 1000

async function* restoredFiles(db: Db): AsyncGenerator<ListedFile> {
  for (let after = ''; ; ) {
    const rows = await db.rows<ListedFile>(sql`
      select id, bytes::float8 as bytes, encode(sha256, 'hex') as sha256 from files
      where state = 'ready' and sha256 is not null and id > ${after} order by id limit ${rowsAtOnce}`)
    yield* rows
    if (rows.length < rowsAtOnce) return
    after = (rows.at(-1) as ListedFile).id
  }
}
