import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { isAlive, Shell, temporary } from '../test/baton.ts'
import { gitIn, repository } from '../test/repository.ts'
import { type RealService, realService } from '../test/service.ts'

const acpAgent = fileURLToPath(new URL('../test/acp-agent.mjs', import.meta.url))

// Shared by all tests, because creating its database takes long.
let started: Promise<RealService> | undefined
const shared = () => {
  started ??= realService()
  return started
}
afterAll(async () => (await started)?.end())

/** A shell with a login, a repository and a scripted agent. */
async function scene(who: 'owner' | 'member', script: object = { turns: [[{ say: 'Done.' }]] }) {
  const service = await shared()
  const shell = await Shell.open()
  const { email, token } = service[who]
  const config = {
    current: service.url,
    logins: { [service.url]: { email, token, workspace: { id: service.workspaceId, name: 'Acme' } } },
  }
  await mkdir(shell.configDirectory, { recursive: true })
  await writeFile(join(shell.configDirectory, 'config.json'), JSON.stringify(config))
  const repo = await repository()
  const directory = await temporary()
  const log = join(directory, 'log.jsonl')
  const file = join(directory, 'script.json')
  await writeFile(file, JSON.stringify({ log, ...script }))
  const stateHome = join(directory, 'state-home')
  const state = join(directory, 'state')
  const env = { XDG_STATE_HOME: stateHome }
  const agent = ['--', process.execPath, acpAgent, file]
  const start = (name: string, ...flags: string[]) =>
    shell.start(['run', '--name', name, ...flags, ...agent], { cwd: repo, env })
  const run = (...args: string[]) => shell.run(['run', ...args], { cwd: repo, env })
  // biome-ignore lint/suspicious/noExplicitAny: the agent's log is data
  const agentLog = async (): Promise<any[]> =>
    (await readFile(log, 'utf8').catch(() => ''))
      .split('\n')
      // The last line may not be written to its end yet.
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  const prompts = async () => (await agentLog()).filter(({ received }) => received?.method === 'session/prompt')
  return { service, shell, repo, state, stateHome, agent, start, run, agentLog, prompts, file, log }
}

const apps = async ({ owner }: RealService, name: string) =>
  (await owner.call('GET', '/agent-apps')).data.filter((app: { name: string }) => app.name === name)

test(
  'the first start registers and installs, later starts need no login, and only the owner can read the state',
  verifies(
    'run.first-start-registers-and-installs',
    'run.later-starts-need-no-login',
    'run.state-owner-only',
    'run.dirty-checkout-not-included',
  ),
  async () => {
    const here = await scene('owner')
    const { service } = here
    const { email, password } = service.owner
    // A login of its own, because this test ends it.
    const { token } = await service.owner.call('POST', '/auth/sign-in', { email, password })
    const config = join(here.shell.configDirectory, 'config.json')
    await writeFile(config, (await readFile(config, 'utf8')).replace(service.owner.token, token))
    await writeFile(join(here.repo, 'README.md'), 'Uncommitted\n')
    const first = here.start('Alpha')
    await first.says(/Alpha is ready/)
    expect(first.stderr).toContain('no sandbox')
    const dirty = `Uncommitted changes in ${here.repo} are not in the worktrees.`
    expect(first.stderr).toContain(dirty)
    const [app] = await apps(service, 'Alpha')
    expect(app).toMatchObject({
      webhook: { url: 'https://listen.invalid/' },
      redirect_uris: ['https://listen.invalid/'],
    })
    expect([...app.requested_scopes].sort()).toEqual(['app:assignable', 'app:mentionable', 'read'])
    const { data } = await service.owner.call('GET', '/installations')
    expect(data.find((one: { app_id: string }) => one.app_id === app.id)).toMatchObject({ all_teams: true })
    const { sessionId } = await service.delegate('Alpha')
    await service.inState(sessionId, 'complete')
    expect(await first.interrupt()).toMatchObject({ code: 0 })

    const host = new URL(service.url).host.replace(':', '-')
    const state = join(here.stateHome, 'baton', 'run', host, 'Alpha')
    const files = await readdir(state, { recursive: true })
    expect(files).toContain('journal.jsonl')
    for (const name of files.filter((one) => !one.startsWith('worktrees/'))) {
      const { mode } = await stat(join(state, name))
      expect([name, (mode & 0o777).toString(8)]).toEqual([name, name.includes('.') ? '600' : '700'])
    }

    const account = (method: string, path: string) =>
      fetch(`${service.url}/api/v1/auth/${path}`, { method, headers: { authorization: `Bearer ${token}` } })
    expect((await account('GET', 'me')).status).toBe(200)
    await account('POST', 'sign-out')
    expect((await account('GET', 'me')).status).toBe(401)
    await rm(here.shell.configDirectory, { recursive: true })
    await gitIn(here.repo, 'checkout', '--quiet', 'README.md')
    const second = here.start('Alpha')
    await second.says(/Alpha is ready/)
    expect(second.stderr).not.toContain('Uncommitted')
    const again = await service.delegate('Alpha')
    await service.inState(again.sessionId, 'complete')
    expect(second.stdout + second.stderr).not.toMatch(/svc_|pwhsec_/)
    await second.interrupt()
  },
)

