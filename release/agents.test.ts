import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Script, scriptedModel } from '../cli/test/agents/model.ts'
import { openCodeSettings } from '../cli/test/agents/settings.ts'
import { Shell, temporary } from '../cli/test/baton.ts'
import { verifies } from '../conformance/requirements.ts'
import { freePort, newDataDir, ServiceProcess } from '../server/test/service-process.ts'

const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
const sh = promisify(execFile)

interface Agent {
  command: (modules: string) => string[]
  flags: string[]
  /** The folder of its packages, set by scripts/test-agents.mjs. */
  modules: string | undefined
  /** The agent's own settings, which lead it to the model. */
  environment: (modelUrl: string, home: string) => Promise<Record<string, string>>
  /** A call of its tool for commands that it asks permission for. */
  run: (command: string) => { name: string; input: object }
}

const agents: Record<'opencode' | 'codex', Agent> = {
  opencode: {
    modules: process.env.BATON_OPENCODE,
    command: (modules) => [join(modules, `opencode-linux-${process.arch}`, 'bin', 'opencode'), 'acp'],
    flags: [],
    environment: async (url) => openCodeSettings(url),
    run: (command) => ({ name: 'bash', input: { command, description: 'Runs it' } }),
  },
  codex: {
    modules: process.env.BATON_CODEX,
    command: (modules) => [join(modules, '.bin', 'codex-acp')],
    // Other modes leave the decision to a model.
    flags: ['--mode', 'workspace-write'],
    async environment(url, home) {
      const directory = join(home, '.codex')
      await mkdir(directory, { recursive: true })
      const config = [
        'model = "m"',
        'model_provider = "scripted"',
        'approvals_reviewer = "user"',
        '[model_providers.scripted]',
        'name = "Scripted"',
        `base_url = "${url}"`,
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
      ]
      await writeFile(join(directory, 'config.toml'), config.join('\n'))
      return { CODEX_HOME: directory, SCRIPTED_KEY: 'none', NO_BROWSER: '1' }
    },
    run: (cmd) => ({
      name: 'exec_command',
      input: { cmd, sandbox_permissions: 'require_escalated', justification: 'The file is needed.' },
    }),
  },
}

async function startService() {
  const dataDir = newDataDir()
  const service = new ServiceProcess(await freePort(), { BATON_DATA_DIR: dataDir })
  await service.ready()
  const { token } = await service.call('POST', '/auth/sign-up', ann)
  const authorization = { authorization: `Bearer ${token}` }
  const { id } = await service.call('POST', '/workspaces', { name: 'Acme' }, authorization)
  const headers = { ...authorization, 'x-workspace-id': id }
  const call = (method: string, path: string, body?: unknown) => service.call(method, path, body, headers)
  const team = await call('POST', '/teams', { name: 'Engineering', key: 'ENG' })
  return {
    url: service.url,
    call,
    async end() {
      await service.kill('SIGKILL')
      await rm(dataDir, { recursive: true, force: true })
    },
    /** Delegates a new issue, and returns its session. */
    async delegate(title: string, agentId: string) {
      const issue = await call('POST', '/issues', { title, team_id: team.id, delegate_id: agentId })
      const { data } = await call('GET', `/agent-sessions?issue_id=${issue.id}`)
      return data[0].id as string
    },
  }
}

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.end())

interface Activity {
  type: string
  content: { body?: string; parameter?: string }
  ephemeral: boolean
}

const activities = async (session: string): Promise<Activity[]> =>
  (await service.call('GET', `/agent-sessions/${session}/activities?limit=100`)).data

/** Waits until the session's activities match, and returns them. */
async function until(session: string, isEnough: (found: Activity[]) => boolean) {
  for (;;) {
    const found = await activities(session)
    if (isEnough(found)) return found
    await sleep(100)
  }
}

const count = (type: string, times: number) => (found: Activity[]) =>
  found.filter((activity) => activity.type === type).length >= times

const say = (session: string, body: string) =>
  service.call('POST', `/agent-sessions/${session}/activities`, { content: { type: 'prompt', body } })

