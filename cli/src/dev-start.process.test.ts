import { once } from 'node:events'
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { test } from '../../server/test/harness.ts'
import { freePort } from '../../server/test/service-process.ts'
import { isAlive, Shell } from '../test/baton.ts'
import { withDescendants } from './run/processes.ts'

const manifest = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: ['https://localhost/callback'], scopes: ['read', 'app:assignable'] },
  webhook: { url: 'https://listen.invalid/' },
}
const agent = ['--', 'node', '-e', 'console.log("pid", process.pid, ";"); setInterval(() => {}, 1000)']

async function projectOf(...args: Parameters<typeof Shell.of>) {
  const shell = await Shell.of(...args)
  await writeFile(join(shell.cwd, 'manifest.json'), JSON.stringify(manifest))
  return shell
}

test('a member runs an app that a manager installed, with the tokens shown at the installation', async ({ app }) => {
  const { owner, member } = await app.workspace()
  const shell = await projectOf(member, app.rootUrl)
  const args = ['dev', '--port', String(await freePort()), ...agent]
  const env = join(shell.cwd, '.env')

  const refused = await shell.run(args)
  const [, id = ''] = /APP_ID=(\w+)/.exec(await readFile(env, 'utf8')) ?? []
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/\nOnly owners and admins of Acme can install Robot\.\nAsk them with .*\n$/),
  })
  expect(refused.stderr).toContain(`\`npx baton apps install ${id} --request\``)

  const { status, body: tokens } = await owner.post(`/agent-apps/${id}/install`, { all_teams: true })
  expect(status).toBe(201)
  expect(await shell.run(args)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Robot is installed in Acme, but its tokens are not here\.\nAsk .* for the \.env/),
  })

  const shown = {
    INSTALLATION_ID: tokens.installation_id,
    WORKSPACE_ID: tokens.workspace_id,
    APP_USER_ID: tokens.app_user_id,
    ACCESS_TOKEN: tokens.access_token,
    REFRESH_TOKEN: tokens.refresh_token,
  }
  await appendFile(
    env,
    Object.entries(shown)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  // The second start uses the tokens that the first one stored.
  for (const _ of [1, 2]) {
    const dev = shell.start(args)
    await dev.says(/Ready/)
    expect(await dev.interrupt()).toMatchObject({ code: 0 })
    expect(await readdir(join(shell.cwd, 'tokens'))).toEqual([`${tokens.installation_id}.json`])
  }
})

test('dev says once that the port is taken, and ends', async ({ app }) => {
  const { owner } = await app.workspace()
  const shell = await projectOf(owner, app.rootUrl)
  const other = createServer()
  onTestFinished(() => void other.close())
  await once(other.listen(0), 'listening')
  const { port } = other.address() as { port: number }
  const ended = await shell.run(['dev', '--port', String(port), ...agent])
  expect(ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(new RegExp(`\nPort ${port} is used by another program.*\n.*--port\\.\n$`)),
  })
})

test.skipIf(process.platform !== 'linux').for(['SIGTERM', 'SIGKILL'] as const)(
  'dev and its agent end when npx alone gets %s',
  async (signal, { app }) => {
    const { owner } = await app.workspace()
    const shell = await projectOf(owner, app.rootUrl)
    const dev = await shell.startWithNpx(['dev', '--port', String(await freePort()), ...agent])
    await dev.says(/Ready/)
    await dev.says(/pid \d+ ;/)
    const pid = Number(/pid (\d+) ;/.exec(dev.stdout)?.[1])
    expect(await isAlive(pid)).toBe(true)
    dev.child.kill(signal)
    // Its output closes when `dev` has ended, too.
    await dev.ended
    while (await isAlive(pid)) await sleep(20)
  },
)

test('listen ends with npx', async ({ app }) => {
  const { owner } = await app.workspace()
  await owner.post('/agent-apps', manifest)
  const shell = await Shell.of(owner, app.rootUrl)
  const listening = await shell.startWithNpx(['listen', '--forward-to', 'http://127.0.0.1:1/'])
  await listening.says(/Ready/)
  const started = await withDescendants(listening.child.pid ?? 0)
  expect(started.length).toBeGreaterThan(1)
  listening.child.kill('SIGTERM')
  // Its output closes when `listen` has ended, too.
  await listening.ended
  for (const { pid } of started) while (await isAlive(pid)) await sleep(20)
})
