import { execFile, spawn } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { installApart } from '../../scripts/setup.mjs'
import { ownDatabase } from '../../server/test/empty-databases.ts'
import { freePort, ServiceProcess } from '../../server/test/service-process.ts'
import { isAlive, Shell, temporary } from '../test/baton.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }

/** A service process with one user and one team. */
async function service() {
  const { env, remove } = await ownDatabase()
  const port = await freePort()
  const startService = () => new ServiceProcess(port, env)
  const here = { service: startService() }
  await here.service.ready()
  const { token } = await here.service.call('POST', '/auth/sign-up', ann)
  const authorization = { authorization: `Bearer ${token}` }
  const { id } = await here.service.call('POST', '/workspaces', { name: 'Acme' }, authorization)
  const headers = { ...authorization, 'x-workspace-id': id }
  const call = (method: string, path: string, body?: unknown) => here.service.call(method, path, body, headers)
  const team = await call('POST', '/teams', { name: 'Engineering', key: 'ENG' })
  return {
    url: here.service.url,
    person: { token: token as string, user: ann, workspaceId: id as string },
    async end() {
      await here.service.kill('SIGKILL')
      await remove()
    },
    call,
    issue: async (title: string) => (await call('POST', '/issues', { title, team_id: team.id })).code as string,
    async restart() {
      await here.service.kill('SIGKILL')
      here.service = startService()
      await here.service.ready()
    },
    /** Waits until the types of the agent's activities match, and returns them. */
    async activityTypes(sessionId: string, isEnough: (types: string[]) => boolean) {
      for (;;) {
        const { data } = await call('GET', `/agent-sessions/${sessionId}/activities`).catch(() => ({ data: [] }))
        const types = data.map(({ type }: { type: string }) => type).filter((type: string) => type !== 'prompt')
        if (isEnough(types)) return types
        await sleep(50)
      }
    },
  }
}

// Shared by all tests, because creating its database takes long.
let started: ReturnType<typeof service> | undefined
function shared() {
  started ??= service()
  return started
}
afterAll(async () => (await started)?.end())

const answered = (types: string[]) => types.includes('response')

async function inited(shell: Shell) {
  expect(await shell.run(['init', 'my-agent', '--json'])).toMatchObject({ code: 0 })
  return join(shell.cwd, 'my-agent')
}

/** A project in which the modules are linked instead of installed. */
async function initedWith(modules: string[], shell: Shell, name: string, ...options: string[]) {
  expect(await shell.run(['init', name, '--no-install', ...options])).toMatchObject({ code: 0 })
  const cwd = join(shell.cwd, name)
  for (const folder of ['@baton', '@types', '.bin']) await mkdir(join(cwd, 'node_modules', folder), { recursive: true })
  for (const module of modules) {
    await symlink(join(root, 'node_modules', module), join(cwd, 'node_modules', module))
  }
  return cwd
}

/** A TypeScript project, with what npm would fetch from a registry. */
async function initedTypeScript(shell: Shell, name: string, ...options: string[]) {
  const cwd = await initedWith(['@baton/sdk', '@types/node'], shell, name, '--ts', ...options)
  const modules = join(cwd, 'node_modules')
  const foreign = join(await installApart('Installing tsx', 'cli/test/tsx'), 'node_modules')
  for (const module of ['tsx', '.bin/tsx']) await symlink(join(foreign, module), join(modules, module))
  return cwd
}

async function loggedIn() {
  const { url, person } = await shared()
  return Shell.of(person, url)
}

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(!socket.destroy().connecting))
    socket.on('error', () => resolve(false))
  })

const trigger = async (shell: Shell, issue: string, app = 'my-agent') => {
  const ended = await shell.run(['trigger', 'created', '--app', app, '--issue', issue, '--json'])
  expect(ended).toMatchObject({ code: 0 })
  return ended.json().session_id as string
}

