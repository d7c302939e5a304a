import type { Clock } from '../clock.ts'
import { ConfigError } from '../config.ts'
import type { DataDir } from '../db/data-dir.ts'
import { Db, sqlState } from '../db/database.ts'
import { openPostgres } from '../db/open-postgres.ts'
import { connectPostgres } from '../db/postgres.ts'
import { readSetting } from '../db/settings.ts'
import { Sql } from '../db/sql.ts'
import {
  beginLoad,
  differing,
  endLoad,
  type Job,
  joinTables,
  LoadRefused,
  type Progress,
  progressOf,
  readState,
  refuseUnlessEmpty,
  writeState,
} from './load.ts'
import {
  allTables,
  appliedMigrations,
  inBatches,
  type Place,
  type RowSum,
  sameText,
  sumOf,
  type Table,
} from './tables.ts'

export interface Move {
  dataDir: DataDir
  url: string
  clock: Clock
  progress(line: string): void
  signal?: AbortSignal
}

export interface Moved {
  tables: Record<string, RowSum>
  movedAt: string
}

/** Copies a stopped embedded database to an empty PostgreSQL. Called again after an interruption, it goes on. */
export async function move({ dataDir, url, clock, progress, signal }: Move): Promise<Moved> {
  if (!dataDir.hasDatabase) throw new LoadRefused(`BATON_DATA_DIR ${dataDir.path} has no database to move.`)
  const source = await dataDir.openDatabase(progress, ({ message }) => progress(message), { purpose: 'move' })
  try {
    await (await openPostgres(url, () => {}, progress, '--to')).close()
    const target = new Db(
      connectPostgres(url, () => {}, { unlimited: true }),
      { guarded: false },
    )
    try {
      const id = (await readSetting(source, 'instance_id')) ?? 'new'
      const job: Job = { what: 'move', id, migrations: await appliedMigrations(source) }
      await refuseUnlessEmpty(target, job)
      const tables = await copyAll(source, target, job, progress, signal)
      // Before the target can be used, so that never both can.
      const movedAt = String(dataDir.marked('move')?.moved_at ?? clock.now().toISOString())
      dataDir.mark('move', { moved_at: movedAt, database: placeOf(url) })
      await endLoad(target)
      return { tables, movedAt }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Without user and password. */
export const placeOf = (url: string) => url.replace(/^[^:]+:\/\/([^/]*@)?/, '').replace(/\?.*$/, '')

async function copyAll(source: Db, target: Db, job: Job, progress: Move['progress'], signal: AbortSignal | undefined) {
  const stage = await beginLoad(target, job)
  const tables = await allTables(source)
  const sums = await sumsOf(source, tables)
  if (stage === 'joined') return sums
  for (const table of tables) await copyTable(source, target, table, progress, signal)
  let wrong = await differing(target, sums)
  if (wrong.length > 0) {
    // The service was used again after an interrupted move: what was copied then is no longer right.
    progress(`Copying again what changed: ${wrong.join(', ')}`)
    for (const table of tables.filter(({ name }) => wrong.includes(name))) {
      await startAgain(target, table)
      await copyTable(source, target, table, progress, signal)
    }
    wrong = await differing(target, sums)
  }
  if (wrong.length > 0) throw new ConfigError(`The rows in PostgreSQL differ from those here in: ${wrong.join(', ')}.`)
  await joinTables(target)
  return sums
}

const sumsOf = (db: Db, tables: Table[]) =>
  db.tx(async (tx) => {
    await tx.script(sameText)
    const sums: Record<string, RowSum> = {}
    for (const table of tables) sums[table.name] = await sumOf(tx, table)
    return sums
  })

const startAgain = (target: Db, { name }: Table) =>
  target.tx(async (tx) => {
    await tx.script(`truncate public.${name}`)
    await writeState(tx, progressOf(name), { place: null, done: false } satisfies Progress)
  })

async function copyTable(source: Db, target: Db, table: Table, progress: Move['progress'], signal?: AbortSignal) {
  const before = await readState<Progress>(target, progressOf(table.name))
  if (before?.done) return
  try {
    await copyRows(source, target, table, before?.place ?? null, progress, signal)
  } catch (error) {
    // A row that was copied before the interruption has lost its unique value to another since.
    if (!before?.place || sqlState(error) !== '23505') throw error
    await startAgain(target, table)
    await copyRows(source, target, table, null, progress, signal)
  }
  await target.run(new Sql(`analyze public.${table.name}`, []))
}

async function copyRows(
  source: Db,
  target: Db,
  table: Table,
  after: Place | null,
  progress: Move['progress'],
  signal: AbortSignal | undefined,
) {
  const { name, columns } = table
  let batches = 0
  await source.tx(async (from) => {
    await from.script(sameText)
    for await (const { lines, place } of inBatches(from, table, after)) {
      signal?.throwIfAborted()
      await target.tx(async (to) => {
        await to.script(sameText)
        await to.copyIn(`copy public.${name} (${columns.join(', ')}) from stdin`, once(lines))
        await writeState(to, progressOf(name), { place, done: place === null } satisfies Progress)
      })
      if (++batches % 10 === 0) progress(`${name}: ${batches} batches copied`)
    }
  })
}

async function* once(lines: Uint8Array) {
  yield lines
}
