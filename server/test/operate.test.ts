import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { filledDataDir } from './empty-databases.ts'
import { newDataDir, ServiceProcess } from './service-process.ts'

// npm test bundles the server, as npm start does. A test that is run alone uses what the compiler wrote.
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const command = process.env.BATON_TEST_BUNDLE
  ? [file('../../scripts/operate.mjs')]
  : [
      '--input-type=module',
      '-e',
      `import { operate } from '${file('../dist/operate.js')}'
       process.exitCode = await operate(process.argv.slice(1), process.env)`,
      '--',
    ]
const run = promisify(execFile)
const operate = async (args: string[], env: Record<string, string>) => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(BATON_|DATABASE_URL$)/.test(name))
  const options = { env: { ...Object.fromEntries(inherited), ...env } }
  return run(process.execPath, [...command, ...args], options).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
}

const login = { email: 'ann@example.com', password: 'a password' }
const ann = { ...login, name: 'Ann' }

test('the operator creates a reset link while the service runs on the embedded database', {
  ...verifies('reset.operator-link', 'reset.operator-link-key'),
  timeout: 120_000,
}, async () => {
  const dir = await filledDataDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const service = await ServiceProcess.start({ BATON_DATA_DIR: dir })
  onTestFinished(async () => void (await service.kill('SIGKILL')))
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
  expect(await operate([], {})).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage: npm run operate') })
  expect(await operate(['reset-link'], {})).toMatchObject({ code: 2 })
  const dir = newDataDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const missing = await operate(['reset-link', 'ann@example.com'], { BATON_DATA_DIR: dir })
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('BATON_SECRET_KEY is not set') })
  const wrong = await operate(['reset-link', 'ann'], { BATON_DATA_DIR: dir })
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('ann is not an e-mail address') })
})
