import type { Queryable } from '../src/db/database.ts'
import { Sql, sql } from '../src/db/sql.ts'

/** Every stored row with the workspace's id in `workspace_id`, by table; tables without one are left out. */
export async function rowsOfWorkspace(db: Queryable, workspaceId: string): Promise<Record<string, string[]>> {
  const tables = await db.rows<{ name: string }>(sql`
    select c.table_name as name from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = 'public' and c.column_name = 'workspace_id' and t.table_type = 'BASE TABLE' order by 1`)
  const rows: Record<string, string[]> = {}
  for (const { name } of tables) {
    // The name comes from the catalogue, so it is safe in the text.
    const found = await db.rows<{ row: string }>(
      sql`select to_jsonb(t)::text as row from ${new Sql(name, [])} t where workspace_id = ${workspaceId} order by 1`,
    )
    if (found.length > 0) rows[name] = found.map(({ row }) => row)
  }
  return rows
}