test('dev registers, installs and runs a new agent up to its first thought', { timeout: 120_000 }, async () => {
  const { call, issue, activityTypes } = await shared()
  const shell = await loggedIn()
  const cwd = await inited(shell)
  const port = await freePort()
  const dev = shell.start(['dev', '--port', String(port)], { cwd })
  await dev.says(/Ready/)
  expect((await stat(join(cwd, '.env'))).mode & 0o777).toBe(0o600)
  const delegatedAt = Date.now()
  const session = await trigger(shell, await issue('Mend the door'))
  expect(await activityTypes(session, (types) => types.includes('thought'))).toContain('thought')
  expect(Date.now() - delegatedAt).toBeLessThan(10_000)
  expect(await activityTypes(session, answered)).toEqual(['thought', 'response'])
  await dev.says(/agent \| Listening on/)
  await dev.says(/200 AgentSessionEvent created .* ms http:\/\/\S+\/issue\/ENG-\d+/)

  // Saving a file restarts the agent.
  const code = await readFile(join(cwd, 'agent.js'), 'utf8')
  await writeFile(join(cwd, 'agent.js'), code.replace('Listening on', 'Restarted on'))
  await dev.says(/agent \| Restarted on/)
  expect(await dev.interrupt()).toMatchObject({ code: 0 })
  expect(await isOpen(port)).toBe(false)

  // The next start uses the same app, secrets and tokens.
  const env = await readFile(join(cwd, '.env'), 'utf8')
  const kept = await readdir(join(cwd, 'tokens'))
  const again = shell.start(['dev'], { cwd })
  await again.says(/Ready/)
  expect(await again.interrupt()).toMatchObject({ code: 0 })
  expect(await readFile(join(cwd, '.env'), 'utf8')).toBe(env)
  expect(await readdir(join(cwd, 'tokens'))).toEqual(kept)
  expect((await call('GET', '/agent-apps')).data).toHaveLength(1)
  for (const secret of [/svc_sk_\w+/, /pwhsec_\w+/]) {
    const [value = ''] = env.match(secret) ?? []
    expect(value).not.toBe('')
    expect(dev.stdout + dev.stderr).not.toContain(value)
  }

  // Lost secrets are rotated; the app stays.
  await rm(join(cwd, '.env'))
  const found = shell.start(['dev', '--port', String(port)], { cwd })
  await found.says(/Found my-agent[\s\S]*Ready/)
  expect(await activityTypes(await trigger(shell, await issue('Mend the wall')), answered)).toContain('response')

  // Another listener ends it. The listener finds the app by the directory.
  const other = shell.start(['listen', '--forward-to', 'http://127.0.0.1:1/'], { cwd })
  expect(await found.ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Ann now listens to my-agent[\s\S]*run `npx baton dev` again/),
  })
  expect(await isOpen(port)).toBe(false)
  expect(await other.interrupt()).toMatchObject({ code: 0 })
  expect((await call('GET', '/agent-apps')).data).toHaveLength(1)
})

test('loses no work and repeats none when agent, service and command are killed in turn', {
  timeout: 120_000,
}, async () => {
  const { issue, activityTypes, restart } = await shared()
  const name = 'other-agent'
  const shell = await loggedIn()
  const cwd = await initedWith(['@baton/sdk'], shell, name)
  const port = await freePort()
  const code = await readFile(join(cwd, 'agent.js'), 'utf8')
  await writeFile(join(cwd, 'agent.js'), code.replace('Listening on', `$${'{process.pid}'} listens on`))
  const dev = shell.start(['dev', '--port', String(port)], { cwd })
  await dev.says(/Ready[\s\S]*\d+ listens on|\d+ listens on[\s\S]*Ready/)
  const pids = () => [...dev.stdout.matchAll(/agent \| (\d+) listens/g)].map(([, pid]) => Number(pid))
  const once = ['thought', 'response']

  // The agent is restarted, and deliveries wait for it in the meantime.
  const [pid] = pids()
  if (!pid) throw new Error('the agent did not print its process id')
  process.kill(pid, 'SIGKILL')
  const first = await trigger(shell, await issue('One'), name)
  expect(await activityTypes(first, answered)).toEqual(once)

  // The command reconnects to the restarted service.
  await restart()
  await dev.says(/Ready[\s\S]*Ready/)
  const second = await trigger(shell, await issue('Two'), name)
  expect(await activityTypes(second, answered)).toEqual(once)

  // The agent ends with the command; the next one receives what could not be delivered.
  dev.child.kill('SIGKILL')
  await dev.ended
  while (await isOpen(port)) await sleep(20)
  const third = await trigger(shell, await issue('Three'), name)
  const undelivered = async () => (await shell.run(['deliveries', '--app', name, '--json'])).json()[0]
  while ((await undelivered()).attempts.length === 0) await sleep(50)
  const next = shell.start(['dev'], { cwd })
  await next.says(/Ready/)
  expect(await shell.run(['deliveries', 'redeliver', (await undelivered()).id, '--app', name])).toMatchObject({
    code: 0,
  })
  expect(await activityTypes(third, answered)).toEqual(once)
  for (const session of [first, second]) expect(await activityTypes(session, answered)).toEqual(once)
  expect(await next.interrupt()).toMatchObject({ code: 0 })
})

/** A process closes its files, which `dev` waits for, shortly before it is gone. */
async function hasEnded(pid: number) {
  while (await isAlive(pid)) await sleep(50)
}