test('--teams limits the installation', verifies('run.teams-flag-limits-installation'), async () => {
  const here = await scene('owner')
  await here.service.owner.call('POST', '/teams', { name: 'Operations', key: 'OPS' })
  const runner = here.start('Beta', '--teams', 'ENG')
  await runner.says(/Beta is ready/)
  const [app] = await apps(here.service, 'Beta')
  const { data } = await here.service.owner.call('GET', '/installations')
  expect(data.find((one: { app_id: string }) => one.app_id === app.id)).toMatchObject({
    all_teams: false,
    team_ids: [here.service.team.id],
  })
  await runner.interrupt()
})

test('a member requests the installation', verifies('run.request-when-not-manager'), async () => {
  const here = await scene('member')
  const plain = await here.run('--name', 'Gamma', ...here.agent)
  expect(plain).toMatchObject({ code: 1, stderr: expect.stringContaining('--request') })
  const asked = await here.run('--name', 'Gamma', '--request', ...here.agent)
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('Requested the installation') })
  const [app] = await apps(here.service, 'Gamma')
  const { data } = await here.service.owner.call('GET', '/installations')
  expect(data.filter((one: { app_id: string }) => one.app_id === app.id)).toEqual([])
  const inbox = await here.service.owner.call('GET', '/inbox')
  expect(JSON.stringify(inbox)).toContain(app.id)
})

/** Installs the app as a manager does on its page. Returns what is shown there, as a .env. */
async function installOnPage({ owner }: RealService, app: { id: string; client_id: string }) {
  const tokens = await owner.call('POST', `/agent-apps/${app.id}/install`, { all_teams: true })
  const settings = {
    APP_ID: app.id,
    CLIENT_ID: app.client_id,
    INSTALLATION_ID: tokens.installation_id,
    WORKSPACE_ID: tokens.workspace_id,
    APP_USER_ID: tokens.app_user_id,
    ACCESS_TOKEN: tokens.access_token,
    REFRESH_TOKEN: tokens.refresh_token,
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

test('a member runs the app with the tokens of the manager who installed it, and not before', async () => {
  const here = await scene('member')
  const { service } = here
  await here.run('--name', 'Nu', '--request', ...here.agent)
  const [app] = await apps(service, 'Nu')
  const file = join(await temporary(), 'nu.env')
  await writeFile(file, `APP_ID=${app.id}\nINSTALLATION_ID=ins_1\nREFRESH_TOKEN=prt_1\n`)
  const early = await here.run('--name', 'Nu', '--tokens', file, ...here.agent)
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('Nu is not installed in Acme yet') })

  const shown = await installOnPage(service, app)
  const without = await here.run('--name', 'Nu', '--request', ...here.agent)
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('--tokens FILE') })
  const wrong = await here.run('--name', 'Nu', '--tokens', file, ...here.agent)
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('does not have the tokens of Nu') })

  await writeFile(file, shown)
  const runner = here.start('Nu', '--tokens', file)
  await runner.says(/Nu is ready/)
  const { sessionId } = await service.delegate('Nu')
  await service.inState(sessionId, 'complete')
  expect(await runner.interrupt()).toMatchObject({ code: 0 })
  expect(runner.stdout + runner.stderr).not.toMatch(/svc_|prt_/)
  const later = here.start('Nu')
  await later.says(/Nu is ready/)
  await later.interrupt()
  expect(await apps(service, 'Nu')).toHaveLength(1)
})

