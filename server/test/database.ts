import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { inject } from 'vitest'
import { Db } from '../src/db/database.ts'
import { openEmbedded } from '../src/db/embedded.ts'
import { connectPostgres } from '../src/db/postgres.ts'
import { sql } from '../src/db/sql.ts'
import { withDatabase } from './template.ts'

let dump: Blob | undefined

/** An empty, migrated database of one's own. */
export async function openTestDatabase(): Promise<Db> {
  const template = inject('template')
  const url = process.env.DATABASE_URL
  if (!url) {
    dump ??= new Blob([readFileSync(template)])
    return new Db(await openEmbedded({ loadDataDir: dump }))
  }
  const name = `${template}_${randomUUID().replaceAll('-', '')}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${name} template ${template}`)
  await admin.end()
  return new Db(connectPostgres(withDatabase(url, name), () => {}))
}

/** More connections to a database that somebody else uses, as a second process has. The embedded one has only its own. */
export async function openSameDatabase(db: Db): Promise<Db> {
  const url = process.env.DATABASE_URL
  if (!url) throw new Error('only PostgreSQL serves several processes')
  const used = await db.row<{ name: string }>(sql`select current_database() as name`)
  return new Db(connectPostgres(withDatabase(url, used?.name ?? ''), () => {}))
}
