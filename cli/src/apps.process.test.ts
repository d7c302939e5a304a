import { spawnSync } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { standardSecret } from '../../sdk/src/webhooks.ts'
import { test, verifies } from '../../server/test/harness.ts'
import { Shell } from '../test/baton.ts'

const manifest = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read', 'app:assignable'] },
  webhook: { url: 'https://listen.invalid/' },
}

test('register, list, show, rotate and install', verifies('standard-webhook.whsec'), async ({ app }) => {
  const { owner } = await app.workspace()
  await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const shell = await Shell.of(owner, app.rootUrl)
  expect((await shell.run(['apps', '--json'])).json()).toEqual([])
  await writeFile(join(shell.cwd, 'manifest.json'), JSON.stringify(manifest))
  const registered = await shell.run(['apps', 'register', 'manifest.json', '--env', '.env', '--json'])
  expect(registered.code).toBe(0)
  const { id, client_id } = registered.json().app
  expect(registered.stdout + registered.stderr).not.toMatch(/svc_sk_|pwhsec_/)
  expect((await stat(join(shell.cwd, '.env'))).mode & 0o777).toBe(0o600)
  const env = await readFile(join(shell.cwd, '.env'), 'utf8')
  expect(env).toMatch(new RegExp(`CLIENT_ID=${client_id}\nCLIENT_SECRET=svc_sk_.*\nWEBHOOK_SECRET=pwhsec_`))

  expect((await shell.run(['apps'])).stdout).toContain(`${id}  Robot  enabled`)
  expect((await shell.run(['apps', 'show', 'robot', '--json'])).json()).toMatchObject({ id, name: 'Robot' })
  const rotated = await shell.run(['apps', 'rotate', 'webhook', id, '--json'])
  expect(rotated.json().WEBHOOK_SECRET).toMatch(/^pwhsec_/)
  expect(env).not.toContain(rotated.json().WEBHOOK_SECRET)
  expect(rotated.json().standard_webhook_secret).toBe(standardSecret(rotated.json().WEBHOOK_SECRET))
  const { stdout } = await shell.run(['apps', 'rotate', 'webhook', id])
  expect(stdout).toContain(standardSecret(/WEBHOOK_SECRET=(\S+)/.exec(stdout)?.[1] ?? ''))
  expect((await shell.run(['apps', 'rotate', 'client', id, '--env', '.env'])).code).toBe(0)
  const after = await readFile(join(shell.cwd, '.env'), 'utf8')
  expect(after.replace(/CLIENT_SECRET=.*/, '')).toBe(env.replace(/CLIENT_SECRET=.*/, ''))
  expect(after).not.toBe(env)

  const installed = await shell.run(['apps', 'install', '--teams', 'eng', '--json'])
  expect(installed).toMatchObject({ code: 0, stderr: '' })
  const { installation_id, tokens } = installed.json()
  expect(installed.json()).toMatchObject({ scope: 'read app:assignable', all_teams: false, teams: ['ENG'] })
  expect(installed.stdout).not.toMatch(/svc_at_|prt_/)
  expect((await stat(tokens)).mode & 0o777).toBe(0o600)
  const { access_token } = JSON.parse(await readFile(tokens, 'utf8'))
  const asApp = app.anonymous.with({ authorization: `Bearer ${access_token}`, 'x-workspace-id': owner.workspaceId })
  expect((await asApp.get('/auth/me')).body).toMatchObject({ installation_id, app: { id } })
  expect((await owner.get('/installations')).body.data).toMatchObject([{ all_teams: false, app_id: id }])
  // Without a terminal it installs without confirmation.
  expect(await shell.run(['apps', 'install', 'Robot'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Installed Robot in Acme for all teams, with read, app:assignable\.\nThe tokens are/,
    ),
  })
})

test('needs no name for the only app or for the app of the directory', async ({ app }) => {
  const { owner } = await app.workspace()
  const { id } = (await owner.post('/agent-apps', manifest)).body.app
  const shell = await Shell.of(owner, app.rootUrl)
  const env = (text: string) => writeFile(join(shell.cwd, '.env'), text)
  const shown = async () => (await shell.run(['apps', 'show', '--json'])).json()
  const refused = (message: RegExp) => ({ error: { message: expect.stringMatching(message) } })
  expect(await shown()).toMatchObject({ id })
  await owner.post('/agent-apps', { ...manifest, name: 'Another' })
  expect(await shown()).toMatchObject(refused(/^No app was given\..*Another/))
  await env(`BATON_URL=http://elsewhere.example\nAPP_ID=${id}\n`)
  expect(await shown()).toMatchObject(refused(/^No app was given\./))
  await env('APP_ID=app_gone\n')
  expect(await shown()).toMatchObject(refused(/app_gone \(from \.env\)/))
  await env(`BATON_URL=${app.rootUrl}\nAPP_ID=${id}\n`)
  expect(await shown()).toMatchObject({ id })
  expect((await shell.run(['deliveries', '--json'])).json()).toEqual([])
  expect((await shell.run(['apps', 'show', 'another', '--json'])).json()).toMatchObject({ name: 'Another' })
})

