import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { Db } from '../src/db/database.ts'
import { openEmbedded } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { connectPostgres } from '../src/db/postgres.ts'
import { withDatabase } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** An empty, migrated database to copy: a file of PGlite, or the name of a PostgreSQL database. */
    template: string
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Creates the template once per run; every test file copies it, which takes half a second instead of five. */
export default async function setup(project: TestProject) {
  const url = project.config.env?.DATABASE_URL ?? process.env.DATABASE_URL
  return url ? postgresTemplate(project, url) : embeddedTemplate(project)
}

async function embeddedTemplate(project: TestProject) {
  // The thread of the embedded database runs the build.
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-b', 'server'], { cwd: root, stdio: 'inherit' })
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-'))
  const file = join(dir, 'template.tar')
  const data = dataOf(file)
  const db = new Db(await openEmbedded({ dataDir: data }))
  await migrate(db)
  await db.close()
  const pglite = await PGlite.create({ dataDir: data })
  writeFileSync(file, Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer()))
  await pglite.close()
  project.provide('template', file)
  return () => rmSync(dir, { recursive: true, force: true })
}

/** The directory that a PGlite template was created from. */
export const dataOf = (template: string) => join(dirname(template), 'data')

async function postgresTemplate(project: TestProject, url: string) {
  const name = `baton_test_${project.name}_${process.pid}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${name}`)
  const db = new Db(connectPostgres(withDatabase(url, name), () => {}))
  await migrate(db)
  await db.close()
  project.provide('template', name)
  return async () => {
    const { rows } = await admin.query('select datname from pg_database where datname like $1', [`${name}%`])
    for (const { datname } of rows) await admin.query(`drop database "${datname}" with (force)`)
    await admin.end()
  }
}
