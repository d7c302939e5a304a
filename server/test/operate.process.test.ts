import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { commands } from '../src/operate/commands.ts'
import { filledDataDir } from './empty-databases.ts'
import { operate, startOperate } from './operate.ts'
import { newDataDir, ServiceProcess } from './service-process.ts'

const login = { email: 'ann@example.com', password: 'a password' }
const ann = { ...login, name: 'Ann' }
const onEmbedded = { skip: Boolean(process.env.DATABASE_URL) }

async function dataDir() {
  const dir = await filledDataDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function started(env: Record<string, string>) {
  const service = await ServiceProcess.start(env)
  onTestFinished(async () => void (await service.kill('SIGKILL')))
  return service
}

const ownerArgs = (name: string) => [
  'create-owner',
  '--email',
  `${name}@example.com`,
  '--name',
  name,
  '--workspace',
  'Acme',
]

/** Shared by the tests that do not stop it. */
let running: Promise<{ dir: string; service: ServiceProcess; env: Record<string, string> }> | undefined
function shared() {
  running ??= (async () => {
    const dir = await filledDataDir()
    const env = { BATON_DATA_DIR: dir }
    return { dir, env, service: await ServiceProcess.start(env) }
  })()
  return running
}
afterAll(async () => {
  const found = await running
  await found?.service.kill('SIGKILL')
  if (found) rmSync(found.dir, { recursive: true, force: true })
})

test('the operator creates a reset link while the service runs on the embedded database', {
  ...verifies('reset.operator-link', 'reset.operator-link-key'),
  ...onEmbedded,
  timeout: 300_000,
}, async () => {
  const { dir, service } = await shared()
  const post = (path: string, body: object) =>
    fetch(`${service.url}/api/v1/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  expect((await post('sign-up', ann)).status).toBe(201)
  const linkWith = async (env: Record<string, string>) => {
    const { stdout } = await operate(['reset-link', 'Ann@example.com'], env)
    const link = new URL(stdout.trim().split('\n').at(-1) ?? '')
    expect([link.origin, link.pathname, link.search]).toEqual(['https://baton.example', '/reset-password', ''])
    return new URLSearchParams(link.hash.slice(1)).get('token')
  }
  const url = { BATON_ROOT_URL: 'https://baton.example' }
  const confirm = async (token: string | null) =>
    (await post('password-reset/confirm', { token, new_password: 'a new password' })).status
  const otherKey = randomBytes(32).toString('base64')
  expect(await confirm(await linkWith({ ...url, BATON_DATA_DIR: dir, BATON_SECRET_KEY: otherKey }))).toBe(404)
  expect((await post('sign-in', login)).status).toBe(200)
  const token = await linkWith({ ...url, BATON_DATA_DIR: dir })
  expect(await confirm(token)).toBe(204)
  expect(await confirm(token)).toBe(404)
  expect((await post('sign-in', login)).status).toBe(401)
  expect((await post('sign-in', { ...login, password: 'a new password' })).status).toBe(200)
})

test('the command explains what is wrong', { timeout: 60_000 }, async () => {
  expect(await operate([], {})).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('npm run operate -- COMMAND'),
  })
  expect(await operate(['reset-link'], {})).toMatchObject({ code: 2 })
  const dir = newDataDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const missing = await operate(['reset-link', 'ann@example.com'], { BATON_DATA_DIR: dir })
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('BATON_SECRET_KEY is not set') })
  const wrong = await operate(['reset-link', 'ann'], { BATON_DATA_DIR: dir })
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('ann is not an e-mail address') })
})

test('another user is told to run commands as the user of the service', {
  // Only root can start a process of another user.
  skip: onEmbedded.skip || process.getuid?.() !== 0,
  timeout: 300_000,
}, async () => {
  const dir = await dataDir()
  const service = await started({ BATON_DATA_DIR: dir })
  const told = async (...args: string[]) => {
    const { code, stderr } = await startOperate(args, { BATON_DATA_DIR: dir }, { uid: 65534 }).ended
    expect({ args, code }).toEqual({ args, code: 1 })
    return stderr
  }
  const advice = 'Run the command as the user of the service, or as root.'
  expect(await told('reset-link', 'ann@example.com')).toContain(`secret.key cannot be read by this user. ${advice}`)
  expect(await told('status')).toContain(`operate.sock cannot be opened by this user. ${advice}`)
  await service.kill('SIGTERM')
  expect(await told('status')).toContain(advice)
  expect(await told('move', '--to', 'postgres://none')).toContain('cannot be used by this user')
})

/** A request to the socket. */
const ask = (socketPath: string, method: string, path: string, body = '') =>
  new Promise<number>((resolve, reject) => {
    const sent = request({ socketPath, method, path, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject).end(body)
  })

test('commands work through the socket of a running embedded service', {
  ...verifies('admin.embedded-running', 'admin.no-password-argument', 'admin.socket-not-api', 'admin.doctor-healthy'),
  ...onEmbedded,
  timeout: 300_000,
}, async () => {
  const { dir, env, service } = await shared()
  const secret = 'a password from stdin'
  const created = operate([...ownerArgs('cleo'), '--password-stdin', '--json'], env, `${secret}\n`)
  let requests = 0
  for (let done = false; !done; requests++) {
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    done = await Promise.race([created.then(() => true), new Promise<false>((later) => setTimeout(later, 20, false))])
  }
  expect(requests).toBeGreaterThan(2)
  const { code, stdout } = await created
  expect(code).toBe(0)
  const { workspace_id } = JSON.parse(stdout)
  const { token } = await service.call('POST', '/auth/sign-in', { email: 'cleo@example.com', password: secret })
  const reset = await operate(['reset-password', '--email', 'cleo@example.com', '--json'], env)
  const { password } = JSON.parse(reset.stdout)
  await expect(service.call('GET', '/auth/me', undefined, { authorization: `Bearer ${token}` })).rejects.toThrow('401')
  await service.call('POST', '/auth/sign-in', { email: 'cleo@example.com', password })
  // Neither password is in a log, and none can be an argument.
  for (const text of [secret, password]) expect(service.output).not.toContain(text)
  expect(service.output).toContain('"msg":"operator reset a password"')
  for (const { parameters } of commands)
    expect(Object.keys(parameters).filter((name) => /pass(?!word-stdin$)/.test(name))).toEqual([])
  expect(await operate(['reset-password', '--email', 'cleo@example.com', '--password', 'x'], env)).toMatchObject({
    code: 2,
  })
  const listed = await operate(['workspaces', '--json'], env)
  expect(JSON.parse(listed.stdout)).toMatchObject({ workspaces: [{ id: workspace_id, owners: ['cleo@example.com'] }] })

  const socket = join(dir, 'operate.sock')
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/healthz'],
    ['GET', '/api/v1/auth/me'],
    ['POST', '/api/v1/auth/sign-in'],
    ['GET', '/operate/workspaces'],
    ['POST', '/operate/reset-link'],
    ['POST', '/operate/none'],
  ] as const) {
    expect({ path, status: await ask(socket, method, path, '{}') }).toEqual({ path, status: 404 })
  }
  expect(await ask(socket, 'POST', '/operate/workspaces', '{"values":{"x":1}}')).toBe(400)
  expect(await ask(socket, 'POST', '/operate/workspaces', 'x'.repeat(70_000))).toBe(400)
  for (const { name } of commands) {
    for (const path of [`/operate/${name}`, `/api/v1/operate/${name}`]) {
      const response = await fetch(`${service.url}${path}`, { method: 'POST', body: '{"values":{}}' })
      expect({ path, status: response.status }).toEqual({ path, status: 404 })
    }
  }
})

test('commands take the lock of a stopped directory, and a start replaces the socket of a killed process', {
  ...verifies('admin.embedded-stopped', 'admin.socket-permissions', 'admin.doctor-healthy'),
  ...onEmbedded,
  timeout: 300_000,
}, async () => {
  const dir = await dataDir()
  const env = { BATON_DATA_DIR: dir }
  const [one, other] = await Promise.all([operate(ownerArgs('ann'), env), operate(ownerArgs('bea'), env)])
  const codes = [one.code, other.code].sort()
  // Together, the second is refused or comes after the first.
  expect([
    [0, 0],
    [0, 3],
  ]).toContainEqual(codes)
  if (codes[1] === 3) expect(`${one.stderr}${other.stderr}`).toContain('is in use by process')
  expect(existsSync(join(dir, 'lock'))).toBe(false)

  const socket = join(dir, 'operate.sock')
  const first = await started(env)
  expect([statSync(socket).mode & 0o777, statSync(dir).mode & 0o777]).toEqual([0o600, 0o700])
  const listed = await operate(['workspaces', '--json'], env)
  expect(JSON.parse(listed.stdout).workspaces).toHaveLength(codes.filter((code) => code === 0).length)
  // Without the socket, the directory is only in use.
  expect((await operate(['status'], { ...env, BATON_OPERATE_SOCKET: join(dir, 'none.sock') })).code).toBe(3)
  await first.kill('SIGKILL')
  expect(statSync(socket).isSocket()).toBe(true)

  const second = new ServiceProcess(0, env)
  onTestFinished(async () => void (await second.kill('SIGKILL')))
  await expect.poll(() => second.output, { timeout: 60_000 }).toContain('Baton is ready')
  const { code, stdout } = await operate(['doctor', '--json'], env)
  const { checks } = JSON.parse(stdout)
  expect(checks.filter(({ state }: { state: string }) => state === 'fail')).toEqual([])
  expect(checks).toContainEqual({ check: 'event stream', state: 'ok', message: expect.any(String) })
  expect(code).toBe(0)
  await second.kill('SIGTERM')
  expect(existsSync(socket)).toBe(false)

  const nowhere = await operate(['workspaces'], { BATON_DATA_DIR: join(dir, 'none') })
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('has no database') })
  expect(existsSync(join(dir, 'none'))).toBe(false)
})

test('exit codes, each with one JSON document', {
  ...verifies('admin.exit-codes'),
  ...onEmbedded,
  timeout: 300_000,
}, async () => {
  const { env } = await shared()
  expect((await operate(ownerArgs('dora'), env)).code).toBe(0)
  for (const [args, code, more = {}] of [
    [['status'], 0],
    [['workspaces'], 0],
    [['workspaces'], 1, { BATON_DATA_DIR: join(env.BATON_DATA_DIR as string, 'none') }],
    [['nonsense'], 2],
    [[], 2],
    [['set-role', '--role', 'owner'], 2],
    [['workspaces', 'surplus'], 2],
    [['workspaces', '--surplus'], 2],
    [['delete-workspace', 'wsp_none', '--confirm', 'Acme'], 3],
    [ownerArgs('dora'), 3],
  ] as [string[], number, object?][]) {
    const { code: actual, stdout } = await operate([...args, '--json'], { ...env, ...more })
    expect({ args, code: actual }).toEqual({ args, code })
    expect(JSON.parse(stdout)).toEqual(expect.any(Object))
  }
})
