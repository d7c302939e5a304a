import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { Cron } from 'croner'
import { days, hours, minutes, plus, repeat } from '../clock.ts'
import type { Config } from '../config.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import { nameOf, removeOld, whileLocked } from './backup-dir.ts'
import { type Service, writeBackupFile } from './make.ts'
import { verifyBackup } from './verify.ts'

const everyMs = 15_000
const leaseMs = minutes(2)
/** An instant is not missed because processes were being replaced. One that passed longer ago is. */
const graceMs = hours(1)
const keptRowsMs = days(366)

export interface Scheduled extends Service {
  config: Service['config'] & Pick<Config, 'backup'>
  log: Logger
}

export interface Observer {
  lastBackup(finishedAt: Date, bytes: number): void
  backupFailed(): void
}

/** Makes the backup of each instant of BATON_BACKUP_AT. Returns a function that stops it. */
export function startBackups(service: Scheduled, observer: Observer): () => Promise<void> {
  const { dir } = service.config.backup
  if (dir === null) return async () => {}
  const stopping = new AbortController()
  const schedule = new BackupSchedule(service, resolve(dir), observer)
  const stop = repeat(
    service.clock,
    everyMs,
    () => schedule.run(stopping.signal),
    ({ message }) => service.log.warn({ message }, 'the schedule of backups could not be read'),
  )
  return async () => {
    stopping.abort()
    await stop()
  }
}

/**
 * backup.scheduled-once: the row of an instant is its lock. A process that dies leaves a lease, and another one that
 * finds it expired takes over. The name of the file follows from the instant, so the instant never has two.
 */
export class BackupSchedule {
  readonly #service: Scheduled
  readonly #dir: string
  readonly #observer: Observer
  readonly #cron: Cron
  readonly #startedAt: Date
  /** Of this process, as the holder of a claim. */
  readonly #name = newId('wrk')

  constructor(service: Scheduled, dir: string, observer: Observer) {
    this.#service = service
    this.#dir = dir
    this.#observer = observer
    this.#cron = new Cron(service.config.backup.at, { paused: true, timezone: 'UTC' })
    this.#startedAt = service.clock.now()
  }

  /** Makes the backup that is due, unless another process does. */
  async run(signal: AbortSignal): Promise<void> {
    const due = this.#lastInstant()
    if (due && (await this.#claim(due))) await this.#make(due, signal)
    await this.#report()
  }

  #lastInstant(): Date | undefined {
    // The instant that is exactly now counts.
    return this.#cron.previousRuns(1, plus(this.#service.clock.now(), 1000))[0]
  }

  async #claim(due: Date): Promise<boolean> {
    const { db, clock } = this.#service
    const now = clock.now()
    if (due > now) return false
    const until = plus(now, leaseMs)
    if (due > plus(this.#startedAt, -graceMs)) {
      const inserted = await db.run(sql`
        insert into scheduled_backups (due_at, claimed_by, claimed_until) values (${due}, ${this.#name}, ${until})
        on conflict do nothing`)
      if (inserted > 0) return true
    }
    const taken = await db.run(sql`
      update scheduled_backups set claimed_by = ${this.#name}, claimed_until = ${until}
      where due_at = ${due} and finished_at is null and claimed_until <= ${now}`)
    return taken > 0
  }

  /** False if another process has taken over. */
  async #renew(due: Date, until = plus(this.#service.clock.now(), leaseMs)): Promise<boolean> {
    const renewed = await this.#service.db.run(sql`
      update scheduled_backups set claimed_until = ${until}
      where due_at = ${due} and claimed_by = ${this.#name} and finished_at is null`)
    return renewed > 0
  }

  async #make(due: Date, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#service
    const stopRenewing = repeat(
      clock,
      leaseMs / 4,
      () => this.#renew(due),
      ({ message }) => log.warn({ message }, 'a backup could not renew its claim'),
    )
    try {
      const { file, bytes } = await this.#write(due, signal)
      await this.#finish(due, { file, bytes, problem: null })
      const removed = await this.#removeOld(file)
      log.info({ file, bytes, removed }, 'scheduled backup made')
    } catch (error) {
      if (signal.aborted) {
        // Another process may begin at once.
        await this.#renew(due, clock.now())
        return
      }
      const problem = (error as Error).message
      log.error({ due, message: problem }, 'scheduled backup failed')
      this.#observer.backupFailed()
      await this.#finish(due, { file: null, bytes: null, problem })
    } finally {
      await stopRenewing()
    }
  }

  async #write(due: Date, signal: AbortSignal): Promise<{ file: string; bytes: number }> {
    const { log } = this.#service
    const path = join(this.#dir, nameOf(due))
    if (existsSync(path)) {
      // Of a process that died right after it was written.
      await verifyBackup(path)
      return { file: basename(path), bytes: (await stat(path)).size }
    }
    const isStillWanted = () => this.#renew(due)
    const made = await writeBackupFile(this.#service, path, { signal, writer: this.#name, isStillWanted })
    if (made.files && made.files.missing.length > 0) {
      const { missing } = made.files
      log.error({ count: missing.length, first: missing[0] }, 'uploaded files are missing: run operate files-check')
    }
    return { file: basename(path), bytes: made.bytes }
  }

  async #removeOld(verified: string): Promise<string[]> {
    const { config, db, clock } = this.#service
    await db.run(sql`delete from scheduled_backups where due_at < ${plus(clock.now(), -keptRowsMs)}`)
    return whileLocked(this.#dir, undefined, () => removeOld(this.#dir, config.backup.keep, verified))
  }

  async #finish(
    due: Date,
    { file, bytes, problem }: { file: string | null; bytes: number | null; problem: string | null },
  ) {
    await this.#service.db.run(sql`
      update scheduled_backups
      set finished_at = ${this.#service.clock.now()}, file = ${file}, bytes = ${bytes}, problem = ${problem}
      where due_at = ${due} and claimed_by = ${this.#name} and finished_at is null`)
  }

  /** Also of backups that other processes made. */
  async #report() {
    const last = await this.#service.db.row<{ finished_at: string; bytes: number }>(sql`
      select finished_at, bytes from scheduled_backups where finished_at is not null and problem is null
      order by due_at desc limit 1`)
    if (last) this.#observer.lastBackup(new Date(last.finished_at), last.bytes)
  }
}
