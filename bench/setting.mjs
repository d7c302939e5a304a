// Opens the parts of the service that the rows measure, on a database made for the bench.
import { execFileSync, fork, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { withPostgres } from '../scripts/postgres.mjs'
import { freePort } from '../scripts/setup.mjs'

export const dist = (path) => import(new URL(`../server/dist/${path}`, import.meta.url))

/** Runs `work` with the URL of a PostgreSQL server with fsync on, or with a directory for the embedded database. */
export async function withStorage(kind, work) {
  if (kind === 'postgres') return withPostgres(work, { fsync: true })
  const dir = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  try {
    return await work(join(dir, 'db'))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Runs `work` on a database of either kind, in this process. */
export const withDatabase = (kind, work) =>
  withStorage(kind, async (where) => {
    const setting = await openSetting(where)
    try {
      return await work(setting)
    } finally {
      await setting.db.close()
    }
  })

/** The parts of a service on this database, which is migrated first. */
export async function openSetting(where, env = {}) {
  const { Db } = await dist('db/database.js')
  const { migrate } = await dist('db/migrate.js')
  const { connectPostgres } = await dist('db/postgres.js')
  const { openEmbedded } = await dist('db/embedded.js')
  const isPostgres = where.startsWith('postgres')
  const driver = isPostgres ? connectPostgres(where, () => {}) : await openEmbedded({ dataDir: where })
  const db = new Db(driver, { guarded: !isPostgres })
  await migrate(db)
  return { where, ...(await settingOf(db, env)) }
}

async function settingOf(db, env) {
  const [
    { sql },
    { Keyring },
    { systemClock },
    { createLog },
    { readConfig },
    outbound,
    relays,
    wakers,
    workers,
    events,
  ] = await Promise.all(
    [
      'db/sql.js',
      'crypto.js',
      'clock.js',
      'log.js',
      'config.js',
      'outbound/client.js',
      'relay/relay.js',
      'delivery/endpoint-waker.js',
      'delivery/worker.js',
      'events/record.js',
    ].map(dist),
  )
  const config = readConfig({ BATON_WEBHOOK_ALLOW: '127.0.0.1', ...env })
  const keys = new Keyring(randomBytes(32))
  const log = createLog('warn')
  const clock = systemClock
  const client = new outbound.GuardedClient({ allow: config.webhookAllow, clock })
  const ctx = { config, clock, keys, log, db, outbound: client, relay: new relays.Relay(db, clock, log) }
  const waker = new wakers.EndpointWaker(db, clock, log)
  return {
    ctx,
    db,
    sql,
    record: events.record,
    startWorker() {
      const worker = new workers.DeliveryWorker(ctx, waker)
      worker.start()
      return worker
    },
  }
}

let lastId = 0

/** Adds a workspace with endpoints at these URLs. Returns the ids. */
export async function addEndpoints({ db, sql, ctx }, urls) {
  const workspaceId = `wsp_bench${++lastId}`
  const now = ctx.clock.now()
  await db.run(sql`
    insert into workspaces (id, name, guidance, created_at, updated_at) values (${workspaceId}, 'Bench', '', ${now}, ${now})`)
  const endpointIds = []
  for (const url of urls) {
    const id = `whk_bench${++lastId}`
    await db.run(sql`
      insert into endpoints (id, workspace_id, label, url, secret, state, state_since, all_teams, team_ids,
        resource_types, created_at, updated_at)
      values (${id}, ${workspaceId}, 'Bench', ${url}, ${ctx.keys.seal('pwhsec_bench', id)}, 'enabled', ${now}, true,
        '{}', '{Issue}', ${now}, ${now})`)
    endpointIds.push(id)
  }
  return { workspaceId, endpointIds }
}

/** Adds a workspace of signed-in members. The first is its owner. Returns its id and the members' tokens. */
export async function seedPeople({ db, sql, ctx }, people) {
  const now = ctx.clock.now()
  const workspaceId = `wsp_${randomBytes(13).toString('hex')}`
  const tokens = Array.from({ length: people }, () => `psn_${randomBytes(32).toString('base64url')}`)
  await db.run(sql`
    insert into workspaces (id, name, guidance, created_at, updated_at) values (${workspaceId}, 'Bench', '', ${now}, ${now})`)
  for (const [index, token] of tokens.entries()) {
    const id = `usr_${randomBytes(13).toString('hex')}`
    await db.run(sql`
      insert into users (id, user_kind, display_name, email, password_hash, created_at)
      values (${id}, 'human', 'Ann', ${`${id}@example.com`}, '', ${now})`)
    await db.run(sql`
      insert into memberships (workspace_id, user_id, role, joined_at)
      values (${workspaceId}, ${id}, ${index === 0 ? 'owner' : 'member'}, ${now})`)
    await db.run(sql`
      insert into logins (token_hash, user_id, created_at, last_used_at)
      values (${createHash('sha256').update(token).digest()}, ${id}, ${now}, ${now})`)
  }
  return { workspaceId, tokens }
}

/** About the size of a real event. */
export const sampleEvent = (title = 'An issue') => ({
  type: 'Issue',
  action: 'create',
  actor: { id: 'usr_bench', type: 'user', name: 'Ann' },
  data: { id: 'iss_bench', title, description: 'x'.repeat(600), updated_at: '2026-01-01T00:00:00.000Z' },
  url: 'http://localhost:3000/issue/ENG-1',
  teamIds: [],
})

/** A receiver in a separate process, as in production. */
export async function startReceiver(...args) {
  const child = fork(fileURLToPath(new URL('receiver.mjs', import.meta.url)), args)
  const [{ port }] = await once(child, 'message')
  const ask = async (what) => {
    child.send(what)
    return (await once(child, 'message'))[0]
  }
  return { url: `http://127.0.0.1:${port}`, ask, stop: () => child.kill() }
}

/** The service, or the floor, in a separate process, with agents that have sessions. */
export async function startAgentService(kind, where) {
  const child = fork(fileURLToPath(new URL('agent-service.mjs', import.meta.url)), [kind, where])
  const [{ port, ...seeded }] = await once(child, 'message')
  return {
    url: `http://127.0.0.1:${port}`,
    ...seeded,
    memory: () => memoryOf(child),
    async ask(what, detail) {
      child.send({ what, detail })
      const died = once(child, 'exit').then(([code]) => {
        throw new Error(`the benchmarked service exited with ${code}`)
      })
      return (await Promise.race([once(child, 'message'), died]))[0]
    },
    stop: () => end(child),
  }
}

/** Starts a program that listens on PORT, and waits until it is ready. */
export async function startProgram(file, env) {
  const port = await freePort()
  const { DATABASE_URL: _, ...inherited } = process.env
  const started = performance.now()
  const child = spawn(process.execPath, [fileURLToPath(file)], {
    env: { ...inherited, PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  // If the bench is killed, it cannot stop the program in the normal way.
  const abandon = () => child.kill('SIGKILL')
  process.once('exit', abandon)
  child.once('exit', () => process.off('exit', abandon))
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`${file} exited with ${child.exitCode}`)
    await sleep(5)
  }
  return { url, readyMs: performance.now() - started, memory: () => memoryOf(child), stop: () => end(child) }
}

export const serviceProgram = new URL('../server/bundle/main.js', import.meta.url)

/** Environment of the service and the bare programs for this database. */
export const environmentOf = (where) => ({
  ...(where.startsWith('postgres')
    ? { DATABASE_URL: where, BATON_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
    : { BATON_DATA_DIR: dirname(where) }),
  BATON_DEMO: '0',
  BATON_API_RATE: '1000000',
})

/** Resident memory in MB. */
const memoryOf = ({ pid }) => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1024

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill()
  await exited
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