test("a manager's run takes up a requested app only after installing it, and only before it has run", async () => {
  const member = await scene('member')
  const { service } = member
  await member.run('--name', 'Xi', '--request', ...member.agent)
  const [requested] = await apps(service, 'Xi')

  const early = await scene('owner')
  const own = early.start('Xi', '--state', early.state)
  await own.says(/Xi is ready/)
  expect(own.stderr).toContain(`registered Xi (${requested.id}), but it is not installed`)
  await own.interrupt()
  const [ownApp] = (await apps(service, 'Xi')).filter(({ id }: { id: string }) => id !== requested.id)
  const installed = async () =>
    (await service.owner.call('GET', '/installations')).data.map((one: { app_id: string }) => one.app_id)
  expect(await installed()).not.toContain(requested.id)
  await service.owner.call('DELETE', `/agent-apps/${ownApp.id}`)

  await installOnPage(service, requested)
  const first = await scene('owner')
  const taken = first.start('Xi', '--state', first.state)
  await taken.says(/Xi is ready/)
  expect(await apps(service, 'Xi')).toMatchObject([{ id: requested.id }])
  const { sessionId } = await service.delegate('Xi')
  await service.inState(sessionId, 'complete')
  await taken.interrupt()

  const late = await scene('owner')
  const another = late.start('Xi', '--state', late.state)
  await another.says(/Xi 2 is ready|Xi is ready/)
  await another.interrupt()
  expect(await apps(service, 'Xi')).toHaveLength(2)
})

test('a second runner on the same state is refused', verifies('run.second-runner-same-state-refused'), async () => {
  const here = await scene('owner')
  const first = here.start('Delta', '--state', here.state)
  await first.says(/Delta is ready/)
  const second = await here.run('--name', 'Delta', '--state', here.state, ...here.agent)
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`pid ${first.child.pid}`) })
  const { sessionId } = await here.service.delegate('Delta')
  await here.service.inState(sessionId, 'complete')
  await first.interrupt()
})

test('a replaced runner says by whom and exits', verifies('run.replaced-runner-exits'), async () => {
  const here = await scene('owner')
  const first = here.start('Epsilon', '--state', here.state)
  await first.says(/Epsilon is ready/)
  const listening = here.shell.start(['listen', '--app', 'Epsilon', '--forward-to', 'http://127.0.0.1:9/'])
  await listening.says(/Ready/)
  expect(await first.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('ann now listens to Epsilon') })
  await listening.interrupt()

  // Installed elsewhere, its access ends here.
  const again = here.start('Epsilon', '--state', here.state)
  await again.says(/Epsilon is ready/)
  const other = await scene('owner')
  const second = other.start('Epsilon', '--state', other.state)
  await second.says(/Epsilon is ready/)
  expect(await again.ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The access of Epsilon has ended'),
  })
  const { sessionId } = await here.service.delegate('Epsilon')
  await here.service.inState(sessionId, 'complete')
  expect(await here.prompts()).toEqual([])
  await second.interrupt()
})

test('without a repository nothing is registered', verifies('run.no-repository-exit-2'), async () => {
  const here = await scene('owner')
  const empty = await temporary()
  const none = await here.run('--name', 'Zeta', '--repo', empty, ...here.agent)
  expect(none).toMatchObject({ code: 2, stderr: expect.stringMatching(/--repo[\s\S]*--no-git/) })
  await gitIn(empty, 'init', '--quiet')
  const noCommit = await here.run('--name', 'Zeta', '--repo', empty, ...here.agent)
  expect(noCommit).toMatchObject({ code: 2, stderr: expect.stringMatching(/no commit[\s\S]*--repo[\s\S]*--no-git/) })
  expect(await apps(here.service, 'Zeta')).toEqual([])
})

