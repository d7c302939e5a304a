import { randomBytes } from 'node:crypto'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { copyInPostgres, inServer, withDatabase } from './postgres.ts'
import { newDataDir } from './service-process.ts'
import { dataOf } from './template.ts'

/** A data directory with an empty, migrated database, which opens faster than a new one is created. */
export async function filledDataDir() {
  const dir = newDataDir()
  if (!process.env.DATABASE_URL) cpSync(dataOf(inject('template')), join(dir, 'db'), { recursive: true })
  return dir
}

/**
 * Settings of a service with an empty, migrated database: on the PostgreSQL server of the tests if they have one, because
 * a service starts twice as fast there, otherwise in a data directory.
 */
export async function ownDatabase(): Promise<{ env: Record<string, string>; remove: () => Promise<void> }> {
  const dir = await filledDataDir()
  const removeDir = () => rmSync(dir, { recursive: true, force: true })
  const url = process.env.DATABASE_URL
  if (!url) return { env: { BATON_DATA_DIR: dir }, remove: async () => removeDir() }
  const name = await copyInPostgres(url, inject('template'))
  return {
    env: {
      DATABASE_URL: withDatabase(url, name),
      BATON_FILES_DIR: join(dir, 'files'),
      BATON_SECRET_KEY: newSecretKey(),
    },
    async remove() {
      await inServer(url, (admin) => admin.query(`drop database ${name} with (force)`))
      removeDir()
    },
  }
}

const newSecretKey = () => randomBytes(32).toString('base64')

/** On the server of DATABASE_URL, without tables. */
export async function withEmptyDatabase(work: (url: string) => Promise<void>) {
  const url = process.env.DATABASE_URL as string
  const name = `baton_process_${randomBytes(6).toString('hex')}`
  await inServer(url, (admin) => admin.query(`create database ${name}`))
  try {
    await work(withDatabase(url, name))
  } finally {
    await inServer(url, (admin) => admin.query(`drop database ${name} with (force)`))
  }
}
