import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifies, verifiesOnPostgres } from '../../../conformance/requirements.ts'
import { addWorkspaces, newService } from '../../test/backup-service.ts'
import { ConfigError, readConfig } from '../config.ts'
import { backupMetrics } from '../counters.ts'
import { Db } from '../db/database.ts'
import { connectPostgres } from '../db/postgres.ts'
import { sql } from '../db/sql.ts'
import { Metrics } from '../http/metrics.ts'
import { nameOf } from './backup-dir.ts'
import { BackupSchedule, startBackups } from './schedule.ts'

type Service = Awaited<ReturnType<typeof newService>>

/** The clock begins at 9:00; a backup is due at each full hour. */
const hourly = { BATON_BACKUP_AT: '0 * * * *' }
const never = new AbortController().signal

const backups = ({ backupDir }: Service) =>
  readdirSync(backupDir)
    .filter((name) => name.endsWith('.backup'))
    .sort()
const scheduleOf = (service: Service) => new BackupSchedule(service, service.backupDir, backupMetrics)
const rowsOf = ({ db }: Service) =>
  db.rows<{ file: string | null; problem: string | null; finished: boolean }>(sql`
    select file, problem, finished_at is not null as finished from scheduled_backups order by due_at`)

test('the settings are checked, on both sides of each limit', () => {
  expect(readConfig({}).backup).toEqual({ dir: null, at: '0 3 * * *', keep: 14 })
  for (const keep of ['1', '365']) expect(readConfig({ BATON_BACKUP_KEEP: keep }).backup.keep).toBe(Number(keep))
  for (const keep of ['0', '366', 'x']) {
    expect(() => readConfig({ BATON_BACKUP_KEEP: keep })).toThrow(
      'BATON_BACKUP_KEEP must be a whole number from 1 to 365',
    )
  }
  expect(readConfig({ BATON_BACKUP_AT: '*/5 * * * 1-5' }).backup.at).toBe('*/5 * * * 1-5')
  for (const at of ['soon', '0 3 30 2 *', '61 * * * *'])
    expect(() => readConfig({ BATON_BACKUP_AT: at })).toThrow(ConfigError)
})

test('a process makes one backup at each instant', verifies('backup.scheduled-once'), async () => {
  const service = await newService({ BATON_BACKUP_AT: '30 * * * *' })
  const metrics = new Metrics()
  const schedule = scheduleOf(service)
  service.clock.advance({ minutes: 29, seconds: 59 })
  await service.db.run(sql`insert into scheduled_backups (due_at, claimed_by, claimed_until, finished_at, bytes)
    values ('2026-03-02T08:30:00Z', 'earlier', now(), '2026-03-02T08:31:00Z', 1)`)
  await schedule.run(never)
  expect(() => backups(service)).toThrow('ENOENT')
  service.clock.advance({ seconds: 1 })
  await schedule.run(never)
  await schedule.run(never)
  expect(backups(service)).toEqual(['baton-20260302T093000.000Z.backup'])
  service.clock.advance({ hours: 1, seconds: 10 })
  await schedule.run(never)
  expect(backups(service)).toEqual(['baton-20260302T093000.000Z.backup', 'baton-20260302T103000.000Z.backup'])
  expect(await metrics.text()).toContain(
    `baton_backup_last_success_timestamp_seconds ${service.clock.now().getTime() / 1000}`,
  )
  expect(await metrics.text()).toMatch(/baton_backup_last_size_bytes [1-9]\d{3,}/)
})

test('an instant that passed long before the start is left out, a recent one is not', {
  ...verifies('backup.scheduled-once'),
}, async () => {
  const service = await newService({ BATON_BACKUP_AT: '59 7 * * *' })
  await scheduleOf(service).run(never)
  expect(await rowsOf(service)).toEqual([])
  service.config.backup.at = '1 8 * * *'
  await scheduleOf(service).run(never)
  expect(backups(service)).toEqual(['baton-20260302T080100.000Z.backup'])
})

test('the schedule runs in a service and stops with it', async () => {
  const service = await newService(hourly)
  const stop = startBackups(service, backupMetrics)
  service.clock.advance({ seconds: 15 })
  await stop()
  // Stopped while it was made: the claim is free for another process.
  const found = await rowsOf(service)
  expect(found.every(({ problem }) => problem === null)).toBe(true)
})

test('two processes make one backup between them', verifiesOnPostgres('backup.scheduled-once'), async () => {
  const service = await newService(hourly)
  const url = service.config.database.kind === 'postgres' ? service.config.database.url : ''
  const other = new Db(connectPostgres(url, () => {}))
  onTestFinished(() => other.close())
  const schedules = [scheduleOf(service), scheduleOf({ ...service, db: other }), scheduleOf({ ...service, db: other })]
  for (const hour of [1, 2, 3]) {
    await Promise.all(schedules.map((schedule) => schedule.run(never)))
    expect(await rowsOf(service)).toHaveLength(hour)
    expect(backups(service)).toHaveLength(hour)
    service.clock.advance({ hours: 1 })
  }
})