test('SIGTERM ends a runner with 0', verifies('run.graceful-shutdown'), async () => {
  const here = await scene('owner', { turns: [[{ waitFor: '/nowhere/at/all' }]] })
  const runner = here.start('Eta')
  await runner.says(/Eta is ready/)
  const { sessionId } = await here.service.delegate('Eta')
  while ((await here.prompts()).length === 0) await sleep(50)
  runner.child.kill('SIGTERM')
  expect((await runner.ended).code).toBe(0)
  expect((await here.service.activities(sessionId)).at(-1).content.reason_code).toBe('runner_stopped')
  for (const { pid } of await here.agentLog()) expect(await isAlive(pid)).toBe(false)
})

test(
  'a killed runner reports the turn at its next start and ends the agent that was left',
  verifies('run.interrupted-turn-reported', 'run.no-prompt-twice', 'run.resume-or-load'),
  async () => {
    const capabilities = { loadSession: true, sessionCapabilities: { resume: {} } }
    const script = { capabilities, ignoreEnd: true, ignoreSignals: true }
    const here = await scene('owner', { ...script, turns: [[{ waitFor: '/nowhere/at/all' }]] })
    const first = here.start('Theta')
    await first.says(/Theta is ready/)
    const { sessionId } = await here.service.delegate('Theta')
    while ((await here.prompts()).length === 0) await sleep(50)
    const [{ pid }] = await here.agentLog()
    expect(await processesOf(here.stateHome)).toContain(String(pid))
    first.child.kill('SIGKILL')
    await first.ended
    expect(await isAlive(pid)).toBe(true)
    await writeFile(here.file, JSON.stringify({ log: here.log, ...script, turns: [[{ say: 'On.' }]] }))
    const second = here.start('Theta')
    await second.says(/Theta is ready/)
    await here.service.inState(sessionId, 'error')
    expect((await here.service.activities(sessionId)).at(-1).content.reason_code).toBe('runner_restarted')
    expect(await isAlive(pid)).toBe(false)
    expect(await here.prompts()).toHaveLength(1)
    await here.service.owner.call('POST', `/agent-sessions/${sessionId}/activities`, {
      content: { type: 'prompt', body: 'Continue.' },
    })
    await here.service.inState(sessionId, 'complete')
    const sent = await here.prompts()
    expect(sent[1].received.params.prompt[0].text).toBe('Continue.')
    const continued = (await here.agentLog()).flatMap(({ received }) =>
      /^session\/(resume|load)$/.test(received?.method) ? [received.method] : [],
    )
    expect(continued).toEqual(['session/resume'])
    await second.interrupt()
  },
)

test(
  'a runner that is killed while a question is open asks nothing again, and the old question is closed',
  verifies('run.interrupted-turn-reported', 'run.no-prompt-twice', 'run.checkout-untouched'),
  async () => {
    const options = [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ]
    const permission = { toolCall: { toolCallId: 'a', kind: 'execute', title: 'make' }, options }
    const here = await scene('owner', { ignoreEnd: true, turns: [[{ write: ['a.txt', 'a\n'] }, { permission }]] })
    const look = () => gitIn(here.repo, 'status', '--porcelain', '--branch')
    const before = await look()
    const first = here.start('Mu')
    await first.says(/Mu is ready/)
    const { sessionId } = await here.service.delegate('Mu')
    await here.service.inState(sessionId, 'awaitingInput')
    const question = (await here.service.activities(sessionId)).at(-1)
    first.child.kill('SIGKILL')
    await first.ended
    const second = here.start('Mu')
    await second.says(/Mu is ready/)
    await here.service.inState(sessionId, 'error')
    const restarted = (await here.service.activities(sessionId)).at(-1)
    expect(restarted.content.reason_code).toBe('runner_restarted')
    expect(await here.service.owner.call('GET', `/agent-sessions/${sessionId}/changes`)).toMatchObject({
      files_total: 1,
    })
    for (const { pid } of await here.agentLog()) expect(await isAlive(pid)).toBe(false)
    await here.service.owner.call('POST', `/agent-sessions/${sessionId}/activities`, {
      content: { type: 'prompt', body: 'Yes' },
      signal_metadata: { in_reply_to: question.id, selected: [question.signal_metadata.options[0].value] },
    })
    const isClosed = ({ content }: { content: { body?: string } }) => /no longer open/.test(content.body ?? '')
    while (!(await here.service.activities(sessionId)).some(isClosed)) await sleep(50)
    expect(await here.prompts()).toHaveLength(1)
    expect(await look()).toBe(before)
    await second.interrupt()
  },
)

