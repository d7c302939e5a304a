import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, vi } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { listen } from '../../test/loopback-server.ts'
import { freePort } from '../../test/service-process.ts'
import { plus, systemClock } from '../clock.ts'
import type { Context } from '../context.ts'
import { Keyring } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { checkSecretKey } from '../key-check.ts'
import { examine } from './doctor.ts'

// The settings are checked as the environment has them, and DATABASE_URL needs a key.
beforeEach(() => {
  if (process.env.DATABASE_URL) vi.stubEnv('BATON_SECRET_KEY', randomBytes(32).toString('base64'))
  return () => void vi.unstubAllEnvs()
})

/** The service of a test as an operator finds it: with the time of the machine, and at the address that it has. */
async function installation(app: TestApp, change: Partial<Context['config']> = {}): Promise<Context> {
  const { ctx, rootUrl } = app
  await checkSecretKey(ctx.db, ctx.keys)
  const dir = backupDir([new Date(Date.now() - 3_600_000)])
  const config = { ...ctx.config, rootUrl, baseUrl: `${rootUrl}/api/v1`, backup: { dir, at: '0 3 * * *', keep: 14 } }
  return { ...ctx, clock: systemClock, config: { ...config, ...change } }
}

function backupDir(times: Date[]) {
  const dir = mkdtempSync(join(tmpdir(), 'baton-doctor-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  for (const time of times) {
    writeFileSync(join(dir, `baton-${time.toISOString().replaceAll(/[-:]/g, '')}.backup`), '')
  }
  return dir
}

const failed = async (ctx: Context) => (await examine(ctx)).filter(({ state }) => state === 'fail')
const fails = (check: string, message: RegExp) => [{ check, state: 'fail', message: expect.stringMatching(message) }]

test('finds nothing wrong in a healthy installation', verifies('admin.doctor-healthy'), async ({ app }) => {
  await app.workspace()
  const ctx = await installation(app)
  const findings = await app.unchanged(() => examine(ctx))
  expect(findings.filter(({ state }) => state === 'fail')).toEqual([])
  expect(findings.map(({ check }) => check)).toEqual([
    'node',
    'settings',
    'file rights',
    'disk',
    'newest backup',
    'database',
    'clock',
    'notifications and pooler',
    'durability',
    'connections',
    'migrations',
    'key',
    'deliveries',
    'endpoints',
    'root URL',
    'event stream',
  ])
  expect(findings.find(({ check }) => check === 'event stream')?.state).toBe('ok')
  const durability = findings.find(({ check }) => check === 'durability')
  if (ctx.db.kind === 'embedded') {
    expect(durability).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/does not wait for the disk.*power/),
    })
    expect(await ctx.db.row(sql`select current_setting('fsync') as fsync`)).toEqual({ fsync: 'off' })
  }
})

test('finds a wrong key', verifies('admin.doctor-finds'), async ({ startApp }) => {
  const app = await startApp()
  const { owner } = await app.workspace()
  const ctx = await installation(app)
  const other = new Keyring(randomBytes(32))
  expect(await failed({ ...ctx, keys: other })).toEqual(fails('key', /not the key.*BATON_SECRET_KEY_PREVIOUS/))
  await owner.post('/webhooks', { label: 'A', url: 'http://localhost:9', all_teams: true, resource_types: ['Issue'] })
  // The proof is sealed with this key, and a secret with another.
  await app.ctx.db.run(sql`update endpoints set secret = ${other.seal('x', 'y')}`)
  expect(await failed(ctx)).toEqual(fails('key', /1 values are sealed with the unknown key [0-9a-f]{8}\./))
})

test('finds a missing and an unknown migration', verifies('admin.doctor-finds'), async ({ startApp }) => {
  const app = await startApp()
  const ctx = await installation(app)
  await app.ctx.db.run(sql`delete from migrations where name = '0038_operators.sql'`)
  expect(await failed(ctx)).toEqual(fails('migrations', /0038_operators\.sql.*Start this version once/))
  await app.ctx.db.run(sql`insert into migrations (name) values ('0038_operators.sql'), ('9999_later.sql')`)
  expect(await failed(ctx)).toEqual(fails('migrations', /9999_later\.sql/))
  // Other tests use the database again.
  await app.ctx.db.run(sql`delete from migrations where name = '9999_later.sql'`)
})

test('finds a clock that differs by more than 2 seconds', verifies('admin.doctor-finds'), async ({ app }) => {
  const ctx = await installation(app)
  const off = (ms: number) => failed({ ...ctx, clock: { ...systemClock, now: () => plus(new Date(), ms) } })
  for (const ms of [5000, -5000]) expect(await off(ms)).toEqual(fails('clock', /differs by [45]\.\d s.*NTP/))
  for (const ms of [1000, -1000]) expect(await off(ms)).toEqual([])
})