describe('after a process was killed during a backup', { timeout: 180_000 }, () => {
  /** What it leaves: its claim, its lock, and a part of the file. */
  async function killedDuring(service: Service) {
    const due = service.clock.now()
    await service.db.run(sql`
      insert into scheduled_backups (due_at, claimed_by, claimed_until)
      values (${due}, 'wrk_dead', ${new Date(due.getTime() + 60_000)})`)
    mkdirSync(service.backupDir)
    writeFileSync(join(service.backupDir, `${nameOf(due)}.wrk_dead.part`), 'half')
    writeFileSync(join(service.backupDir, '.lock'), '999999999 1 -\n')
    return due
  }

  test('another makes it when the claim has expired', verifies('backup.scheduled-once'), async () => {
    const service = await newService(hourly)
    const due = await killedDuring(service)
    const schedule = scheduleOf(service)
    service.clock.advance({ seconds: 59 })
    await schedule.run(never)
    expect(backups(service)).toEqual([])
    service.clock.advance({ seconds: 1 })
    await schedule.run(never)
    await schedule.run(never)
    expect(backups(service)).toEqual([nameOf(due)])
    expect(readdirSync(service.backupDir).filter((name) => name.endsWith('.part'))).toEqual([])
    expect(await rowsOf(service)).toEqual([{ file: nameOf(due), problem: null, finished: true }])
  })

  test('a file that was complete is used', verifies('backup.scheduled-once'), async () => {
    const service = await newService(hourly)
    const schedule = scheduleOf(service)
    await schedule.run(never)
    const [name] = backups(service)
    await service.db.run(sql`update scheduled_backups set finished_at = null, file = null`)
    service.clock.advance({ minutes: 3 })
    await addWorkspaces(service.db, 10)
    await schedule.run(never)
    expect(backups(service)).toEqual([name])
    expect(await rowsOf(service)).toEqual([{ file: name, problem: null, finished: true }])
  })
})

test('the newest backups remain, and other files are left alone', {
  ...verifies('backup.retention'),
  // A backup of an embedded database starts another process.
  timeout: 180_000,
}, async () => {
  const service = await newService({ ...hourly, BATON_BACKUP_KEEP: '2' })
  const schedule = scheduleOf(service)
  const others = ['notes.txt', 'baton-old.backup', 'baton-20200101T000000.000Z.backup.gpg']
  for (let hour = 0; hour < 3; hour++) {
    await schedule.run(never)
    if (hour === 0) for (const name of others) writeFileSync(join(service.backupDir, name), 'mine')
    service.clock.advance({ hours: 1 })
  }
  const kept = ['baton-20260302T100000.000Z.backup', 'baton-20260302T110000.000Z.backup']
  expect(readdirSync(service.backupDir).sort()).toEqual([...kept, ...others].sort())
})

test('the last verified backup remains, whatever later names there are', verifies('backup.retention'), async () => {
  const service = await newService({ ...hourly, BATON_BACKUP_KEEP: '1' })
  mkdirSync(service.backupDir)
  writeFileSync(join(service.backupDir, 'baton-20990101T000000.000Z.backup'), 'no backup')
  await scheduleOf(service).run(never)
  expect(backups(service)).toEqual(['baton-20260302T090000.000Z.backup', 'baton-20990101T000000.000Z.backup'])
})

test('a backup that fails is logged and counted, keeps the older ones, and is tried at the next instant', {
  ...verifies('backup.failure-visible', 'backup.retention'),
  timeout: 180_000,
}, async () => {
  const logged: { level: number; msg: string; message: string }[] = []
  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const service = await newService({ ...hourly, BATON_BACKUP_KEEP: '1' }, log)
  const metrics = new Metrics()
  const failures = async () => Number(/^baton_backup_failures_total (\d+)$/m.exec(await metrics.text())?.[1])
  const before = await failures()
  const schedule = scheduleOf(service)
  await schedule.run(never)
  const [first] = backups(service)
  // A folder in place of the file that it writes.
  service.clock.advance({ hours: 1 })
  const blocked = join(service.backupDir, nameOf(service.clock.now()))
  mkdirSync(blocked)
  await schedule.run(never)
  await schedule.run(never)
  expect(logged.filter(({ level }) => level === 50)).toMatchObject([{ msg: 'scheduled backup failed' }])
  expect(await failures()).toBe(before + 1)
  expect(backups(service)).toContain(first)
  expect((await rowsOf(service)).at(-1)).toMatchObject({ file: null, finished: true })
  rmSync(blocked, { recursive: true })
  service.clock.advance({ hours: 1 })
  await schedule.run(never)
  expect(backups(service)).toEqual(['baton-20260302T110000.000Z.backup'])
  expect(await failures()).toBe(before + 1)
})
