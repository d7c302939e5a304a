import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { openEmbedded } from '../src/db/embedded.ts'
import { newDataDir } from './service-process.ts'
import { withDatabase } from './template.ts'

export { freePort, newDataDir, ServiceProcess } from './service-process.ts'

/** With an empty, migrated database in it, which a process opens sooner than it makes one. */
export async function filledDataDir() {
  const dir = newDataDir()
  if (process.env.DATABASE_URL) return dir
  const template = new Blob([readFileSync(inject('template'))])
  await (await openEmbedded({ dataDir: join(dir, 'db'), loadDataDir: template })).close()
  return dir
}

/** On the server that DATABASE_URL leads to. */
export async function withEmptyDatabase(work: (url: string) => Promise<void>) {
  const url = process.env.DATABASE_URL as string
  const name = `baton_process_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${name}`)
  try {
    await work(withDatabase(url, name))
  } finally {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
}
