import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { newDataDir } from './service-process.ts'
import { dataOf, withDatabase } from './template.ts'

/** A data directory with an empty, migrated database, which opens faster than a new one is created. */
export async function filledDataDir() {
  const dir = newDataDir()
  if (!process.env.DATABASE_URL) cpSync(dataOf(inject('template')), join(dir, 'db'), { recursive: true })
  return dir
}

/** On the server of DATABASE_URL. */
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
