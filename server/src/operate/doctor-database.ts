import { minutes, plus } from '../clock.ts'
import { sql } from '../db/sql.ts'
import { countSealed, keyIsRight } from '../key-check.ts'
import { type Check, fail, ok, warn } from './finding.ts'

const maxSkewMs = 2000
const notifyWithinMs = 1000
const newestTested = 18
const lateMs = minutes(15)

/** The database itself. */
export const checkDatabase: Record<string, Check> = {
  async database({ db }) {
    const { server, major } = (await db.row<{ server: string; major: number }>(sql`
      select current_setting('server_version') as server, current_setting('server_version_num')::int / 10000 as major`)) as {
      server: string
      major: number
    }
    if (db.kind === 'embedded') return ok(`Embedded, PostgreSQL ${server}`)
    return major > newestTested
      ? warn(`PostgreSQL ${server} is newer than ${newestTested}, the last that was tested.`)
      : ok(`PostgreSQL ${server}`)
  },

  async clock({ db, clock }) {
    const before = clock.now().getTime()
    const { at } = (await db.row<{ at: string }>(sql`select clock_timestamp() as at`)) as { at: string }
    const after = clock.now().getTime()
    const time = new Date(at).getTime()
    const skewMs = time < before ? time - before : Math.max(0, time - after)
    const text = `The database's clock differs by ${(Math.abs(skewMs) / 1000).toFixed(1)} s`
    return Math.abs(skewMs) > maxSkewMs ? fail(`${text}: synchronise the clocks of both machines with NTP.`) : ok(text)
  },

  async 'notifications and pooler'({ db }) {
    if (db.kind === 'embedded') return ok('Not needed by the embedded database')
    const channel = 'baton_doctor'
    let received = () => {}
    const arrived = new Promise<boolean>((resolve) => {
      received = () => resolve(true)
      setTimeout(() => resolve(false), notifyWithinMs + 5000).unref()
    })
    const sent = String(process.pid)
    let sentAt = 0
    let tookMs = Number.POSITIVE_INFINITY
    const listening = db.listen(channel, (message) => {
      if (message !== sent) return
      tookMs = performance.now() - sentAt
      received()
    })
    try {
      await listening.ready
      sentAt = performance.now()
      await db.notify(channel, sent)
      await arrived
      return tookMs <= notifyWithinMs
        ? ok('A NOTIFY arrives within 1 s')
        : fail('A NOTIFY does not arrive within 1 s: connect to the server itself, or to a pooler in session mode.')
    } finally {
      await listening.stop()
    }
  },

  async durability({ db }) {
    const { fsync, commit } = (await db.row<{ fsync: string; commit: string }>(sql`
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`)) as {
      fsync: string
      commit: string
    }
    if (db.kind === 'embedded') {
      // PGlite always runs with fsync off.
      return warn(
        'The embedded database does not wait for the disk: a power failure or a crash of the operating system can lose or damage it. Make backups, or use PostgreSQL.',
      )
    }
    if (fsync === 'off') return warn('fsync is off: a power loss can destroy the database. Set fsync = on.')
    return commit === 'off'
      ? warn('synchronous_commit is off: a crash can lose the last changes. Set synchronous_commit = on.')
      : ok(`fsync ${fsync}, synchronous_commit ${commit}`)
  },

  async connections({ db }) {
    if (db.kind === 'embedded') return ok('One')
    const { used, max } = (await db.row<{ used: number; max: number }>(sql`
      select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
        current_setting('max_connections')::int as max`)) as { used: number; max: number }
    const text = `${used} of ${max} are in use`
    return used > 0.8 * max ? warn(`${text}: raise max_connections; each process of Baton uses up to 22.`) : ok(text)
  },
}

/** What the tables contain. */
export const checkWork: Record<string, Check> = {
  async key({ db, keys }) {
    const remedy =
      'Set the key of this database in BATON_SECRET_KEY, or, if it was replaced, the old one in BATON_SECRET_KEY_PREVIOUS.'
    if (!(await keyIsRight(db, keys))) return fail(`It is not the key of this database. ${remedy}`)
    const counts = await countSealed(db)
    const known = keys.keyIds
    const lost = [...counts].filter(([id]) => !known.includes(id))
    if (lost.length === 0) return ok('It opens every sealed value')
    const text = lost.map(([id, count]) => `${count} values are sealed with the unknown key ${id}`).join(', ')
    return fail(`${text}. ${remedy}`)
  },

  async deliveries({ db, clock }) {
    const late = await db.row<{ count: number; oldest: string | null }>(sql`
      select count(*)::int as count, min(d.next_at) as oldest
      from endpoints e join deliveries d on d.endpoint_id = e.id
      where e.state = 'enabled' and not e.paused and e.deleted_at is null and not d.waits
        and d.status = 'pending' and d.claim_id is null and d.next_at < ${plus(clock.now(), -lateMs)}`)
    return late?.oldest
      ? warn(
          `${late.count} are late, the oldest since ${late.oldest}: see whether a process with the role worker runs.`,
        )
      : ok('None is late')
  },

  async endpoints({ db }) {
    const { failing } = (await db.row<{ failing: number }>(sql`
      select count(*)::int as failing from endpoints where state = 'failing' and deleted_at is null`)) as {
      failing: number
    }
    return failing > 0
      ? warn(`${failing} were disabled after repeated failures: their owners see why in the settings of the workspace.`)
      : ok('None is failing')
  },
}
