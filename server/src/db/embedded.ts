import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import type { Driver, Result } from './database.ts'
import { isoTimestamp, type Sql } from './sql.ts'

const options: PGliteOptions = { parsers: { 20: Number, 1184: isoTimestamp }, extensions: { pg_trgm } }

/** PGlite: PostgreSQL inside this process, one connection, one process per directory. */
export async function openEmbedded(where: PGliteOptions): Promise<Driver> {
  const pglite = await PGlite.create({ ...options, ...where })
  return {
    kind: 'embedded',
    query: (statement) => send(pglite, statement),
    transaction: (work) =>
      pglite.transaction((tx) =>
        work(
          (statement) => send(tx, statement),
          async (text) => void (await tx.exec(text)),
        ),
      ),
    listen: () => ({ ready: Promise.resolve(), stop: async () => {} }),
    close: () => pglite.close(),
  }
}

async function send(client: Pick<PGlite, 'query'>, { text, values }: Sql): Promise<Result> {
  const { rows, affectedRows } = await client.query(text, [...values])
  return { rows, count: affectedRows || rows.length }
}
