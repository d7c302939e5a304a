import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Cron } from 'croner'
import { ignoredVariables, isLoopback } from '../config.ts'
import type { Context } from '../context.ts'
import { keyFileIn } from '../db/key-file.ts'
import { sql } from '../db/sql.ts'
import { type Check, fail, ok, warn } from './finding.ts'

/** The machine and the settings. */
export const checkMachine: Record<string, Check> = {
  async node() {
    const { node } = process.versions
    const [major = 0, minor = 0] = node.split('.').map(Number)
    if (major < 20 || (major === 20 && minor < 19)) return fail(`${node} is too old: install Node 24.`)
    if (major === 20) return warn(`${node}: its line ended in April 2026. Install Node 24.`)
    return major % 2 === 0 && major <= 26 ? ok(node) : warn(`${node} is not tested: install Node 22, 24 or 26.`)
  },

  async settings({ config }) {
    const ignored = ignoredVariables()
    if (ignored.length > 0) return warn(`Ignored: ${ignored.join(', ')}. Correct or remove them.`)
    if (!isLoopback(config.host.toLowerCase()) && isLoopback(new URL(config.rootUrl).hostname)) {
      return warn(
        `HOST is ${config.host}, but BATON_ROOT_URL is ${config.rootUrl}: set the https address of the proxy.`,
      )
    }
    if (!config.local && config.signup === 'open') {
      return warn('BATON_SIGNUP=open lets anyone who reaches this instance create an account: set invite.')
    }
    return ok('All are known')
  },

  async 'file rights'({ config, storage }) {
    const wide = privatePaths(config).filter((path) => existsSync(path) && statSync(path).mode & 0o077)
    if (wide.length > 0) return warn(`Other users can access ${wide.join(', ')}: remove their rights with chmod go=.`)
    return ok(config.files || storage ? 'Only this user has access' : 'No files are stored')
  },

  async disk({ config }) {
    const low = directories(config).flatMap((path) => {
      const { bavail, bsize } = statfsSync(path)
      const megabytes = Math.floor((bavail * bsize) / 1024 ** 2)
      return megabytes < leastFree.warn ? [{ path, megabytes }] : []
    })
    if (low.length === 0) return ok(`At least ${leastFree.warn} MB are free`)
    const text = low.map(({ path, megabytes }) => `${megabytes} MB are free at ${path}`).join(', ')
    return low.some(({ megabytes }) => megabytes < leastFree.fail)
      ? fail(`${text}: free space now; nothing is written on a full disk.`)
      : warn(`${text}: free space.`)
  },

  'newest backup': checkNewestBackup,
}

const leastFree = { warn: 1024, fail: 128 }

const dataDirOf = ({ database }: Context['config']) => (database.kind === 'embedded' ? [resolve(database.dataDir)] : [])
const filesDirOf = ({ files }: Context['config']) => (files?.kind === 'directory' ? [resolve(files.path)] : [])
const backupDirOf = ({ backup }: Context['config']) => (backup.dir ? [resolve(backup.dir)] : [])

const directories = (config: Context['config']) =>
  [...dataDirOf(config), ...filesDirOf(config), ...backupDirOf(config)].filter((path) => existsSync(path))

const privatePaths = (config: Context['config']) => {
  const dataDir = dataDirOf(config)
  return [...dataDir, ...dataDir.map(keyFileIn), ...filesDirOf(config), ...backupDirOf(config)]
}

/** `baton-20261117T030000.000Z.backup` */
const backupName = /^baton-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z\.backup$/

async function checkNewestBackup({ config: { backup }, db, clock }: Context) {
  if (!backup.dir) return warn('None is scheduled: set BATON_BACKUP_DIR, or make backups in another way.')
  const dir = resolve(backup.dir)
  const now = clock.now()
  const schedule = new Cron(backup.at, { timezone: 'UTC', paused: true })
  const due = schedule.previousRuns(2, now)[1]
  if (!due) return warn(`BATON_BACKUP_AT "${backup.at}" was never due.`)
  // The first backup makes the directory.
  const times = (existsSync(dir) ? readdirSync(dir) : []).flatMap((name) => {
    const [, year, month, day, hour, minute, second] = backupName.exec(name) ?? []
    return year ? [new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)] : []
  })
  const newest = times.sort((a, b) => b.getTime() - a.getTime())[0]
  if (newest && newest >= due) return ok(`Made at ${newest.toISOString()}`)
  const remedy = `See why in the log of the workers, and make one: operate backup.`
  if (newest) return fail(`Made at ${newest.toISOString()}, longer than two periods ago. ${remedy}`)
  const first = await db.row<{ at: string }>(sql`select min(applied_at) as at from migrations`)
  const next = `The next is due at ${schedule.nextRun(now)?.toISOString() ?? 'no time'}`
  return first && new Date(first.at) > due
    ? ok(`There is none yet. ${next}`)
    : fail(
        `There is none in ${dir} yet. ${next}; to have one now: operate backup. If one was due since BATON_BACKUP_DIR was set, see why in the log of the workers.`,
      )
}
