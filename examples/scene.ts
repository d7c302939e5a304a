import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test as base } from 'vitest'
import { ownDatabase } from '../server/test/empty-databases.ts'
import { freePort, ServiceProcess } from '../server/test/service-process.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))

type Call = (method: string, path: string, body?: unknown) => ReturnType<ServiceProcess['call']>

/** A service with a user and a team, and one example, run as its README describes. */
export class Scene {
  readonly ada: Call
  readonly teamId: string
  output = ''
  readonly directory: string
  readonly #env: Record<string, string>
  #running: ChildProcess | undefined

  constructor(ada: Call, teamId: string, directory: string, env: Record<string, string>) {
    this.ada = ada
    this.teamId = teamId
    this.directory = directory
    this.#env = env
  }

  get url() {
    return `http://localhost:${this.#env.PORT}/`
  }

  async setUp() {
    await promisify(execFile)('npm', ['run', 'setup'], this.#options())
  }

  /** Runs a setup that fails and returns its error message. */
  async setUpFailure(env: Record<string, string> = {}): Promise<string> {
    const { cwd, env: usual } = this.#options()
    const tried = promisify(execFile)('npm', ['run', '--silent', 'setup'], { cwd, env: { ...usual, ...env } })
    const { code, stderr } = await tried.catch((error) => error)
    if (code !== 1) throw new Error(`it exited with ${code ?? 0}`)
    return stderr
  }

  async start() {
    this.output = ''
    const child = spawn('npm', ['start'], { ...this.#options(), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        this.output += text
      })
    }
    this.#running = child
    await this.prints('Listening on')
  }

  async stop() {
    const child = this.#running
    if (!child?.pid || child.exitCode !== null) return
    const ended = once(child, 'close')
    process.kill(-child.pid, 'SIGTERM') // npm and the example it runs
    await ended
  }

  /** Waits until the example has printed this. */
  prints = (text: string) => until(() => this.output.includes(text), `${text} in ${this.output}`)

  /** Delegates a new issue to the agent and returns its session. */
  async delegate(title: string) {
    const [{ app_user_id }] = (await this.ada('GET', '/installations')).data
    const issue = await this.ada('POST', '/issues', { title, team_id: this.teamId, delegate_id: app_user_id })
    const [session] = (await this.ada('GET', `/agent-sessions?issue_id=${issue.id}`)).data
    return new Conversation(this, issue.id, session.id)
  }

  #options() {
    return { cwd: this.directory, env: { ...process.env, ...this.#env } }
  }
}

/** A session, read and written as the user. */
export class Conversation {
  readonly issueId: string
  readonly #scene: Scene
  readonly #path: string

  constructor(scene: Scene, issueId: string, id: string) {
    this.#scene = scene
    this.issueId = issueId
    this.#path = `/agent-sessions/${id}`
  }

  prompt = (body: string, signal_metadata?: object) =>
    this.#scene.ada('POST', `${this.#path}/activities`, {
      content: { type: 'prompt', body },
      ...(signal_metadata && { signal_metadata }),
    })

  activities = async () => (await this.#scene.ada('GET', `${this.#path}/activities`)).data
  session = () => this.#scene.ada('GET', this.#path)
  stop = () => this.#scene.ada('POST', `${this.#path}/stop`)

  /** Waits until the session is in this state and returns its activities. */
  async reaches(state: string) {
    await until(async () => (await this.session()).state === state, `${state}; it printed ${this.#scene.output}`)
    return this.activities()
  }
}

async function until(condition: () => boolean | Promise<boolean>, what: string) {
  for (let tries = 0; tries < 600; tries++) {
    if (await condition()) return
    await sleep(50)
  }
  throw new Error(`timed out waiting for ${what}`)
}

/** Copies the example, so that tests neither leave files in its directory nor overwrite a user's. */
function copyOf(example: string) {
  mkdirSync(cache, { recursive: true })
  const copy = mkdtempSync(join(cache, 'example-'))
  cpSync(join(here, 'set-up.mjs'), join(copy, 'set-up.mjs'))
  cpSync(join(here, example), join(copy, example), { recursive: true, filter: (path) => !/\.env$|tokens$/.test(path) })
  return copy
}

let users = 0

async function createScene(example: string, service: ServiceProcess, copy: string) {
  const account = { email: `ada-${++users}@example.com`, password: 'a password' }
  const { token } = await service.call('POST', '/auth/sign-up', { ...account, name: 'Ada' })
  const authorization = `Bearer ${token}`
  const workspace = await service.call('POST', '/workspaces', { name: 'Acme' }, { authorization })
  const ada: Call = (method, path, body) =>
    service.call(method, path, body, { authorization, 'x-workspace-id': workspace.id })
  const team = await ada('POST', '/teams', { name: 'Engineering', key: 'ENG' })
  return new Scene(ada, team.id, join(copy, example), {
    BATON_URL: service.url.replace('127.0.0.1', 'localhost'),
    BATON_EMAIL: account.email,
    BATON_PASSWORD: account.password,
    PORT: String(await freePort()),
  })
}

/** Each worker has one service for all examples; each example has its own user and workspace. */
const withService = base.extend<{ service: ServiceProcess }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const { env, remove } = await ownDatabase()
      const service = await ServiceProcess.start({ ...env, BATON_WEBHOOK_ALLOW: 'localhost' })
      await use(service)
      await service.kill('SIGTERM')
      await remove()
    },
    { scope: 'worker' },
  ],
})

export const testOf = (example: string) =>
  withService.extend<{ scene: Scene }>({
    scene: async ({ service }, use) => {
      const copy = copyOf(example)
      const scene = await createScene(example, service, copy)
      await use(scene)
      await scene.stop()
      rmSync(copy, { recursive: true, force: true })
    },
  })
