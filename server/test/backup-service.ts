import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import type { Footer, Header } from '../src/backup/format.ts'
import { writeBackupFile } from '../src/backup/make.ts'
import { restore } from '../src/backup/restore.ts'
import { keptTables, type RowSum, sameText, sumOf } from '../src/backup/tables.ts'
import { readConfig } from '../src/config.ts'
import { DataDir } from '../src/db/data-dir.ts'
import type { Db } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { openPostgres } from '../src/db/open-postgres.ts'
import { sql } from '../src/db/sql.ts'
import { createLog, type Logger } from '../src/log.ts'
import { openStorage } from '../src/storage-check.ts'
import { TestClock } from './clock.ts'
import { withDatabase } from './postgres.ts'
import { newDataDir } from './service-process.ts'
import { dataOf } from './template.ts'

export function newFolder() {
  const dir = newDataDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** The URL of a new database on the server of DATABASE_URL, empty or as the template. */
export async function newPostgres(template = 'template1'): Promise<string> {
  const url = process.env.DATABASE_URL as string
  const name = `baton_backup_${randomBytes(6).toString('hex')}`
  const run = async (statement: string) => {
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query(statement)
    await admin.end()
  }
  await run(`create database ${name} template ${template}`)
  onTestFinished(() => run(`drop database ${name} with (force)`))
  return withDatabase(url, name)
}

export type Kind = 'embedded' | 'postgres'
/** On which the tests run. */
export const kind: Kind = process.env.DATABASE_URL ? 'postgres' : 'embedded'

/** Settings for an empty place. */
export async function emptyPlace(of: Kind, key: Buffer = randomBytes(32)): Promise<Record<string, string>> {
  const dir = newFolder()
  if (of === 'embedded') return { BATON_DATA_DIR: join(dir, 'data') }
  return {
    DATABASE_URL: await newPostgres(),
    BATON_SECRET_KEY: key.toString('base64'),
    BATON_FILES_DIR: join(dir, 'files'),
  }
}

/** The database of these settings. Closed at the end of the test, or before by `close`. */
export async function openPlace(env: Record<string, string>) {
  const config = readConfig(env)
  const { database } = config
  const dataDir = database.kind === 'embedded' ? await DataDir.open(database.dataDir) : null
  const db = dataDir
    ? await dataDir.openDatabase(
        () => {},
        () => {},
      )
    : await openPostgres(
        env.DATABASE_URL as string,
        () => {},
        () => {},
      )
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await db.close()
    dataDir?.close()
  }
  onTestFinished(close)
  return { config, db, dataDir, close }
}

/** The parts of a service that backups use, on a real directory or database, with a backup directory. */
export async function newService(settings: Record<string, string> = {}, log: Logger = createLog('silent'), of = kind) {
  const env: Record<string, string> = { ...(await emptyPlace(of)), BATON_BACKUP_DIR: join(newFolder(), 'backups') }
  if (kind === 'embedded') {
    cpSync(dataOf(inject('template')), join(env.BATON_DATA_DIR as string, 'db'), { recursive: true })
  } else if (of === 'postgres') {
    env.DATABASE_URL = await newPostgres(inject('template'))
  }
  const { config, db, dataDir, close } = await openPlace({ ...env, ...settings })
  await migrate(db)
  const storage = await openStorage(config, db)
  const clock = new TestClock()
  const backupDir = config.backup.dir as string
  const key = config.secretKey ?? (dataDir as DataDir).secretKeys()[0]
  return { config, key, db, storage, clock, log, env, backupDir, close }
}

const oddText = 'tab\t newline\n return\r backslash\\ quote\' "double" \\N \\. ü 🙂 {"json": [1, "\\u0041"]}'

/** Workspaces whose names COPY has to escape. */
export const addWorkspaces = (db: Db, count: number, name = oddText) =>
  db.run(sql`
    insert into workspaces (id, name, created_at, updated_at)
    select ${`ws_${randomUUID()}_`} || lpad(i::text, 6, '0'), ${name} || i, now(), now() from generate_series(1, ${count}::int) i`)

/** An uploaded file of a workspace, in the storage and in the database. */
export async function addFile({ db, storage }: Awaited<ReturnType<typeof newService>>, content: string) {
  const id = `fil_${randomUUID()}`
  const bytes = Buffer.from(content)
  if (!storage) throw new Error('no storage')
  const { sha256 } = await storage.put(`files/${id}`, Readable.from([bytes]), bytes.length)
  await db.run(sql`
    insert into files (id, workspace_id, name, bytes, media_type, inline, sha256, state, created_at)
    select ${id}, w.id, 'a.txt', ${bytes.length}::bigint, 'text/plain', false, ${sha256}, 'ready', now()
    from workspaces w order by id limit 1`)
  return { id, hash: createHash('sha256').update(bytes).digest('hex') }
}

/** Restores into the place of these settings, as the command does. */
export async function restoreInto(
  env: Record<string, string>,
  backup: string | AsyncIterable<Buffer>,
  options: Partial<Parameters<typeof restore>[0]> = {},
) {
  const config = readConfig(env)
  const dataDir = config.database.kind === 'embedded' ? await DataDir.open(config.database.dataDir) : null
  try {
    return await restore({
      backup,
      filesDir: null,
      withoutFiles: false,
      holdDeliveries: false,
      dataDir,
      config,
      progress: () => {},
      checkKey: async () => {},
      eraseListed: async () => {},
      ...options,
    })
  } finally {
    dataDir?.close()
  }
}

/** Writes a backup, and returns its path. */
export const made = async (service: Awaited<ReturnType<typeof newService>>, name = 'one.backup', options = {}) =>
  (await writeBackupFile(service, join(service.backupDir, name), options)).file

export const textIn = (path: string) => gunzipSync(readFileSync(path)).toString()
export const headerIn = (path: string) => JSON.parse(textIn(path).split('\n')[0] as string) as Header
export const footerIn = (path: string) => JSON.parse(textIn(path).trimEnd().split('\n').at(-1) as string) as Footer

/** Of every table that a backup has. */
export const sums = (db: Db): Promise<Record<string, RowSum>> =>
  db.tx(async (tx) => {
    await tx.script(sameText)
    const found: Record<string, RowSum> = {}
    for (const table of await keptTables(tx)) found[table.name] = await sumOf(tx, table)
    return found
  })

/** A restore lets the next start mark the directory of files, which is a setting. */
export const comparable = ({ settings: _, ...tables }: Record<string, RowSum>) => tables
