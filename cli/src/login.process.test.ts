import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../server/test/harness.ts'
import { Shell } from '../test/baton.ts'
import { configDirectory } from './config.ts'
import { stripControlCharacters } from './terminal.ts'

const commands = ['login', 'init', 'dev', 'listen', 'trigger', 'deliveries', 'verify', 'doctor', 'apps']

test('prints help, and exits with 2 for an unknown command or option', async () => {
  const shell = await Shell.open()
  const overview = await shell.run([])
  expect(overview).toMatchObject({ code: 0, stderr: '' })
  for (const name of commands) {
    expect(overview.stdout).toContain(`\n  ${name} `)
    const help = await shell.run([name, '--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain(`baton ${name}`)
  }
  expect(await shell.run(['paint'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/no command/) })
  expect(await shell.run(['apps', '--colour'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/--colour/) })
  expect(await shell.run(['login', 'here'])).toMatchObject({ code: 2 })
  const refused = await shell.run(['apps', '--json'])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/baton login/) })
  expect(refused.json().error.code).toBe('NOT_LOGGED_IN')
})

test('stores a login readable by its owner only, never prints it, and signs out', async ({ app }) => {
  const { owner } = await app.workspace()
  const shell = await Shell.open()
  await mkdir(shell.configDirectory, { recursive: true })
  await chmod(shell.configDirectory, 0o755)
  const args = ['login', '--url', `${app.rootUrl}/`, '--email', owner.user.email, '--password-stdin']
  const login = await shell.run([...args, '--json'], { input: `${owner.password}\n` })
  expect(login).toMatchObject({ code: 0, stderr: '' })
  expect(login.json()).toMatchObject({
    url: app.rootUrl,
    email: owner.user.email,
    workspace: { id: owner.workspaceId },
  })

  const path = join(shell.configDirectory, 'config.json')
  expect((await stat(shell.configDirectory)).mode & 0o777).toBe(0o700)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(shell.configDirectory)).toEqual(['config.json'])
  const { token } = JSON.parse(await readFile(path, 'utf8')).logins[app.rootUrl]
  expect(token).toMatch(/^psn_/)
  expect(login.stdout).not.toContain(token)
  expect((await shell.run(['apps'])).code).toBe(0)

  // A second login replaces the first and signs it out.
  expect((await shell.run(args, { input: owner.password })).stdout).not.toMatch(/psn_/)
  const mine = (one: string) => app.anonymous.with({ authorization: `Bearer ${one}` }).get('/auth/me')
  expect((await mine(token)).status).toBe(401)

  const second = JSON.parse(await readFile(path, 'utf8')).logins[app.rootUrl].token
  expect((await mine(second)).status).toBe(200)
  expect(await shell.run(['login', '--out'])).toMatchObject({ code: 0 })
  expect((await mine(second)).status).toBe(401)
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ current: null, logins: {} })
  expect(await shell.run(['login', '--out'])).toMatchObject({ code: 1 })
})

test('refuses a wrong password, an unknown workspace and an unreachable URL, and stores nothing', async ({ app }) => {
  const { owner } = await app.workspace()
  await owner.post('/workspaces', { name: 'Another' })
  const shell = await Shell.open()
  const login = (...more: string[]) => ['login', '--email', owner.user.email, '--password-stdin', ...more]
  const here = ['--url', app.rootUrl]
  const refusals = await app.unchanged(async () => [
    await shell.run(login(...here, '--json'), { input: 'wrong password' }),
    await shell.run(login(...here, '--json'), { input: owner.password }),
    await shell.run(login(...here, '--workspace', 'Nowhere', '--json'), { input: owner.password }),
    await shell.run(login('--url', 'http://127.0.0.1:1', '--json'), { input: owner.password }),
  ])
  expect(refusals.map(({ code, json }) => [code, json().error.code])).toEqual([
    [1, 'INVALID_CREDENTIALS'],
    [1, 'FAILED'],
    [1, 'NO_SUCH_WORKSPACE'],
    [1, 'NETWORK_ERROR'],
  ])
  expect(refusals[1]?.stderr).toMatch(/Acme, Another|Another, Acme/)
  expect(await shell.run(['login', ...here])).toMatchObject({ code: 2, stderr: expect.stringMatching(/--email/) })
  expect(await shell.run(login('--url', 'ftp://x'), { input: 'x' })).toMatchObject({ code: 2 })
  expect(await readdir(shell.home)).toEqual([])
  const chosen = await shell.run(login(...here, '--workspace', 'another', '--json'), { input: owner.password })
  expect(chosen.json().workspace.name).toBe('Another')
})

test('removes control characters from texts of other users', () => {
  expect(stripControlCharacters('a\u001b[2Jb\u0007\r\n\tc \u009b1m\u001b[31mred\u001b[39m')).toBe(
    'a[2Jb\n\tc 1m\u001b[31mred\u001b[39m',
  )
})

test('uses the configuration directory of the platform', () => {
  expect(configDirectory({ XDG_CONFIG_HOME: '/x' }, 'linux')).toBe('/x/baton')
  expect(configDirectory({ APPDATA: '/roaming' }, 'win32')).toBe('/roaming/baton')
  expect(configDirectory({}, 'darwin')).toMatch(/\.config\/baton$/)
})
