import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type TestApp, test } from '../../server/test/harness.ts'
import { Shell } from '../test/baton.ts'
import { judgeClock, type SetupFinding } from './doctor/setup.ts'

const manifest = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: ['https://localhost/callback'], scopes: ['read', 'app:assignable'] },
  webhook: { url: 'https://listen.invalid/' },
}

/** The directory of an installed agent that is not running. */
async function agentDirectory(app: TestApp) {
  const { owner } = await app.workspace()
  const shell = await Shell.of(owner, app.rootUrl)
  const file = (name: string) => join(shell.cwd, name)
  await writeFile(file('manifest.json'), JSON.stringify(manifest))
  for (const args of [
    ['apps', 'register', 'manifest.json', '--env', '.env'],
    ['apps', 'install'],
  ]) {
    expect(await shell.run(args)).toMatchObject({ code: 0 })
  }
  const env = await readFile(file('.env'), 'utf8')
  const setEnv = (pattern: RegExp, value: string) => writeFile(file('.env'), env.replace(pattern, value))
  return { owner, shell, file, env, setEnv }
}

async function doctor(shell: Shell) {
  const ended = await shell.run(['doctor', '--json'])
  const { checks } = ended.json() as { checks: SetupFinding[] }
  const failed = checks.filter(({ ok }) => ok === false)
  return { ...ended, checks, names: checks.map(({ name }) => name), wrong: failed }
}

const all = ['login', 'clock', 'version', 'app', 'client secret', 'webhook secret', 'installation', 'tokens']

test('finds nothing wrong with an installed agent, and changes nothing but a ping', async ({ app }) => {
  const { shell, file, env } = await agentDirectory(app)
  const { code, names, wrong } = await doctor(shell)
  expect({ code, names, wrong }).toEqual({ code: 0, names: all, wrong: [] })
  const words = await shell.run(['doctor'])
  expect(words).toMatchObject({ code: 0, stderr: '' })
  expect(words.stdout).toMatch(/^ok {4}login: .* at http.*, in Acme\nok {4}clock: differs[\s\S]*\n8 of 8\n$/)
  expect(await readFile(file('.env'), 'utf8')).toBe(env)
  for (const secret of env.match(/(svc_sk|pwhsec)_\w+/g) ?? []) expect(words.stdout).not.toContain(secret)
})

test('names each wrong setting and its remedy', { timeout: 120_000 }, async ({ app }) => {
  const { owner, shell, file, env, setEnv } = await agentDirectory(app)
  const [, appId = ''] = /APP_ID=(\w+)/.exec(env) ?? []
  const remedy = (which: string) => `Run \`npx baton apps rotate ${which} ${appId} --env .env\` to get a new one.`

  await setEnv(/svc_sk_\w+/, 'svc_sk_wrong')
  expect(await doctor(shell)).toMatchObject({
    code: 1,
    names: all,
    wrong: [{ name: 'client secret', detail: expect.stringContaining(remedy('client')) }],
  })
  await setEnv(/pwhsec_\w+/, 'pwhsec_wrong')
  expect(await doctor(shell)).toMatchObject({
    code: 1,
    names: all,
    wrong: [{ name: 'webhook secret', detail: expect.stringContaining(remedy('webhook')) }],
  })
  await setEnv(/WEBHOOK_SECRET=.*\n/, '')
  expect((await doctor(shell)).wrong.map(({ name }) => name)).toEqual(['webhook secret'])
  await setEnv(/APP_ID=\w+/, 'APP_ID=app_00000000-0000-7000-8000-000000000000')
  expect((await doctor(shell)).wrong).toMatchObject([{ name: 'app', advice: expect.stringContaining('baton dev') }])
  await writeFile(file('.env'), env)

  await rm(file('tokens'), { recursive: true })
  expect((await doctor(shell)).wrong).toMatchObject([
    { name: 'tokens', detail: expect.stringContaining('has none'), advice: expect.stringContaining('apps install') },
  ])
  expect(await shell.run(['apps', 'install'])).toMatchObject({ code: 0 })
  const { data } = (await owner.get('/installations')).body
  const tokens = file(`tokens/${data[0].id}.json`)
  const stored = JSON.parse(await readFile(tokens, 'utf8'))
  await writeFile(tokens, JSON.stringify({ ...stored, access_token: 'svc_at_wrong' }))
  expect((await doctor(shell)).wrong).toMatchObject([{ name: 'tokens', detail: expect.stringContaining('refuses') }])
  await writeFile(tokens, JSON.stringify({ ...stored, access_token: 'svc_at_wrong', expires_at: 1 }))
  expect((await doctor(shell)).wrong).toEqual([])
  await writeFile(tokens, 'not json')
  expect((await doctor(shell)).wrong).toMatchObject([{ name: 'tokens', detail: expect.stringContaining('not valid') }])

  await owner.delete(`/installations/${data[0].id}`)
  expect((await doctor(shell)).wrong).toMatchObject([{ name: 'installation', advice: expect.stringContaining('dev') }])

  await owner.post('/auth/sign-out')
  expect(await doctor(shell)).toMatchObject({
    code: 1,
    names: ['login'],
    wrong: [{ advice: 'The login has expired. Run `npx baton login`.' }],
  })
})

test('checks the login alone outside of an agent, and says where to log in without one', async ({ app }) => {
  const { owner } = await app.workspace()
  const shell = await Shell.of(owner, app.rootUrl)
  const { code, names, checks, wrong } = await doctor(shell)
  expect({ code, names, wrong }).toEqual({ code: 0, names: all.slice(0, 4), wrong: [] })
  expect(checks.at(-1)).toMatchObject({ name: 'app', ok: null })
  expect(await doctor(await Shell.open())).toMatchObject({
    code: 1,
    wrong: [{ name: 'login', advice: 'Run `npx baton login` first.' }],
  })
})

test('sends the ping to an agent that is running', async ({ app }) => {
  const { shell, setEnv } = await agentDirectory(app)
  const running = shell.start(['listen', '--forward-to', 'http://127.0.0.1:1/'])
  await running.says(/Ready/)
  expect((await doctor(shell)).wrong).toMatchObject([{ name: 'webhook', detail: expect.stringContaining('502') }])
  await setEnv(/pwhsec_\w+/, 'pwhsec_wrong')
  expect((await doctor(shell)).wrong).toMatchObject([{ name: 'webhook' }])
  expect(running.child.exitCode).toBeNull()
  expect(await running.interrupt()).toMatchObject({ code: 0 })
})

test('a clock may differ by half of what receivers accept', () => {
  const now = Date.parse('2026-01-31T12:00:00Z')
  for (const [differenceMs, ok] of [
    [30_000, true],
    [-30_000, true],
    [30_001, false],
    [-30_001, false],
  ] as const) {
    expect(judgeClock(now, now + differenceMs)).toMatchObject({ ok })
  }
  expect(judgeClock(now, now + 95_000).detail).toBe('this machine is 95 s ahead of the service')
  expect(judgeClock(now, now - 95_000).detail).toBe('this machine is 95 s behind the service')
  expect(judgeClock(Number.NaN, now).ok).toBeNull()
})
