import type { Queryable } from './database.ts'
import { Sql, sql } from './sql.ts'

/** Rows of one batch that are found with an index. */
const rowsPerBatch = 500
/** Pages of one batch where a table is read from its beginning to its end: at most about 0.5 MB. */
const pagesPerBatch = 64

export interface PurgedTable {
  name: string
  /** An index begins with `workspace_id`. */
  isIndexed: boolean
}

/**
 * All tables with rows of workspaces, each before the tables that it refers to, so that nothing is deleted by a cascade
 * whose size is unknown. Read from the catalog: a new table cannot be forgotten.
 */
export async function workspaceTables(db: Queryable): Promise<PurgedTable[]> {
  const tables = await db.rows<PurgedTable & { parents: string[] }>(sql`
    select c.relname as name,
      exists (select from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum and i.indpred is null)
        as "isIndexed",
      array(select distinct p.relname from pg_constraint k join pg_class p on p.oid = k.confrelid
        where k.contype = 'f' and k.conrelid = c.oid and k.confrelid <> c.oid) as parents
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      -- A reference that becomes null is not a row of the workspace.
      and not exists (select from pg_constraint k where k.contype = 'f' and k.conrelid = c.oid
        and k.confrelid = 'workspaces'::regclass and k.confdeltype = 'n')
    order by c.relname`)
  const ordered: PurgedTable[] = []
  while (ordered.length < tables.length) {
    const isDone = (name: string) => ordered.some((table) => table.name === name)
    const left = tables.filter(({ name }) => !isDone(name))
    const next = left.filter(({ name }) => !left.some((other) => other.name !== name && other.parents.includes(name)))
    if (next.length === 0) throw new Error(`tables refer to each other: ${left.map(({ name }) => name).join(', ')}`)
    for (const { name, isIndexed } of next) ordered.push({ name, isIndexed })
  }
  return ordered
}

const identifier = (name: string) => new Sql(`"${name.replaceAll('"', '""')}"`, [])

/** Where the next batch of a table begins; null when none is left. */
export type Position = number | null

/** Deletes a batch of the workspace's rows. `from` is 0 at first. */
export async function deleteBatch(
  tx: Queryable,
  { name, isIndexed }: PurgedTable,
  workspaceId: string,
  from: number,
): Promise<{ rows: number; next: Position }> {
  const table = identifier(name)
  if (isIndexed) {
    const rows = await tx.run(sql`
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where workspace_id = ${workspaceId} limit ${rowsPerBatch}))`)
    return { rows, next: rows === rowsPerBatch ? 0 : null }
  }
  // Without an index each batch would search the whole table for its rows.
  const until = from + pagesPerBatch
  const rows = await tx.run(sql`
    delete from ${table} where workspace_id = ${workspaceId}
      and ctid >= ${`(${from},0)`}::tid and ctid < ${`(${until},0)`}::tid`)
  const size = await tx.row<{ pages: number }>(sql`
    select (pg_relation_size(${name}::regclass) / current_setting('block_size')::int)::int as pages`)
  return { rows, next: until < (size?.pages ?? 0) ? until : null }
}

export const deleteRows = (tx: Queryable, name: string, workspaceId: string, ids: readonly string[]) =>
  tx.run(sql`delete from ${identifier(name)} where workspace_id = ${workspaceId} and id = any(${ids})`)