/** The first thread of a killed process can be gone before the others, which keep its port. */
async function isClosed(port: number) {
  while (await isOpen(port)) await sleep(50)
}

const wrappers: [string, string[]][] = [
  ['npx', ['npx', 'tsx', 'agent.ts']],
  ['sh', ['sh', '-c', `node --import tsx agent.ts; echo ended`]],
]

test.skipIf(process.platform !== 'linux').for(wrappers)(
  'dev restarts and ends the agent behind %s, and leaves no process',
  { timeout: 120_000 },
  async ([wrapper, command], { task }) => {
    const { issue, activityTypes } = await shared()
    const name = `behind-${wrapper}-${task.result?.retryCount ?? 0}`
    const shell = await loggedIn()
    const cwd = await initedTypeScript(shell, name)
    const port = await freePort()
    const source = join(cwd, 'agent.ts')
    const code = (await readFile(source, 'utf8')).replace('Listening on', `$${'{process.pid}'} listens on`)
    await writeFile(source, code)
    const dev = shell.start(['dev', '--port', String(port), '--', ...command], { cwd })
    const pids = () => [...dev.stdout.matchAll(/agent \| (\d+) listens/g)].map(([, pid]) => Number(pid))
    await dev.says(/\d+ listens on/)
    await dev.says(/Ready/)

    // Saving restarts it: the port is free for the next one, which receives the delivery.
    await writeFile(source, `${code}\n// saved\n`)
    while (pids().length < 2) await dev.says(/listens on[\s\S]*listens on/)
    await hasEnded(pids()[0] as number)
    expect(dev.stdout + dev.stderr).not.toMatch(/EADDRINUSE|Restarting it/)
    const session = await trigger(shell, await issue('Mend the roof'), name)
    expect(await activityTypes(session, answered)).toEqual(['thought', 'response'])

    // One that ignores SIGTERM is killed.
    await writeFile(
      source,
      `${code.replace(/process\.once\('SIGTERM'/, "process.on('SIGTERM', () => {}).once('exit'")}\n`,
    )
    await dev.says(/listens on[\s\S]*listens on[\s\S]*listens on/)
    expect(await dev.interrupt()).toMatchObject({ code: 0 })
    for (const pid of pids()) await hasEnded(pid)
    await isClosed(port)

    // As is one whose `baton dev` was killed.
    const killed = shell.start(['dev', '--', ...command], { cwd })
    await killed.says(/\d+ listens on/)
    const [, last = ''] = /(\d+) listens on/.exec(killed.stdout) ?? []
    killed.child.kill('SIGKILL')
    await hasEnded(Number(last))
    await isClosed(port)
  },
)

test('init --ts writes agents that compile and that dev and npm start run', { timeout: 120_000 }, async () => {
  const { issue, activityTypes } = await shared()
  const shell = await loggedIn()
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  for (const example of ['triage', 'echo']) {
    const name = `typed-${example}`
    const cwd = await initedTypeScript(shell, name, '--example', example)
    await promisify(execFile)(process.execPath, [tsc], { cwd })
    const dev = shell.start(['dev', '--port', String(await freePort())], { cwd })
    await dev.says(/Listening on/)
    const session = await trigger(shell, await issue('Mend the fence'), name)
    const asked = example === 'triage' ? 'elicitation' : 'response'
    expect(await activityTypes(session, (types) => types.includes(asked))).toContain(asked)
    expect(await dev.interrupt()).toMatchObject({ code: 0 })
  }
  const started = spawn('npm', ['start'], { cwd: join(shell.cwd, 'typed-echo'), detached: true })
  // The whole group: npm does not pass a signal on to the agent.
  onTestFinished(() => void process.kill(-(started.pid as number), 'SIGKILL'))
  let output = ''
  for await (const text of started.stdout) {
    output += text
    if (output.includes('Listening on')) break
  }
  expect(output).toContain('Listening on')
})

