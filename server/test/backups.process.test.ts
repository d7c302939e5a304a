import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, truncateSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { verifies, verifiesOnPostgres } from '../../conformance/requirements.ts'
import { emptyPlace, kind, newFolder, newPostgres } from './backup-service.ts'
import { type Env, fill, settings, trial } from './backup-trial.ts'
import { filledDataDir } from './empty-databases.ts'
import { operate, startOperate } from './operate.ts'
import { callerAt, newcomer, type Outsider } from './outside.ts'
import { Receiver } from './receiver.ts'
import { freePort, ServiceProcess } from './service-process.ts'

const timeout = 240_000

const started = async (env: Env) => {
  const service = await ServiceProcess.start({ ...settings, ...env })
  onTestFinished(async () => void (await service.kill('SIGKILL')))
  return service
}

/** Settings of a service that can be started. */
async function place(): Promise<Env> {
  if (kind === 'postgres') return emptyPlace('postgres')
  const dir = await filledDataDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return { BATON_DATA_DIR: dir }
}

async function done(args: string[], env: Env, stdin?: string) {
  const { code, stdout, stderr } = await operate([...args, '--json'], env, stdin)
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${stdout}${stderr}`)
  return JSON.parse(stdout)
}

const keyOf = (env: Env): Env => (env.BATON_SECRET_KEY ? { BATON_SECRET_KEY: env.BATON_SECRET_KEY } : {})
const emptyLike = async (env: Env) => ({ ...(await emptyPlace(kind)), ...keyOf(env) })

test('a service that is backed up while it runs and restored answers as before and goes on', {
  ...verifies('backup.restore-equal'),
  timeout,
}, async () => {
  const receiver = await Receiver.start()
  onTestFinished(() => receiver.stop())
  const original = await place()
  await trial(
    original,
    async () => {
      const { file } = await done(['backup', '--output', newFolder()], original)
      const restored = await emptyLike(original)
      await done(['restore', file], restored)
      return restored
    },
    receiver,
  )
})

test('a restore with held deliveries sends nothing until an endpoint is enabled', {
  ...verifiesOnPostgres('backup.restore-hold-deliveries'),
  timeout,
}, async () => {
  const receiver = await Receiver.start()
  onTestFinished(() => receiver.stop())
  const original = await place()
  const before = await started({ ...original, BATON_ROLE: 'api' })
  const { headers, pending } = await fill(before.url, receiver)
  const says = 'It does not contain the secret key'
  const backup = await piped(startOperate(['backup', '--output', '-'], original), { says })
  await before.kill('SIGKILL')
  const restored = await emptyLike(original)
  await piped(startOperate(['restore', '-', '--hold-deliveries', '--without-files'], restored), { input: backup })
  const after = await started(restored)
  await sendsWhenEnabled(callerAt(after.url, headers), receiver, pending)
})

/** No delivery is sent before the endpoint is enabled, and then the pending one. */
async function sendsWhenEnabled(person: Outsider, receiver: Receiver, pending: string) {
  const { data } = (await person('GET', '/webhooks')).body
  expect(data.map(({ state }: { state: string }) => state)).toEqual(['disabled'])
  expect(receiver.received).toEqual([])
  expect((await person('POST', `/webhooks/${data[0].id}/enable`)).status).toBe(200)
  const sent = () => receiver.received.map(({ headers }) => headers['svc-delivery'])
  await expect.poll(sent, { timeout: 60_000 }).toContain(pending)
}

/** What the command writes. */
async function piped(
  { child, ended }: ReturnType<typeof startOperate>,
  { input = Buffer.alloc(0), says = '' }: { input?: Buffer; says?: string } = {},
): Promise<Buffer> {
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stdin.end(input)
  const { code, stderr } = await ended
  expect([code, stderr]).toEqual([0, expect.stringContaining(says)])
  return Buffer.concat(chunks)
}

test('an embedded backup without room is refused; under constant writes it has every change acknowledged before', {
  ...verifies('backup.online-embedded', 'backup.needs-room', 'backup.restore-hold-deliveries'),
  skip: kind === 'postgres',
  timeout,
}, async () => {
  const receiver = await Receiver.start()
  onTestFinished(() => receiver.stop())
  const dir = await filledDataDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const env = { BATON_DATA_DIR: dir }
  // Without a worker, deliveries stay pending.
  const service = await started({ ...env, BATON_ROLE: 'api' })
  const { person, headers, pending } = await fill(service.url, receiver)
  // A file of 8 TB that takes no room itself, so that a copy of the database would not fit.
  const large = join(dir, 'db', 'large')
  writeFileSync(large, '')
  truncateSync(large, 2 ** 43)
  // A copy of it would fill the disk of a machine where the check is broken.
  const watcher = watch(dir, (_event, name) => {
    if (name === 'db.backup-copy') void service.kill('SIGKILL')
  })
  const output = newFolder()
  const refused = await operate(['backup', '--output', output], env)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/needs 8796\d{9} bytes of free disk/) })
  expect([readdirSync(output), readdirSync(dir).includes('db.backup-copy')]).toEqual([[], false])
  watcher.close()
  rmSync(large)
  const acknowledged: string[] = []
  let writing = true
  const writer = async () => {
    while (writing) {
      const { status, body } = await person('POST', '/labels', { name: `Label ${randomUUID()}` })
      if (status === 201) acknowledged.push(body.id)
    }
  }
  const writers = [writer(), writer()]
  while (acknowledged.length < 20) await sleep(20)
  const expected = [...acknowledged]
  const says = 'It contains the secret key'
  const backup = await piped(startOperate(['backup', '--output', '-'], env), { says })
  const meanwhile = acknowledged.length
  writing = false
  await Promise.all(writers)
  await service.kill('SIGKILL')
  expect(meanwhile).toBeGreaterThan(expected.length)
  const restored = await emptyPlace('embedded')
  await piped(startOperate(['restore', '-', '--hold-deliveries', '--without-files'], restored), { input: backup })
  const after = await started(restored)
  const again = callerAt(after.url, headers)
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await again('GET', `/labels?limit=100${cursor && `&cursor=${cursor}`}`)
    found.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.next_cursor
  }
  expect(expected.filter((id) => !found.includes(id))).toEqual([])
  await sendsWhenEnabled(again, receiver, pending)
})

test('a restore is refused where data is; killed, it is finished by the same command, and erases who was erased', {
  ...verifies(
    'backup.restore-resumes',
    'backup.restore-damaged',
    'backup.restore-empty-only',
    'safety.erase-after-restore',
  ),
  timeout,
}, async () => {
  const original = { ...(await place()), BATON_BACKUP_DIR: newFolder() }
  const service = await started(original)
  const { headers } = await newcomer(service.url)
  const erased = { email: 'grace@example.com', name: 'Grace Hopper', password: 'a password' }
  await service.call('POST', '/auth/sign-up', erased)
  const { file } = await done(['backup'], original)
  await done(['erase-person', '--email', erased.email, '--confirm', erased.email], original)
  expect((await operate(['restore', file], original)).code).toBe(3)
  await service.kill('SIGTERM')
  const full = await operate(['restore', file], original)
  expect([full.code, full.stderr]).toEqual([3, expect.stringContaining('not empty')])

  const bytes = readFileSync(file)
  const target = await emptyLike(original)
  // It waits for the rest when it is killed; each time further on, where that can be seen.
  let loaded = 0
  for (const part of kind === 'postgres' ? [0.3, 0.8] : [0.8]) {
    const { child, ended } = startOperate(['restore', '-', '--without-files'], target)
    child.stdin.on('error', () => {})
    child.stdin.write(bytes.subarray(0, Math.floor(bytes.length * part)))
    loaded = await begun(target, child, loaded)
    child.kill('SIGKILL')
    await ended
    const refused = new ServiceProcess(await freePort(), { ...settings, ...target })
    expect(await refused.ended()).toBe(1)
    expect(refused.output).toContain('unfinished restore')
  }
  await done(['restore', file, '--without-files'], target)
  const after = await started(target)
  expect((await callerAt(after.url, headers)('GET', '/teams')).body.data).toHaveLength(1)
  const signIn = async (email: string) =>
    (await callerAt(after.url, {})('POST', '/auth/sign-in', { email, password: erased.password })).status
  expect([await signIn('ada@example.com'), await signIn(erased.email)]).toEqual([200, 401])
})

/**
 * Waits until the command has filled more tables than `before`, and returns how many. An embedded database cannot be
 * read meanwhile: there, until the command has marked and locked the directory.
 */
async function begun(
  { DATABASE_URL, BATON_DATA_DIR }: Env,
  child: { pid?: number | undefined; exitCode: number | null },
  before: number,
) {
  for (let tries = 0; tries < 1200; tries++) {
    if (child.exitCode !== null) throw new Error(`the command ended with ${child.exitCode}`)
    const loaded = DATABASE_URL ? await tablesLoaded(DATABASE_URL) : 0
    if (loaded > before) return loaded
    if (BATON_DATA_DIR && holderOf(BATON_DATA_DIR) === child.pid) return 0
    await sleep(50)
  }
  throw new Error('the command did not begin')
}

/** The process that has locked a directory with a restore in it. */
function holderOf(dir: string) {
  try {
    return readdirSync(dir).includes('restoring.json')
      ? Number(readFileSync(join(dir, 'lock'), 'utf8').split(' ')[0])
      : 0
  } catch {
    return 0
  }
}

async function tablesLoaded(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(`select count(*)::int as count from baton_load.state where name like 'table %'`)
    return rows[0].count
  } catch {
    return 0
  } finally {
    await client.end()
  }
}

test('a move is refused while the service runs; killed, it goes on; the printed settings start the service', {
  ...verifiesOnPostgres('move.needs-stopped', 'move.resumes', 'move.equal', 'move.marks-source'),
  timeout,
}, async () => {
  const dir = join(newFolder(), 'data')
  const service = await started({ BATON_DATA_DIR: dir })
  const { headers } = await newcomer(service.url)
  const url = await newPostgres()
  const target = new pg.Client({ connectionString: url })
  await target.connect()
  onTestFinished(() => target.end())
  const running = await operate(['move', '--to', url], { BATON_DATA_DIR: dir })
  expect([running.code, running.stderr]).toEqual([
    3,
    expect.stringMatching(/in use.* only while the service is stopped/),
  ])
  expect(running.stderr).not.toContain('wait')
  const tables = `select count(*)::int as count from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`
  expect((await target.query(tables)).rows).toEqual([{ count: 0 }])
  expect(await service.kill('SIGTERM')).toBe(0)
  const wrong = await operate(['move', '--to', `${url}-none`], { BATON_DATA_DIR: dir })
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('--to cannot be used: database "')])

  const { child, ended } = startOperate(['move', '--to', url], { BATON_DATA_DIR: dir })
  while (child.exitCode === null && (await tablesLoaded(url)) < 10) await sleep(5)
  child.kill('SIGKILL')
  await ended
  const before = readdirSync(dir)
  const moved = await operate(['move', '--to', url], { BATON_DATA_DIR: dir })
  expect([moved.code, moved.stderr]).toEqual([0, expect.any(String)])
  for (const name of before) if (name !== 'lock') expect(readdirSync(dir)).toContain(name)
  const printed = Object.fromEntries(
    [...moved.stdout.matchAll(/^export ([A-Z_]+)=(.+)$/gm)].map(([, name, value]) => [name, inShell(value as string)]),
  )
  expect(Object.keys(printed)).toEqual(['DATABASE_URL', 'BATON_SECRET_KEY', 'BATON_FILES_DIR'])
  const after = await started(printed)
  expect((await callerAt(after.url, headers)('GET', '/teams')).body.data).toHaveLength(1)
  const stale = new ServiceProcess(await freePort(), { ...settings, BATON_DATA_DIR: dir })
  expect(await stale.ended()).toBe(1)
  expect(stale.output).toMatch(/was moved to PostgreSQL .* at 20\d\d-/)
  expect((await operate(['move', '--to', url], { BATON_DATA_DIR: dir })).code).toBe(3)
})

/** What a shell reads. */
const inShell = (value: string) => execFileSync('bash', ['-c', `printf %s ${value}`], { encoding: 'utf8' })
