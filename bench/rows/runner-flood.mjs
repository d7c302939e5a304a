// baton run with an agent that sends 2,000 updates a second for a minute: the runner's memory, and the time from the
// agent's last update to its last word on the issue. A request that the service limited (429) fails the row.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { environmentOf, serviceProgram, startProgram } from '../setting.mjs'

const seconds = 60
const updatesASecond = 2000

export const rows = [
  {
    name: 'runner: peak memory at 2,000 updates a second',
    unit: 'MB',
    better: 'less',
    target: 300,
    absolute: true,
    floorIs: 'the runner before it',
  },
  {
    name: 'runner: last word after 2,000 updates a second',
    unit: 's',
    better: 'less',
    target: 10,
    absolute: true,
    floorIs: 'after one update',
  },
]

export const ownDatabase = true

const root = fileURLToPath(new URL('../../', import.meta.url))
const person = { email: 'ann@example.com', password: 'a password', name: 'Ann' }

export async function run(where) {
  const home = mkdtempSync(join(tmpdir(), 'baton-flood-'))
  const service = await startProgram(serviceProgram, { ...environmentOf(where), BATON_API_RATE: undefined })
  try {
    return await measure(service.url, home)
  } finally {
    await service.stop()
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

async function measure(url, home) {
  const headers = { 'content-type': 'application/json' }
  const call = async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  headers.authorization = `Bearer ${(await call('POST', '/auth/sign-up', person)).token}`
  headers['x-workspace-id'] = (await call('POST', '/workspaces', { name: 'Bench' })).id
  const team = await call('POST', '/teams', { name: 'Bench', key: 'BEN' })
  const { runner, setFlood, endedAt } = await startRunner(url, home)
  try {
    const { data } = await call('GET', '/agents?include_apps=true&query=Flood')
    const lastWord = async (title, count) => {
      setFlood(count)
      const issue = await call('POST', '/issues', { title, team_id: team.id, delegate_id: data[0].id })
      for (;;) {
        await sleep(200)
        const [session] = (await call('GET', `/agent-sessions?issue_id=${issue.id}`)).data
        if (session?.state === 'error') throw new Error(`the session failed: ${JSON.stringify(session)}`)
        if (session?.state === 'complete') return (Date.now() - endedAt()) / 1000
      }
    }
    const alone = await lastWord('One update', 1)
    const before = peakMemory(runner.pid)
    const flooded = await lastWord('A flood', seconds * updatesASecond)
    const limited = /^baton_http_request_duration_seconds_count\{[^}]*status="429"[^}]*\} [1-9]/m
    if (limited.test(await (await fetch(`${url}/metrics`)).text())) throw new Error('the service limited a request')
    return [
      { ours: peakMemory(runner.pid), floor: before },
      { ours: flooded, floor: alone },
    ]
  } finally {
    runner.kill('SIGINT')
    await once(runner, 'close')
  }
}

async function startRunner(url, home) {
  const repo = join(home, 'repo')
  const [script, ended] = [join(home, 'script.json'), join(home, 'ended')]
  mkdirSync(repo)
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], { cwd: repo })
  git('init', '--quiet', '--initial-branch', 'main')
  git('commit', '--quiet', '--allow-empty', '--message', 'Begin')
  const update = {
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call-1',
    status: 'in_progress',
    content: [{ type: 'content', content: { type: 'text', text: 'line {n} '.repeat(20) } }],
  }
  const begin = { sessionUpdate: 'tool_call', toolCallId: 'call-1', kind: 'execute', title: 'Count', status: 'pending' }
  const setFlood = (count) => {
    const flood = { count, rate: updatesASecond, update }
    const steps = [{ update: begin }, { flood }, { say: 'Done.' }, { write: [ended, ''] }, { stop: 'end_turn' }]
    rmSync(ended, { force: true })
    writeFileSync(script, JSON.stringify({ turns: [steps] }))
  }
  setFlood(1)
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_STATE_HOME: join(home, 'state') }
  const baton = (...args) =>
    spawn(process.execPath, [join(root, 'cli/bin/baton.mjs'), ...args], {
      cwd: repo,
      env,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
  const login = baton('login', '--url', url, '--email', person.email, '--password-stdin')
  login.stdin.end(person.password)
  await once(login, 'close')
  const runner = baton('run', '--name', 'Flood', '--', process.execPath, join(root, 'cli/test/acp-agent.mjs'), script)
  let printed = ''
  runner.stderr.on('data', (text) => {
    printed = (printed + text).slice(-10_000)
  })
  while (!/is ready/.test(printed)) {
    if (runner.exitCode !== null) throw new Error(`the runner ended: ${printed}`)
    await sleep(50)
  }
  return { runner, setFlood, endedAt: () => (existsSync(ended) ? statSync(ended).mtimeMs : Date.now()) }
}

/** The most resident memory that a process has had, in MB. */
const peakMemory = (pid) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
