import type { Queryable } from './database.ts'
import { Sql, sql } from './sql.ts'

interface Column {
  table: string
  column: string
  /** The other columns of each unique key that contains it. */
  keys: string[][]
}

/** Columns that refer to users, from the catalogue: one that a migration adds is among them. */
export const userColumns = (db: Queryable) =>
  db.rows<Column>(sql`
    select t.relname as table, a.attname as column, coalesce((
      select jsonb_agg((
        select jsonb_agg(k.attname order by k.attnum) from pg_attribute k
        where k.attrelid = t.oid and k.attnum = any(i.indkey) and k.attnum <> a.attnum and k.attnum > 0))
      from pg_index i where i.indrelid = t.oid and i.indisunique and i.indpred is null and a.attnum = any(i.indkey)
        and array_length(i.indkey::int2[], 1) > 1), '[]') as keys
    from pg_constraint c
    join pg_class t on t.oid = c.conrelid
    join pg_attribute a on a.attrelid = t.oid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'users'::regclass and array_length(c.conkey, 1) = 1
      and t.relnamespace = 'public'::regnamespace
    order by 1, 2`)

const rowsAtOnce = 2000

/**
 * Makes every row that refers to one user refer to another. Where the other has a row with the same key, the first
 * user's row is removed. Names of tables and columns come from the catalogue, so they are safe in the text.
 */
export async function moveUserReferences(tx: Queryable, from: string, to: string): Promise<number> {
  let moved = 0
  for (const { table, column, keys } of await userColumns(tx)) {
    for (const others of keys) {
      const same = others.map((other) => `o."${other}" = t."${other}"`).join(' and ')
      await tx.run(
        new Sql(
          `delete from "${table}" t where t."${column}" = $1 and exists (
          select from "${table}" o where o."${column}" = $2 and ${same})`,
          [from, to],
        ),
      )
    }
    // In parts, so that no statement takes long.
    for (let count = rowsAtOnce; count === rowsAtOnce; moved += count) {
      count = await tx.run(
        new Sql(
          `update "${table}" set "${column}" = $2 where ctid = any(array(
          select ctid from "${table}" where "${column}" = $1 limit ${rowsAtOnce}))`,
          [from, to],
        ),
      )
    }
  }
  return moved
}
