import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import type { Driver, Result } from './database.ts'
import type { Disk } from './disk.ts'
import { isoTimestamp, type Sql } from './sql.ts'

const options: PGliteOptions = { parsers: { 20: Number, 1184: isoTimestamp }, extensions: { pg_trgm } }

/** PGlite: PostgreSQL inside this process, one connection, one process per directory. */
export async function openEmbedded(where: PGliteOptions, disk?: Disk): Promise<Driver> {
  const pglite = await PGlite.create({ ...options, ...where })
  const guard = async () => {
    if (disk?.hasChanged()) await pglite.exec(`set default_transaction_read_only = ${disk.isFull ? 'on' : 'off'}`)
  }
  return {
    kind: 'embedded',
    async query(statement) {
      await guard()
      return send(pglite, statement)
    },
    async transaction(work) {
      await guard()
      return pglite.transaction((tx) =>
        work(
          (statement) => send(tx, statement),
          async (text) => void (await tx.exec(text)),
        ),
      )
    },
    listen: () => ({ ready: Promise.resolve(), stop: async () => {} }),
    close: () => pglite.close(),
  }
}

async function send(client: Pick<PGlite, 'query'>, { text, values }: Sql): Promise<Result> {
  const { rows, affectedRows } = await client.query(text, [...values])
  return { rows, count: affectedRows || rows.length }
}
