import type { Db } from './database.ts'
import { Sql, sql } from './sql.ts'

/** Pages that one statement reads: at most 8 MB, so that none takes long. */
const pagesPerBatch = 1000

export interface TextColumn {
  table: string
  column: string
  type: 'text' | 'json' | 'jsonb'
}

/** All columns with texts, from the catalogue: one that a migration adds is among them. */
export const textColumns = (db: Db) =>
  db.rows<TextColumn>(sql`
    select c.relname as table, a.attname as column, a.atttypid::regtype::text as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attgenerated = ''
      and a.atttypid in ('text'::regtype, 'json'::regtype, 'jsonb'::regtype)
    order by 1, a.attnum`)

/**
 * Rewrites the texts of these columns where they match, and returns how many rows changed. `rewritten` must leave texts
 * that do not match unchanged. Names of tables and columns come from the catalogue or from code.
 */
export async function rewriteTexts(
  db: Db,
  columns: readonly TextColumn[],
  { matches, rewritten }: { matches(text: Sql): Sql; rewritten(text: Sql): Sql },
): Promise<number> {
  let changed = 0
  for (const table of new Set(columns.map((column) => column.table))) {
    const own = columns.filter((column) => column.table === table)
    const textOf = ({ column }: TextColumn) => new Sql(`"${column}"::text`, [])
    const sets = own.map(
      (column) => sql`${new Sql(`"${column.column}"`, [])} = ${cast(rewritten(textOf(column)), column)}`,
    )
    const which = own.map((column) => matches(textOf(column)))
    const name = new Sql(`"${table}"`, [])
    const size = await db.row<{ pages: number }>(sql`
      select (pg_relation_size(${table}::regclass) / current_setting('block_size')::int)::int as pages`)
    for (let from = 0; from < (size?.pages ?? 0); from += pagesPerBatch) {
      changed += await db.run(sql`
        update ${name} set ${joined(sets, ', ')}
        where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${from + pagesPerBatch},0)`}::tid
          and (${joined(which, ' or ')})`)
    }
  }
  return changed
}

const cast = (text: Sql, { type }: TextColumn) => sql`(${text})${new Sql(`::${type}`, [])}`

const joined = (parts: readonly Sql[], between: string) =>
  parts.reduce((all, part) => sql`${all}${new Sql(between, [])}${part}`)
