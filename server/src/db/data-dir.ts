import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../config.ts'
import { Db } from './database.ts'
import { Disk } from './disk.ts'
import { openEmbedded } from './embedded.ts'
import { keyFileIn, readKeyFile } from './key-file.ts'
import { LockedError, takeLock } from './lock.ts'

/** Not Node's `recursive`: it never returns on file systems without mkdir, such as /proc. */
function makeDir(dir: string) {
  if (existsSync(dir)) return
  makeDir(dirname(dir))
  mkdirSync(dir, { mode: 0o700 })
}

/** PostgreSQL writes the first file when it begins to create a database, and the second when it can be opened. */
const isComplete = (place: string) => ['PG_VERSION', 'global/pg_control'].every((file) => existsSync(join(place, file)))

/** The data directory of an embedded service: database, generated key, and lock of the process that uses it. */
export class DataDir {
  readonly #dir: string
  readonly #unlock: () => void

  private constructor(dir: string, unlock: () => void) {
    this.#dir = dir
    this.#unlock = unlock
  }

  static async open(path: string): Promise<DataDir> {
    const dir = resolve(path)
    try {
      makeDir(dir)
      return new DataDir(dir, await takeLock(join(dir, 'lock')))
    } catch (error) {
      if (error instanceof LockedError) {
        throw new ConfigError(
          `BATON_DATA_DIR ${dir} is in use by process ${error.pid}; stop that one or choose another directory`,
        )
      }
      throw new ConfigError(`BATON_DATA_DIR ${dir} cannot be used: ${(error as Error).message}`)
    }
  }

  /** The key file, generated at the first start. */
  secretKey(): Buffer {
    const file = keyFileIn(this.#dir)
    if (!existsSync(file)) {
      const draft = `${file}.${process.pid}`
      writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true })
      renameSync(draft, file)
    }
    return readKeyFile(file)
  }

  /**
   * Opens the database. A new one is created in another directory and renamed when it is complete, so that a process
   * killed midway leaves nothing that looks like a database.
   */
  async openDatabase(print: (line: string) => void, onLost: (error: Error) => void): Promise<Db> {
    const disk = new Disk(this.#dir)
    if (disk.problem) throw new ConfigError(`BATON_DATA_DIR: ${disk.problem}`)
    const place = join(this.#dir, 'db')
    if (!isComplete(place)) {
      this.#moveAside(place, print)
      print(`Creating the database in ${place} …`)
      const unfinished = join(this.#dir, 'db.unfinished')
      rmSync(unfinished, { recursive: true, force: true })
      await (await openEmbedded({ dataDir: unfinished })).close()
      renameSync(unfinished, place)
    }
    try {
      return new Db(await openEmbedded({ dataDir: place }, { disk, print, onLost }))
    } catch (error) {
      throw new ConfigError(`BATON_DATA_DIR: the database in ${place} cannot be opened: ${(error as Error).message}`)
    }
  }

  /** Other files in place of the database may matter to the operator, so they are moved, not deleted. */
  #moveAside(place: string, print: (line: string) => void) {
    if (!existsSync(place)) return
    if (readdirSync(place).length === 0) return rmSync(place, { recursive: true })
    const aside = `${place}.${Date.now()}`
    print(`${place} is not a complete database; it was moved to ${aside}`)
    renameSync(place, aside)
  }

  close() {
    this.#unlock()
  }
}