test('dev names a wrong secret in one line', { timeout: 120_000 }, async () => {
  const { call, issue } = await shared()
  const shell = await loggedIn()
  const cwd = await initedWith(['@baton/sdk'], shell, 'forgetful')
  const port = String(await freePort())
  const ready = shell.start(['dev', '--port', port], { cwd })
  await ready.says(/Ready/)
  expect(await ready.interrupt()).toMatchObject({ code: 0 })
  const env = await readFile(join(cwd, '.env'), 'utf8')
  const [, appId] = /APP_ID=(\w+)/.exec(env) ?? []

  await writeFile(join(cwd, '.env'), env.replace(/svc_sk_\w+/, 'svc_sk_wrong'))
  const client = `CLIENT_SECRET in .env is not the client secret of forgetful. Run \`npx baton apps rotate client ${appId} --env .env\` to get a new one.\n`
  for (const args of [['dev'], ['apps', 'install']]) {
    const refused = await shell.run(args, { cwd })
    expect(refused).toMatchObject({ code: 1, stderr: client })
  }
  expect(await shell.run(['apps', 'rotate', 'client', '--env', '.env'], { cwd })).toMatchObject({ code: 0 })

  const rotated = await readFile(join(cwd, '.env'), 'utf8')
  await writeFile(join(cwd, '.env'), rotated.replace(/pwhsec_\w+/, 'pwhsec_wrong'))
  const dev = shell.start(['dev'], { cwd })
  await dev.says(/Listening on/)
  await dev.says(/Ready/)
  await trigger(shell, await issue('Mend the lock'), 'forgetful')
  await dev.says(
    /baton \| WEBHOOK_SECRET in \.env is not the webhook secret of forgetful\. Run `npx baton apps rotate webhook app_\w+ --env \.env` to get a new one\.\n/,
  )
  // The new secret restarts the agent, which then accepts deliveries.
  expect(await shell.run(['apps', 'rotate', 'webhook', '--env', '.env'], { cwd })).toMatchObject({ code: 0 })
  await dev.says(/Listening on[\s\S]*Listening on/)
  expect(await shell.run(['trigger', 'ping'], { cwd })).toMatchObject({ code: 0 })
  expect(await dev.interrupt()).toMatchObject({ code: 0 })
  expect((await call('GET', `/agent-apps/${appId}`)).name).toBe('forgetful')
})

test('init overwrites no file and reports errors', async () => {
  const shell = new Shell(await temporary())
  const init = (...args: string[]) => shell.run(['init', ...args, '--no-install'])
  expect(await init('here', '--json')).toMatchObject({ code: 0 })
  const directory = join(shell.cwd, 'here')
  const files = ['.env.example', '.gitignore', 'AGENTS.md', 'README.md', 'agent.js', 'manifest.json', 'package.json']
  expect((await readdir(directory)).sort()).toEqual(files)
  for (const file of files) expect(await readFile(join(directory, file), 'utf8')).not.toContain('{{')
  expect(JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))).toMatchObject({
    name: 'here',
    dependencies: { '@baton/sdk': expect.stringMatching(/^file:.*sdk$/) },
    devDependencies: { '@baton/cli': expect.stringMatching(/^file:.*cli$/) },
  })

  // Once logged in, the packages come from the instance.
  expect(await init('far', '--url', 'https://baton.example/', '--json')).toMatchObject({ code: 0 })
  expect(JSON.parse(await readFile(join(shell.cwd, 'far', 'package.json'), 'utf8'))).toMatchObject({
    dependencies: { '@baton/sdk': 'https://baton.example/packages/sdk.tgz' },
    devDependencies: { '@baton/cli': 'https://baton.example/packages/cli.tgz' },
  })
  const envExample = (name: string) => readFile(join(shell.cwd, name, '.env.example'), 'utf8')
  expect(await envExample('far')).toMatch(/^BATON_URL=https:\/\/baton\.example$/m)
  expect(await envExample('here')).toMatch(/^BATON_URL=http:\/\/localhost:3000$/m)

  for (const [example, says] of [
    ['echo', 'The smallest agent'],
    ['triage', 'An agent that asks'],
  ] as const) {
    expect(await init(example, '--example', example)).toMatchObject({ code: 0 })
    expect(await readFile(join(shell.cwd, example, 'agent.js'), 'utf8')).toContain(says)
  }
  expect(await init('there', '--example', 'nonsense')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('triage'),
  })

  await writeFile(join(directory, 'agent.js'), 'mine')
  await rm(join(directory, 'README.md'))
  expect(await init('here')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/agent\.js.*nothing was written/),
  })
  expect(await readFile(join(directory, 'agent.js'), 'utf8')).toBe('mine')
  expect(await readdir(directory)).not.toContain('README.md')

  expect(await init()).toMatchObject({ code: 2 })
  expect(await init('Bad Name')).toMatchObject({ code: 2, stderr: expect.stringMatching(/--name/) })
  expect(await init('baton-agent')).toMatchObject({ code: 2, stderr: expect.stringMatching(/name of the service/) })
  expect((await readdir(shell.cwd)).sort()).toEqual(['echo', 'far', 'here', 'triage'])
  const nowhere = await shell.run(['init', 'there', '--sdk', 'file:./nowhere.tgz'])
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringMatching(/files were written/) })

  expect(await shell.run(['dev'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no agent here[\s\S]*baton init/),
  })
  expect(await shell.run(['dev'], { cwd: directory })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/npm install/),
  })
})
