import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ConfigError } from '../config.ts'

/** The directory of an embedded service: the database, the generated key, and the lock of the process that uses it. */
export interface DataDir {
  database: string
  /** A database that is being made: renamed to `database` once it is whole, so what is half made is never opened. */
  unfinished: string
  secretKey(): Buffer
  unlock(): void
}

export function openDataDir(path: string): DataDir {
  const dir = resolve(path)
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new ConfigError(`BATON_DATA_DIR ${dir} cannot be used: ${(error as Error).message}`)
  }
  const unlock = lock(join(dir, 'lock'), dir)
  return {
    database: join(dir, 'db'),
    unfinished: join(dir, 'db.unfinished'),
    secretKey: () => secretKey(join(dir, 'secret.key')),
    unlock,
  }
}

function secretKey(file: string): Buffer {
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true })
    renameSync(draft, file)
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
  if (key.length !== 32) throw new ConfigError(`BATON_SECRET_KEY: ${file} does not hold 32 bytes in base64`)
  return key
}

/**
 * Takes the lock file, which names its holder. A holder that is gone (kill -9, power loss) holds nothing. The
 * holder's start time tells it from another process that got the same pid, as happens in containers.
 */
function lock(file: string, dir: string): () => void {
  const mine = `${process.pid} ${startTime(process.pid)}\n`
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, mine)
  try {
    while (!linked(draft, file)) {
      const found = readIfThere(file)
      if (found === undefined) continue
      const [pid, started] = found.trim().split(' ')
      if (isRunning(Number(pid), started)) {
        throw new ConfigError(
          `BATON_DATA_DIR ${dir} is in use by process ${pid}; stop that one or choose another directory`,
        )
      }
      takeAway(file, found)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  return () => {
    if (readIfThere(file) === mine) rmSync(file, { force: true })
  }
}

/** A hard link appears whole or not at all, with its content in it. */
function linked(draft: string, file: string) {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a holder that is gone, unless somebody else has just replaced it: then theirs is put back. */
function takeAway(file: string, stale: string) {
  const aside = `${file}.stale.${process.pid}`
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  if (readIfThere(aside) !== stale) linked(aside, file)
  rmSync(aside, { force: true })
}

function readIfThere(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function isRunning(pid: number, started: string | undefined) {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return startTime(pid) === started
}

/** Where the system tells (Linux): clock ticks between boot and the start of the process. */
function startTime(pid: number) {
  const stat = readIfThere(`/proc/${pid}/stat`)
  return stat ? (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-') : '-'
}
