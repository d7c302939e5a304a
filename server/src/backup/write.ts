import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Db, Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { serverDir } from '../paths.ts'
import { type Block, compressed, type Header, textOf } from './format.ts'
import { appliedMigrations, inBatches, keptTables, type RowSum, sameText, sumOf, type Table } from './tables.ts'

export interface Description {
  madeAt: Date
  /** Null: the backup does not contain it. */
  key: Buffer | null
  files: Header['files']
}

async function headerOf(db: Queryable, kind: Db['kind'], { madeAt, key, files }: Description): Promise<Header> {
  const server = await db.row<{ version: string }>(sql`select current_setting('server_version') as version`)
  const { version } = JSON.parse(readFileSync(new URL('package.json', serverDir), 'utf8')) as { version: string }
  return {
    format: 1,
    id: randomUUID(),
    made_at: madeAt.toISOString(),
    version,
    source: { database: kind, version: server?.version ?? '' },
    migrations: await appliedMigrations(db),
    files,
    ...(key ? { key: key.toString('base64') } : {}),
  }
}

/**
 * Passes a backup of the database to `use`, compressed. It is one snapshot: on PostgreSQL a transaction that sees no
 * later commit, in the embedded database one during which no other statement runs.
 */
export const withBackup = <T>(db: Db, description: Description, use: (backup: Readable) => Promise<T>): Promise<T> =>
  db.tx(async (tx) => {
    if (db.kind === 'postgres') await tx.script('set transaction isolation level repeatable read read only')
    await tx.script(sameText)
    const header = await headerOf(tx, db.kind, description)
    const backup = compressed(textOf(header, blocksOf(tx, db.kind)))
    // A use that gave it up no longer hears why it fails afterwards.
    backup.on('error', () => {})
    try {
      return await use(backup)
    } finally {
      backup.destroy()
    }
  })

async function* blocksOf(tx: Tx, kind: Db['kind']): AsyncGenerator<Block & { sum: RowSum }> {
  for (const table of await keptTables(tx)) {
    const sum = await sumOf(tx, table)
    yield { name: table.name, columns: table.columns, lines: linesOf(tx, kind, table), sum }
  }
}

async function* linesOf(tx: Tx, kind: Db['kind'], table: Table): AsyncGenerator<Uint8Array> {
  if (kind === 'postgres') yield* tx.copyOut(`copy public.${table.name} (${table.columns.join(', ')}) to stdout`)
  else for await (const { lines } of inBatches(tx, table, null)) yield lines
}
