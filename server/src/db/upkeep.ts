import type { Result } from './database.ts'
import type { Disk } from './disk.ts'
import type { EmbeddedConnection } from './embedded-connection.ts'
import { Sql, sql } from './sql.ts'

const megabyte = 1024 * 1024
const logBytes = 64 * megabyte
const turnsBetweenLooks = 500
/** As autovacuum has it: so many rows, and so large a part of the table. */
const [leastRows, oneIn] = [50, 5]
/** Everybody waits while a table is vacuumed, ten milliseconds for a megabyte. */
const vacuumedBytes = 256 * megabyte

/** What PostgreSQL has processes of its own for, and PGlite leaves undone. */
export class Upkeep {
  readonly #connection: EmbeddedConnection
  readonly #disk: Disk | undefined
  #turns = 0
  #checkpointAt = Number.POSITIVE_INFINITY

  constructor(connection: EmbeddedConnection, disk: Disk | undefined) {
    this.#connection = connection
    this.#disk = disk
  }

  /** Without checkpoints the log would grow until the database is closed, and a start after a crash read all of it. */
  async shortenLog() {
    if (this.#turns++ % turnsBetweenLooks > 0) return
    const { rows } = await this.#connection.query(sql`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as written`)
    const { written } = rows[0] as { written: number }
    if (written > this.#checkpointAt) await this.#connection.script('checkpoint')
    else if (this.#checkpointAt !== Number.POSITIVE_INFINITY) return
    this.#checkpointAt = written + logBytes
  }

  /**
   * Otherwise the place of what was deleted or changed is never used again, and plans are made for tables that were never
   * counted. Large tables, and those whose log might fill the disk, are only counted.
   */
  async vacuum(query: (statement: Sql) => Promise<Result>) {
    await query(sql`select pg_stat_force_next_flush()`)
    const { rows } = await query(sql`
      select quote_ident(relname) as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables
      where schemaname = 'public' and greatest(n_dead_tup, n_mod_since_analyze) > ${leastRows} + n_live_tup / ${oneIn}
      order by bytes`)
    for (const { name, bytes } of rows as { name: string; bytes: number }[]) {
      const fits = bytes <= vacuumedBytes && (this.#disk?.hasRoomFor(bytes) ?? true)
      await query(new Sql(`${fits ? 'vacuum (analyze)' : 'analyze'} ${name}`, []))
      // What it wrote to the log is looked at with the next statement.
      this.#turns = 0
    }
  }
}