// `script` of util-linux provides a terminal.
const hasTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false

test.skipIf(!hasTerminal)(
  'install shows the requested scopes at a terminal and asks for confirmation',
  async ({ app }) => {
    const { owner } = await app.workspace()
    await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const { body } = await owner.post('/agent-apps', manifest)
    const shell = await Shell.of(owner, app.rootUrl)
    await writeFile(join(shell.cwd, '.env'), `CLIENT_SECRET=${body.client_secret}\n`)
    const installations = async () => (await owner.get('/installations')).body.data

    for (const answer of ['\n', 'no\n']) {
      const declined = shell.atTerminal(['apps', 'install', 'Robot', '--teams', 'ENG'])
      await declined.says(/Install\? \[y\/N\]/)
      expect(declined.stdout).toMatch(/read +Read issues.*\s+app:assignable +Accept delegated issues/)
      expect(declined.stdout).toContain('Teams: Engineering (ENG).')
      declined.child.stdin?.write(answer)
      expect(await declined.ended).toMatchObject({ code: 1, stdout: expect.stringContaining('Nothing was installed.') })
      expect(await installations()).toEqual([])
    }
    const agreed = shell.atTerminal(['apps', 'install', 'Robot'])
    await agreed.says(/Teams: all teams[\s\S]*Install\?/)
    agreed.child.stdin?.write('y\n')
    expect(await agreed.ended).toMatchObject({ code: 0 })
    expect(await installations()).toHaveLength(1)
    for (const unasked of ['--yes', '--json']) {
      const ended = await shell.atTerminal(['apps', 'install', 'Robot', unasked]).ended
      expect(ended).toMatchObject({ code: 0, stdout: expect.not.stringContaining('Install?') })
    }
  },
)

test('refuses invalid input with a message and changes nothing', async ({ app }) => {
  const { owner, member } = await app.workspace()
  const { body } = await member.post('/agent-apps', manifest)
  const shell = await Shell.of(member, app.rootUrl)
  await writeFile(join(shell.cwd, 'bad.json'), JSON.stringify({ ...manifest, name: '?', oauth: {} }))
  await writeFile(join(shell.cwd, 'worse.json'), '{')
  await writeFile(join(shell.cwd, '.env'), `CLIENT_SECRET=${body.client_secret}\n`)
  const before = await readdir(shell.cwd)
  const bad = await app.unchanged(() => shell.run(['apps', 'register', 'bad.json']))
  expect(bad).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/name must be .*\n {2}oauth\./) })
  const refusals: [string[], number, RegExp][] = [
    [['apps', 'register', 'worse.json'], 1, /not valid JSON/],
    [['apps', 'register', 'none.json'], 1, /cannot be read/],
    [['apps', 'register'], 2, /MANIFEST is missing/],
    [['apps', 'paint'], 2, /no command `apps paint`/],
    [['apps', 'rotate', 'both', 'Robot'], 2, /must be client or webhook/],
    [['apps', 'show', 'Nobody'], 1, /no app Nobody\. In Acme: Robot/],
    [['apps', 'show', 'app_00000000-0000-7000-8000-000000000000'], 1, /Not found: app app_0.* in Acme/],
    [['apps', '--workspace', 'Elsewhere'], 1, /not a member of a workspace Elsewhere/],
  ]
  for (const [args, code, words] of refusals) {
    expect(await app.unchanged(() => shell.run(args)), args.join(' ')).toMatchObject({
      code,
      stderr: expect.stringMatching(words),
    })
  }
  // The consent request is stored for ten minutes, but nothing is installed.
  expect(await shell.run(['apps', 'install', 'Robot'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/owners and admins/),
  })
  expect((await owner.get('/installations')).body.data).toEqual([])
  expect(await readdir(shell.cwd)).toEqual(before)
  expect(await shell.run(['apps', 'install', 'Robot', '--request'])).toMatchObject({ code: 0 })
  expect((await owner.get('/inbox')).body.data).toHaveLength(1)
})