test('finds a root URL that does not answer', verifies('admin.doctor-finds'), async ({ app }) => {
  const rootUrl = `http://127.0.0.1:${await freePort()}`
  const ctx = await installation(app, { rootUrl, baseUrl: `${rootUrl}/api/v1` })
  await app.workspace()
  const found = await examine(ctx)
  expect(found.filter(({ state }) => state === 'fail')).toEqual(
    fails('root URL', /does not answer \(.*ECONNREFUSED.*BATON_ROOT_URL/),
  )
  expect(found.at(-1)).toEqual({ check: 'event stream', state: 'warn', message: 'Not checked: see root URL.' })
})

test('finds a proxy that buffers', verifies('admin.doctor-finds'), async ({ app }) => {
  await app.workspace()
  const proxy = (buffers: boolean) =>
    listen(
      createServer((incoming, outgoing) => {
        const sent = request(`${app.rootUrl}${incoming.url}`, { headers: incoming.headers }, (response) => {
          const chunks: Buffer[] = []
          outgoing.writeHead(response.statusCode ?? 502, response.headers)
          outgoing.flushHeaders()
          if (!buffers) return void response.pipe(outgoing)
          response.on('data', (chunk) => chunks.push(chunk)).on('end', () => outgoing.end(Buffer.concat(chunks)))
        })
        outgoing.on('close', () => sent.destroy())
        sent.on('error', () => outgoing.destroy()).end()
      }),
    )
  const at = async (port: number) => {
    const rootUrl = `http://127.0.0.1:${port}`
    return failed(await installation(app, { rootUrl, baseUrl: `${rootUrl}/api/v1` }))
  }
  expect(await at(await proxy(false))).toEqual([])
  expect(await at(await proxy(true))).toEqual(fails('event stream', /buffering in the proxy/))
})

test('finds a newest backup that is older than two periods', verifies('admin.doctor-finds'), async ({ startApp }) => {
  const app = await startApp()
  await app.ctx.db.run(sql`update migrations set applied_at = '2026-01-01'`)
  const ctx = await installation(app)
  // It is due at every third hour; the last two times are 9:00 and 6:00.
  const clock = { ...systemClock, now: () => new Date('2026-03-01T10:00:00Z') }
  const at = (...times: string[]) => inDirectory(backupDir(times.map((time) => new Date(time))))
  const inDirectory = async (dir: string) => {
    const backup = { dir, at: '0 */3 * * *', keep: 14 }
    const found = await examine({ ...ctx, clock, config: { ...ctx.config, backup } })
    return found.find(({ check }) => check === 'newest backup')
  }
  expect(await at('2026-03-01T06:00:00Z', '2026-02-01T06:00:00Z')).toMatchObject({ state: 'ok' })
  expect(await at('2026-03-01T05:59:59.999Z', '2026-02-01T06:00:00Z')).toMatchObject({
    state: 'fail',
    message: expect.stringMatching(/2026-03-01T05:59:59.999Z.*operate backup/),
  })
  const missing = join(backupDir([]), 'missing')
  const none = {
    state: 'fail',
    message: expect.stringMatching(/none in .* yet.*2026-03-01T12:00:00.000Z.*operate backup/),
  }
  expect([await at(), await inDirectory(missing)]).toMatchObject([none, none])
  await app.ctx.db.run(sql`update migrations set applied_at = '2026-03-01T07:00:00Z'`)
  const notDue = { state: 'ok', message: 'There is none yet. The next is due at 2026-03-01T12:00:00.000Z' }
  expect([await at(), await inDirectory(missing)]).toMatchObject([notDue, notDue])
})

test('warns of late deliveries and failing endpoints', async ({ startApp }) => {
  const app = await startApp()
  const { owner } = await app.workspace()
  const ctx = await installation(app)
  const { body } = await owner.post('/webhooks', {
    label: 'A',
    url: 'http://localhost:9',
    all_teams: true,
    resource_types: ['Issue'],
  })
  await owner.post('/issues', { title: 'A bug' })
  const stateOf = async (name: string) => (await examine(ctx)).find(({ check }) => check === name)?.state
  expect(await stateOf('deliveries')).toBe('warn')
  await app.ctx.db.run(sql`update endpoints set state = 'failing' where id = ${body.id}`)
  expect([await stateOf('deliveries'), await stateOf('endpoints')]).toEqual(['ok', 'warn'])
})
