import { statfsSync } from 'node:fs'
import { ConfigError } from '../config.ts'
import type { Db, Queryable, Tx } from '../db/database.ts'
import { migrate, migrationNames } from '../db/migrate.ts'
import { json, Sql, sql } from '../db/sql.ts'
import { BadBackup, type Block } from './format.ts'
import { allTables, isSame, type Place, type RowSum, sameText, sumOf } from './tables.ts'

// A load fills an empty database from a backup or from another database. It keeps its place in a table of its own
// schema, so that the same command goes on after an interruption; until it is finished, no service starts there.

export interface Job {
  what: 'restore' | 'move'
  /** Of the backup, or of the instance that moves. */
  id: string
  migrations: string[]
}

/** Nothing was changed. */
export class LoadRefused extends ConfigError {}

type Stage = 'begun' | 'prepared' | 'joined'

interface ForeignKey {
  table: string
  name: string
  definition: string
}

/** Where the load of a table is. */
export interface Progress {
  place: Place | null
  done: boolean
}

export const readState = async <T>(db: Queryable, name: string): Promise<T | undefined> =>
  (await db.row<{ value: T }>(sql`select value from baton_load.state where name = ${name}`))?.value

export const writeState = (db: Queryable, name: string, value: unknown) =>
  db.run(sql`
    insert into baton_load.state (name, value) values (${name}, ${json(value)})
    on conflict (name) do update set value = excluded.value`)

export const progressOf = (table: string) => `table ${table}`

/** Refuses the data of a newer version. */
export function refuseUnknown({ migrations }: Job): void {
  const known = migrationNames()
  const unknown = migrations.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new LoadRefused(
      `It has migrations that this version does not know (${unknown.join(', ')}): use a newer Baton.`,
    )
}

/** Refuses a database that holds anything but an unfinished load of the same source. */
export async function refuseUnlessEmpty(db: Db, job: Job): Promise<void> {
  refuseUnknown(job)
  const { loading, tables } = (await db.row<{ loading: boolean; tables: number }>(sql`
    select exists (select from pg_namespace where nspname = 'baton_load') as loading,
      (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and n.nspname <> 'information_schema'
          and n.nspname not like 'pg\\_%') as tables`)) as { loading: boolean; tables: number }
  if (loading) {
    const begun = await readState<Job>(db, 'job')
    if (begun?.what === job.what && begun.id === job.id) return
    throw new LoadRefused(`The database holds an unfinished ${begun?.what} of another source. Use an empty database.`)
  }
  if (tables > 0) throw new LoadRefused('The database is not empty. Use an empty database.')
}

/** Creates the tables, without foreign keys and triggers, so that they can be filled in any order. */
export async function beginLoad(db: Db, job: Job): Promise<Stage> {
  await refuseUnlessEmpty(db, job)
  await db.tx(async (tx) => {
    await tx.script(`create schema if not exists baton_load;
      create table if not exists baton_load.state (name text primary key, value jsonb not null)`)
    if (await readState(tx, 'job')) return
    await writeState(tx, 'job', job)
    await writeState(tx, 'stage', 'begun' satisfies Stage)
  })
  const stage = (await readState<Stage>(db, 'stage')) as Stage
  if (stage !== 'begun') return stage
  await migrate(db, () => {}, { names: job.migrations, isLoading: true })
  await db.tx(prepare)
  return 'prepared'
}

async function prepare(tx: Tx) {
  const foreignKeys = await tx.rows<ForeignKey>(sql`
    select quote_ident(t.relname) as table, quote_ident(c.conname) as name, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.contype = 'f' and c.connamespace = 'public'::regnamespace order by t.relname, c.conname`)
  await writeState(tx, 'foreign keys', foreignKeys)
  const tables = await allTables(tx)
  await tx.script(
    [
      ...foreignKeys.map(({ table, name }) => `alter table public.${table} drop constraint ${name}`),
      ...tables.map(({ name }) => `alter table public.${name} disable trigger user`),
      // Migrations write rows too, which the source also has.
      `truncate ${tables.map(({ name }) => `public.${name}`).join(', ')}`,
    ].join(';\n'),
  )
  await writeState(tx, 'stage', 'prepared' satisfies Stage)
}

/** Fills a table in one transaction, unless that was done before. */
export async function loadBlock(db: Db, { name, columns, lines }: Block, dataDir: string | null): Promise<void> {
  const known = (await allTables(db)).find((table) => table.name === name)
  if (!known || !columns.every((column) => known.columns.includes(column)))
    throw new BadBackup(`The backup is damaged: there is no table ${name} with its columns.`)
  await db.tx(async (tx) => {
    if ((await readState<Progress>(tx, progressOf(name)))?.done) return
    await tx.script(sameText)
    const safely = dataDir === null ? lines : withRoom(tx, dataDir, lines)
    await tx.copyIn(`copy public.${name} (${columns.join(', ')}) from stdin`, safely)
    await writeState(tx, progressOf(name), { place: null, done: true } satisfies Progress)
  })
}

const megabyte = 1024 ** 2
const checkpointBytes = 64 * megabyte
const keptFreeBytes = 128 * megabyte

/** The embedded database hangs on a full disk, and keeps its log until a checkpoint. */
async function* withRoom(tx: Tx, dataDir: string, lines: AsyncIterable<Uint8Array>) {
  let sinceCheckpoint = 0
  for await (const chunk of lines) {
    const { bavail, bsize } = statfsSync(dataDir)
    if (bavail * bsize < keptFreeBytes + 4 * chunk.length) {
      throw new ConfigError(
        `The disk of ${dataDir} is full: free ${keptFreeBytes / megabyte} MB and what the backup needs, then run the same command again.`,
      )
    }
    yield chunk
    sinceCheckpoint += chunk.length
    if (sinceCheckpoint < checkpointBytes) continue
    await tx.script('checkpoint')
    sinceCheckpoint = 0
  }
}

/** Tables whose rows are not the expected ones. */
export const differing = (db: Db, expected: Record<string, RowSum>): Promise<string[]> =>
  db.tx(async (tx) => {
    await tx.script(sameText)
    const names: string[] = []
    for (const [name, sum] of Object.entries(expected)) if (!isSame(await sumOf(tx, { name }), sum)) names.push(name)
    return names
  })

/** Puts foreign keys and triggers back, when all rows are there. */
export async function joinTables(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    if ((await readState<Stage>(tx, 'stage')) === 'joined') return
    const foreignKeys = (await readState<ForeignKey[]>(tx, 'foreign keys')) ?? []
    const tables = await allTables(tx)
    const identities = await tx.rows<{ name: string; column: string }>(sql`
      select quote_ident(c.relname) as name, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
      where a.attidentity <> '' and c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`)
    await tx.script(
      [
        ...foreignKeys.map(
          ({ table, name, definition }) => `alter table public.${table} add constraint ${name} ${definition}`,
        ),
        ...tables.map(({ name }) => `alter table public.${name} enable trigger user`),
        ...identities.map(
          ({ name, column }) =>
            `select setval(pg_get_serial_sequence('public.${name}', '${column}'), greatest(max(${column}), 1)) from public.${name}`,
        ),
      ].join(';\n'),
    )
    await writeState(tx, 'stage', 'joined' satisfies Stage)
  })
  await db.run(new Sql('analyze', []))
}

/** From now on a service starts there. */
export const endLoad = (db: Db) => db.tx((tx) => tx.script('drop schema baton_load cascade'))