test(
  'work that a killed runner had not begun is done by the next, once',
  verifies('run.unbegun-work-done-after-restart', 'run.no-prompt-twice'),
  async () => {
    const here = await scene('owner', { silent: ['initialize'] })
    const runners = ['initialize', 'session/new'].map((silent) => async () => {
      await writeFile(here.file, JSON.stringify({ log: here.log, silent: [silent] }))
      const runner = here.start('Lambda')
      await runner.says(/Lambda is ready/)
      return { runner, silent }
    })
    let sessionId = ''
    for (const begin of runners) {
      const { runner, silent } = await begin()
      if (sessionId === '') sessionId = (await here.service.delegate('Lambda')).sessionId
      const reached = async () => (await here.agentLog()).some(({ received }) => received?.method === silent)
      while (!(await reached())) await sleep(50)
      runner.child.kill('SIGKILL')
      await runner.ended
    }
    expect(await here.prompts()).toEqual([])
    await writeFile(here.file, JSON.stringify({ log: here.log, turns: [[{ say: 'Done.' }]] }))
    const last = here.start('Lambda')
    await last.says(/Lambda is ready/)
    await here.service.inState(sessionId, 'complete')
    expect(await here.prompts()).toHaveLength(1)
    await last.interrupt()
  },
)

async function processesOf(stateHome: string): Promise<string> {
  const names = await readdir(stateHome, { recursive: true })
  const file = names.find((name) => name.endsWith('processes.json'))
  return file ? readFile(join(stateHome, file), 'utf8') : ''
}

test(
  '--once ends with the result of one turn, and --issue opens the session',
  verifies('run.once-exit-codes'),
  async () => {
    const here = await scene('owner', { turns: [[{ say: 'Done.' }]] })
    const issue = await here.service.owner.call('POST', '/issues', {
      title: 'Mend the door',
      team_id: here.service.team.id,
    })
    const once = await here.run('--name', 'Iota', '--once', '--issue', issue.code, ...here.agent)
    expect(once.code).toBe(0)
    expect((await here.prompts())[0].received.params.prompt[0].text).toContain('Mend the door')
    await writeFile(here.file, JSON.stringify({ log: here.log, turns: [[{ stop: 'refusal' }]] }))
    const refused = await here.run('--name', 'Iota', '--once', '--issue', issue.code, ...here.agent)
    expect(refused.code).toBe(1)
  },
)

test('a service that is killed in a turn loses nothing that was said', async () => {
  const updates = Array.from({ length: 12 }, (_, n) => ({
    update: {
      sessionUpdate: 'tool_call',
      toolCallId: `call-${n}`,
      kind: 'execute',
      status: 'completed',
      rawInput: { command: `step ${n}` },
    },
  }))
  const here = await scene('owner', { turns: [[...updates, { say: 'Done.' }]] })
  const runner = here.start('Kappa')
  await runner.says(/Kappa is ready/)
  const { sessionId } = await here.service.delegate('Kappa')
  while ((await here.service.activities(sessionId)).filter(({ type }) => type === 'action').length < 2) await sleep(20)
  await here.service.restart()
  await here.service.inState(sessionId, 'complete')
  const actions = (await here.service.activities(sessionId)).filter(({ type }) => type === 'action')
  expect(actions.map(({ content }) => content.parameter)).toEqual(Array.from({ length: 12 }, (_, n) => `step ${n}`))
  await runner.interrupt()
})