async function repository() {
  const directory = await temporary()
  const git = (...args: string[]) =>
    sh('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], { cwd: directory })
  await git('init', '--quiet', '--initial-branch', 'main')
  await writeFile(join(directory, 'door.txt'), 'green\n')
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'Add the door')
  return directory
}

const chosen = Object.entries(agents).flatMap(([name, { modules, ...agent }]) =>
  modules ? [{ name, modules, agent }] : [],
)

describe.for(chosen)('$name', ({ name, modules, agent }) => {
  test(
    'works on a delegated issue, asks, goes on after a restart, answers a follow-up, and stops',
    verifies('run.real-agents-in-tests'),
    async () => {
      const script: Script = (prompt, answered) => {
        if (/Paint the door/.test(prompt)) {
          if (answered === 0) return { say: 'I paint it.', call: agent.run('echo red > door.txt') }
          return { say: 'The door is red.' }
        }
        if (/How is it/.test(prompt)) return { say: 'It is drying.' }
        if (/Wait/.test(prompt)) return { say: 'I wait.', call: agent.run('sleep 3171') }
        return { say: 'Here I am again.' }
      }
      const model = await scriptedModel(script)
      onTestFinished(model.close)
      const shell = await Shell.open()
      const login = ['login', '--url', service.url, '--email', ann.email, '--password-stdin']
      expect(await shell.run(login, { input: ann.password })).toMatchObject({ code: 0 })
      const repo = await repository()
      const env = await agent.environment(model.url, shell.home)
      const start = () =>
        shell.start(['run', '--name', name, ...agent.flags, '--', ...agent.command(modules)], { cwd: repo, env })
      let runner = start()
      await runner.says(/is ready/)

      // Delegation, a question, the diff.
      const { data: found } = await service.call('GET', `/agents?include_apps=true&query=${name}`)
      expect(found).toMatchObject([{ display_name: name, listening: true }])
      const session = await service.delegate('Paint the door', found[0].id)
      const asked = await until(session, count('elicitation', 1))
      expect(asked.find(({ type }) => type === 'elicitation')).toMatchObject({ signal: 'select' })
      expect(await readFile(join(repo, 'door.txt'), 'utf8')).toBe('green\n')
      await say(session, '1')
      const done = await until(session, count('response', 1))
      expect(done.find(({ type }) => type === 'response')?.content.body).toContain('The door is red.')
      expect(done.filter(({ type, ephemeral }) => type === 'action' && !ephemeral)).toMatchObject([
        { content: { action: 'run', parameter: expect.stringContaining('echo red > door.txt') } },
      ])
      const changes = await service.call('GET', `/agent-sessions/${session}/changes`)
      expect(changes).toMatchObject({ files_total: 1, additions: 1, deletions: 1, files: [{ path: 'door.txt' }] })
      expect(changes.files[0].patch).toContain('+red')

      // A follow-up.
      await say(session, 'How is it?')
      const followed = await until(session, count('response', 2))
      expect(followed.findLast(({ type }) => type === 'response')?.content.body).toContain('It is drying.')

      // A restart of the runner.
      expect(await runner.interrupt()).toMatchObject({ code: 0 })
      runner = start()
      await runner.says(/is ready/)
      await say(session, 'Are you there?')
      const again = await until(session, count('response', 3))
      expect(again.findLast(({ type }) => type === 'response')?.content.body).toContain('Here I am again.')

      // A running command is shown, and Stop ends it.
      await say(session, 'Wait for me')
      await until(session, count('elicitation', 2))
      await say(session, '1')
      await running('sleep 3171', true)
      await until(session, (found) =>
        found.some(({ ephemeral, content }) => ephemeral && content.parameter?.includes('sleep 3171')),
      )
      await service.call('POST', `/agent-sessions/${session}/stop`)
      await until(session, count('response', 4))
      await running('sleep 3171', false)
      expect((await sh('git', ['status', '--porcelain'], { cwd: repo })).stdout).toBe('')
      expect(await runner.interrupt()).toMatchObject({ code: 0 })
    },
  )
})

/** Waits until a process with this command line is there, or is gone. */
async function running(command: string, wanted: boolean) {
  for (;;) {
    const found = await sh('pgrep', ['--full', '--exact', command]).then(
      () => true,
      () => false,
    )
    if (found === wanted) return
    await sleep(100)
  }
}
