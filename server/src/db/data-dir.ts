import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../config.ts'
import { Db } from './database.ts'
import { Disk } from './disk.ts'
import { openEmbedded } from './embedded.ts'
import { keyFileIn, readKeyFiles, removePreviousKeyFile, writeKeyFile } from './key-file.ts'
import { LockedError, takeLock } from './lock.ts'
import { unfinishedMessage } from './unfinished.ts'

/** Not Node's `recursive`: it never returns on file systems without mkdir, such as /proc. */
function makeDir(dir: string) {
  if (existsSync(dir)) return
  makeDir(dirname(dir))
  mkdirSync(dir, { mode: 0o700 })
}

/** PostgreSQL writes the first file when it begins to create a database, and the second when it can be opened. */
const isComplete = (place: string) => ['PG_VERSION', 'global/pg_control'].every((file) => existsSync(join(place, file)))

/** Files that say why a service must not start here: its data is incomplete, or has moved to PostgreSQL. */
const markers = { restore: 'restoring.json', move: 'moved.json' } as const
type Marked = keyof typeof markers

/** Another process uses the data directory. */
export class DataDirInUse extends ConfigError {}

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
        throw new DataDirInUse(
          `BATON_DATA_DIR ${dir} is in use by process ${error.pid}; stop that one or choose another directory`,
        )
      }
      const { code, message } = error as NodeJS.ErrnoException
      throw new ConfigError(
        code === 'EACCES'
          ? `BATON_DATA_DIR ${dir} cannot be used by this user (${message}): run this as the user who owns it`
          : `BATON_DATA_DIR ${dir} cannot be used: ${message}`,
      )
    }
  }

  get path(): string {
    return this.#dir
  }

  /** Besides what this process made. */
  get isEmpty(): boolean {
    return readdirSync(this.#dir).every((name) => name === 'lock')
  }

  /** What the marker says; undefined without one. */
  marked(kind: Marked): Record<string, unknown> | undefined {
    const file = join(this.#dir, markers[kind])
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  }

  mark(kind: Marked, content: object) {
    const file = join(this.#dir, markers[kind])
    writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(content)}\n`, { mode: 0o600, flush: true })
    renameSync(`${file}.${process.pid}`, file)
  }

  unmark(kind: Marked) {
    rmSync(join(this.#dir, markers[kind]), { force: true })
  }

  get hasDatabase(): boolean {
    return isComplete(join(this.#dir, 'db'))
  }

  /** The current key, generated at the first start, and the one before a rotation that no start has followed yet. */
  secretKeys(): [Buffer, ...Buffer[]] {
    const file = keyFileIn(this.#dir)
    if (!existsSync(file)) writeKeyFile(file, randomBytes(32))
    return readKeyFiles(this.#dir)
  }

  /** Call when everything is sealed with the current key. */
  forgetPreviousKey() {
    removePreviousKeyFile(this.#dir)
  }

  /**
   * Opens the database. A new one is created in another directory and renamed when it is complete, so that a process
   * killed midway leaves nothing that looks like a database. A marked directory is opened only for what marked it.
   */
  async openDatabase(
    print: (line: string) => void,
    onLost: (error: Error) => void,
    { purpose }: { purpose?: Marked } = {},
  ): Promise<Db> {
    this.#refuseMarked(purpose)
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

  #refuseMarked(purpose: Marked | undefined) {
    if (purpose !== 'restore' && this.marked('restore'))
      throw new ConfigError(unfinishedMessage(`BATON_DATA_DIR ${this.#dir}`))
    const moved = this.marked('move')
    if (purpose !== 'move' && moved) {
      throw new ConfigError(
        `BATON_DATA_DIR ${this.#dir} was moved to PostgreSQL (${moved.database}) at ${moved.moved_at}: set DATABASE_URL as the move printed it`,
      )
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
