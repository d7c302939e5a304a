import type { Result } from './database.ts'
import type { Disk } from './disk.ts'
import type { EmbeddedConnection } from './embedded-connection.ts'
import { Sql, sql } from './sql.ts'

// Maintenance that PostgreSQL does in background processes and PGlite does not do at all.

const megabyte = 1024 * 1024
const logBytes = 64 * megabyte
const statementsBetweenChecks = 500
/** As in autovacuum: more than 50 rows plus a fifth of the table changed. */
const [minRows, fraction] = [50, 5]
/** All statements wait while a table is vacuumed, about 10 ms per megabyte. */
const maxVacuumedBytes = 256 * megabyte

/** Without checkpoints the WAL grows until the database is closed, and a start after a crash replays all of it. */
export class Checkpoints {
  readonly #connection: EmbeddedConnection
  #statements = 0
  #dueAt = Number.POSITIVE_INFINITY

  constructor(connection: EmbeddedConnection) {
    this.#connection = connection
  }

  /** Call it before each statement `text`. */
  makeIfDue(text: string) {
    // A vacuum can write as much WAL as the table has bytes.
    if (this.#statements++ % statementsBetweenChecks > 0 && !text.startsWith('vacuum')) return
    const { rows } = this.#connection.query(sql`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as written`)
    const { written } = rows[0] as { written: number }
    if (written > this.#dueAt) this.#connection.script('checkpoint')
    else if (this.#dueAt !== Number.POSITIVE_INFINITY) return
    this.#dueAt = written + logBytes
  }
}

/**
 * Without it the space of deleted rows is never reused, and statements are planned without statistics. Large tables,
 * and those whose WAL might fill the disk, are only analyzed.
 */
export async function vacuum(query: (statement: Sql) => Promise<Result>, disk: Disk | undefined) {
  await query(sql`select pg_stat_force_next_flush()`)
  const { rows } = await query(sql`
    select quote_ident(relname) as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables
    where schemaname = 'public' and greatest(n_dead_tup, n_mod_since_analyze) > ${minRows} + n_live_tup / ${fraction}
    order by bytes`)
  for (const { name, bytes } of rows as { name: string; bytes: number }[]) {
    const fits = bytes <= maxVacuumedBytes && (disk?.hasRoomFor(bytes) ?? true)
    await query(new Sql(`${fits ? 'vacuum (analyze)' : 'analyze'} ${name}`, []))
  }
}
