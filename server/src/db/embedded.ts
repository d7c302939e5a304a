import { Mutex, PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { type Driver, mustCommit } from './database.ts'
import type { Disk } from './disk.ts'
import { EmbeddedConnection } from './embedded-connection.ts'
import { isoTimestamp, type Sql } from './sql.ts'
import { Upkeep } from './upkeep.ts'

const options: PGliteOptions = { parsers: { 20: Number, 1184: isoTimestamp }, extensions: { pg_trgm } }

/** PGlite: PostgreSQL inside this process, one connection, one process per directory. */
export async function openEmbedded(where: PGliteOptions, disk?: Disk): Promise<Driver> {
  const pglite = await PGlite.create({ ...options, ...where })
  const connection = new EmbeddedConnection(pglite)
  const upkeep = new Upkeep(connection, disk)
  const mutex = new Mutex()
  const exclusively = <T>(work: () => Promise<T>) =>
    mutex.runExclusive(async () => {
      if (disk?.hasChanged())
        await connection.script(`set default_transaction_read_only = ${disk.isFull ? 'on' : 'off'}`)
      await upkeep.checkpointIfDue()
      return work()
    })
  const query = (statement: Sql) => exclusively(() => connection.query(statement))
  return {
    kind: 'embedded',
    query,
    tidy: () => upkeep.vacuum(query),
    transaction: (work) =>
      exclusively(async () => {
        await connection.script('begin')
        try {
          const result = await work(
            (statement) => connection.query(statement),
            async (text) => void (await connection.script(text)),
          )
          mustCommit(await connection.script('commit'))
          return result
        } catch (error) {
          await connection.script('rollback')
          throw error
        }
      }),
    listen: () => ({ ready: Promise.resolve(), stop: async () => {} }),
    close: () => mutex.runExclusive(() => pglite.close()),
  }
}
