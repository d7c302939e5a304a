import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newDataDir, ServiceProcess } from '../../server/test/service-process.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const cache = join(root, 'node_modules', '.cache')
const prefix = 'e2e-database-'

/** Creates an empty, migrated database once per set of migrations, because creating one is the slowest part of a run. */
export default async function makeTemplate() {
  if (existsSync(template())) return
  mkdirSync(cache, { recursive: true })
  for (const old of readdirSync(cache)) {
    if (old.startsWith(prefix)) rmSync(join(cache, old), { recursive: true, force: true })
  }
  const unfinished = mkdtempSync(join(cache, `${prefix}unfinished-`))
  const service = await ServiceProcess.start({ BATON_DATA_DIR: unfinished })
  await service.kill('SIGTERM')
  renameSync(unfinished, template())
}

/** A data directory with a copy of it. */
export function copyOfTemplate(): string {
  const dir = newDataDir()
  cpSync(template(), dir, { recursive: true })
  return dir
}

function template() {
  const migrations = join(root, 'server', 'migrations')
  const hash = createHash('sha256')
  for (const file of readdirSync(migrations).sort()) hash.update(file).update(readFileSync(join(migrations, file)))
  // Another version of the embedded database may use another file format.
  hash.update(readFileSync(join(root, 'node_modules', '@electric-sql', 'pglite', 'package.json')))
  return join(cache, `${prefix}${hash.digest('hex').slice(0, 16)}`)
}
