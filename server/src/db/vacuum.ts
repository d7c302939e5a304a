import type { Db } from './database.ts'
import { Sql, sql } from './sql.ts'

/** As autovacuum has it: so many rows, and so large a part of the table. */
const [leastRows, oneIn] = [50, 5]

/**
 * The embedded database has no autovacuum. Without it the place of what was deleted or changed is never used again, and
 * plans are made for tables that were never counted. Nothing else runs meanwhile, so tables take turns with requests.
 */
export async function vacuumEmbedded(db: Db): Promise<void> {
  if (db.kind !== 'embedded') return
  await db.run(sql`select pg_stat_force_next_flush()`)
  const due = await db.rows<{ statement: string }>(sql`
    select format('vacuum (analyze) %I', relname) as statement from pg_stat_user_tables
    where greatest(n_dead_tup, n_mod_since_analyze) > ${leastRows} + n_live_tup / ${oneIn}`)
  for (const { statement } of due) await db.run(new Sql(statement, []))
}
