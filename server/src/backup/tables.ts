import type { Queryable, Tx } from '../db/database.ts'
import { Sql, sql } from '../db/sql.ts'

/** A table as a backup sees it. Names are quoted for SQL where they have to be. */
export interface Table {
  name: string
  /** Without those that the database computes. */
  columns: string[]
  /** Columns of the primary key. */
  key: string[]
  isUnlogged: boolean
}

/** Rows of a table, and the sum of their hashes: equal in every database that holds the same rows, in any order. */
export interface RowSum {
  rows: number
  sum: string
}

/**
 * Not in backups: connections of listeners, which end with the process, and the record of the schedule, whose newest row
 * is the unfinished backup itself.
 */
const leftOut = new Set(['listeners', 'scheduled_backups'])

/** All tables but that of the migrations, which is written by applying them. `files` first: see `listedFiles`. */
export async function allTables(db: Queryable): Promise<Table[]> {
  return db.rows<Table>(sql`
    select quote_ident(c.relname) as name, c.relpersistence = 'u' as "isUnlogged",
      (select json_agg(quote_ident(a.attname) order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      coalesce((select json_agg(quote_ident(a.attname) order by array_position(i.indkey::int2[], a.attnum))
        from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
        where i.indrelid = c.oid and i.indisprimary), '[]'::json) as key
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations'
    order by c.relname <> 'files', c.relname collate "C"`)
}

export const keptTables = async (db: Queryable) =>
  (await allTables(db)).filter(({ name, isUnlogged }) => !isUnlogged && !leftOut.has(name))

export const appliedMigrations = async (db: Queryable) =>
  (await db.rows<{ name: string }>(sql`select name from migrations order by name collate "C"`)).map(({ name }) => name)

/** Values have the same text in every database, whatever its own settings. For one transaction. */
export const sameText = `
  set local datestyle = 'ISO, YMD'; set local timezone = 'UTC'; set local intervalstyle = 'postgres';
  set local extra_float_digits = 1; set local bytea_output = 'hex'; set local search_path = public`

/** Needs `sameText`. SHA-256, because MD5 is missing on servers that are restricted to approved algorithms. */
export async function sumOf(tx: Tx, { name }: Pick<Table, 'name'>): Promise<RowSum> {
  const hash = `('x' || encode(substr(sha256(convert_to(whole_row::text, 'UTF8')), 1, 7), 'hex'))::bit(56)::bigint`
  const found = await tx.row<RowSum>(
    new Sql(
      `select count(*)::float8 as rows, coalesce(sum(${hash}), 0)::text as sum from public.${name} whole_row`,
      [],
    ),
  )
  return found as RowSum
}

export const isSame = (a: RowSum | undefined, b: RowSum | undefined) => a?.rows === b?.rows && a?.sum === b?.sum

/** The primary key of a row, as text. */
export type Place = string[]

export interface Batch {
  lines: Uint8Array
  /** Of its last row; null: this is the last batch. */
  place: Place | null
}

const maxRows = 10_000
const aimedBytes = 4 * 1024 * 1024

/**
 * The rows after `place` in the order of the primary key, in parts that fit into memory: COPY of the embedded database
 * collects its whole output. Needs `sameText`.
 */
export async function* inBatches(tx: Tx, table: Table, place: Place | null): AsyncGenerator<Batch> {
  const { name, columns, key } = table
  const keyList = key.join(', ')
  let rows = key.length > 0 ? 500 : 0
  for (let after = place; ; ) {
    const upTo = rows > 0 ? await lastKey(tx, table, after, rows) : null
    const limits = [after && `(${keyList}) > (${literals(after)})`, upTo && `(${keyList}) <= (${literals(upTo)})`]
    const where = limits.filter(Boolean).join(' and ')
    const chunks: Uint8Array[] = []
    const selected = `select ${columns.join(', ')} from public.${name} ${where && `where ${where}`}`
    for await (const chunk of tx.copyOut(`copy (${selected} ${keyList && `order by ${keyList}`}) to stdout`))
      chunks.push(chunk)
    const lines = Buffer.concat(chunks)
    yield { lines, place: upTo }
    if (!upTo) return
    after = upTo
    rows = Math.min(maxRows, Math.max(1, Math.ceil((rows * aimedBytes) / Math.max(lines.length, aimedBytes / 10))))
  }
}

/** The key of the last of the next rows; null if there are not so many. */
async function lastKey(tx: Tx, { name, key }: Table, after: Place | null, rows: number): Promise<Place | null> {
  const where = after ? `where (${key.join(', ')}) > (${literals(after)})` : ''
  const texts = key.map((column) => `${column}::text`).join(', ')
  const found = await tx.row<{ place: Place }>(
    new Sql(
      `select array[${texts}] as place from public.${name} ${where} order by ${key.join(', ')} offset ${rows - 1} limit 1`,
      [],
    ),
  )
  return found?.place ?? null
}

const literals = (place: Place) => place.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')
