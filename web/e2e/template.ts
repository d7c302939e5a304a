import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyInPostgres, inServer, withDatabase } from '../../server/test/postgres.ts'
import { newDataDir, ServiceProcess } from '../../server/test/service-process.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const cache = join(root, 'node_modules', '.cache')
const prefix = 'e2e-database-'

/** `npm test` starts it if it finds PostgreSQL, because a service works twice as fast there. Demos need the embedded one. */
const postgres = process.env.BATON_TEST_POSTGRES
const postgresTemplate = 'baton_e2e'
/** A database is bound to the key of its first start. */
const key = Buffer.alloc(32, 7).toString('base64')

/** Creates empty, migrated databases once, because creating one is the slowest part of a run. */
export default () => Promise.all([makeEmbedded(), ...(postgres ? [makeInPostgres(postgres)] : [])])

async function makeInPostgres(url: string) {
  await inServer(url, (admin) => admin.query(`create database ${postgresTemplate}`))
  await startOnce({ DATABASE_URL: withDatabase(url, postgresTemplate), BATON_SECRET_KEY: key })
}

/** Kept for later runs with the same migrations. */
async function makeEmbedded() {
  if (existsSync(embeddedTemplate())) return
  mkdirSync(cache, { recursive: true })
  for (const old of readdirSync(cache)) {
    if (old.startsWith(prefix)) rmSync(join(cache, old), { recursive: true, force: true })
  }
  const unfinished = mkdtempSync(join(cache, `${prefix}unfinished-`))
  await startOnce({ BATON_DATA_DIR: unfinished })
  renameSync(unfinished, embeddedTemplate())
}

async function startOnce(env: Record<string, string>) {
  const service = await ServiceProcess.start(env)
  await service.kill('SIGTERM')
}

export interface OwnDatabase {
  /** Settings of a service that uses it. */
  env: Record<string, string>
  secretKey: Buffer
  remove: () => Promise<void>
}

/** A copy of a template. */
export async function ownDatabase({ embedded = false } = {}): Promise<OwnDatabase> {
  const dir = newDataDir()
  const removeDir = () => rmSync(dir, { recursive: true, force: true })
  if (!postgres || embedded) {
    cpSync(embeddedTemplate(), dir, { recursive: true })
    const secretKey = Buffer.from(readFileSync(join(dir, 'secret.key'), 'utf8'), 'base64')
    return { env: { BATON_DATA_DIR: dir }, secretKey, remove: async () => removeDir() }
  }
  const name = await copyInPostgres(postgres, postgresTemplate)
  return {
    env: { DATABASE_URL: withDatabase(postgres, name), BATON_SECRET_KEY: key, BATON_FILES_DIR: join(dir, 'files') },
    secretKey: Buffer.from(key, 'base64'),
    async remove() {
      await inServer(postgres, (admin) => admin.query(`drop database ${name} with (force)`))
      removeDir()
    },
  }
}

function embeddedTemplate() {
  const migrations = join(root, 'server', 'migrations')
  const hash = createHash('sha256')
  for (const file of readdirSync(migrations).sort()) hash.update(file).update(readFileSync(join(migrations, file)))
  // Another version of the embedded database may use another file format.
  hash.update(readFileSync(join(root, 'node_modules', '@electric-sql', 'pglite', 'package.json')))
  return join(cache, `${prefix}${hash.digest('hex').slice(0, 16)}`)
}
