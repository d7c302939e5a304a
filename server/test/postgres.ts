import { randomUUID } from 'node:crypto'
import pg from 'pg'

// Must not import a test runner, as in service-process.ts.

/** Returns the name of the copy. */
export async function copyInPostgres(url: string, template: string): Promise<string> {
  const name = `${template}_${randomUUID().replaceAll('-', '')}`
  await inServer(url, (admin) => admin.query(`create database ${name} template ${template}`))
  return name
}

export async function inServer(url: string, work: (admin: pg.Client) => Promise<unknown>) {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}

export function withDatabase(url: string, name: string) {
  const result = new URL(url)
  result.pathname = `/${name}`
  return result.href
}
