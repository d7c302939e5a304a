import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { TestPerson } from '../../server/test/harness.ts'

const bin = fileURLToPath(new URL('../bin/baton.mjs', import.meta.url))

/** A directory that is deleted after the test. */
export async function temporary(name = 'baton-cli-'): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), name))
  // Retries, because a child of an agent may still write there.
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return directory
}

/** Whether a process exists and has not ended. */
export async function isAlive(pid: number) {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return status !== null && !/^\d+ \(.*\) Z/.test(status)
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers freely
  json: () => any
}

export interface RunOptions {
  input?: string | Uint8Array
  cwd?: string
  env?: Record<string, string>
}

type Login = Pick<TestPerson, 'token' | 'workspaceId'> & { user: { email: string } }

/** Runs the built command with its own home directory. */
export class Shell {
  readonly home: string
  readonly cwd: string
  constructor(home: string) {
    this.home = home
    this.cwd = home
  }

  static async open(): Promise<Shell> {
    return new Shell(await temporary())
  }

  /** As after `baton login`, without running it. */
  static async of(person: Login, rootUrl: string): Promise<Shell> {
    const shell = await Shell.open()
    const { token, user, workspaceId } = person
    const workspace = { id: workspaceId, name: 'Acme' }
    const config = { current: rootUrl, logins: { [rootUrl]: { email: user.email, token, workspace } } }
    await mkdir(join(shell.home, 'config', 'baton'), { recursive: true })
    await writeFile(join(shell.home, 'config', 'baton', 'config.json'), JSON.stringify(config))
    return shell
  }

  get configDirectory() {
    return join(this.home, 'config', 'baton')
  }

  start(args: string[], options: RunOptions = {}): Running {
    return this.#spawn([process.execPath, bin, ...args], options)
  }

  /** Runs in a project that has the command as a dependency. */
  async startWithNpx(args: string[], options: RunOptions = {}): Promise<Running> {
    const binaries = join(options.cwd ?? this.cwd, 'node_modules', '.bin')
    await mkdir(binaries, { recursive: true })
    await symlink(bin, join(binaries, 'baton'))
    return this.#spawn(['npx', 'baton', ...args], options)
  }

  /** Runs at a terminal, provided by `script`; stdout contains both streams. */
  atTerminal(args: string[]): Running {
    const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
    return this.#spawn(['script', '--quiet', '--return', '--command', command, '/dev/null'], {})
  }

  #spawn([program = '', ...args]: string[], { cwd = this.cwd, env = {} }: RunOptions): Running {
    const { DATABASE_URL: _d, WEBHOOK_SECRET: _w, CLIENT_SECRET: _c, ...inherited } = process.env
    const child = spawn(program, args, {
      cwd,
      env: { ...inherited, HOME: this.home, XDG_CONFIG_HOME: join(this.home, 'config'), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const running = new Running(child)
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await running.ended
    })
    return running
  }

  async run(args: string[], options: RunOptions = {}): Promise<Ended> {
    const running = this.start(args, options)
    running.child.stdin?.on('error', () => {})
    running.child.stdin?.end(options.input ?? '')
    return running.ended
  }
}

/** A running command. */
export class Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''
  #onOutput: () => void = () => {}

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout?.on('data', (text) => {
      this.stdout += text
      this.#onOutput()
    })
    child.stderr?.on('data', (text) => {
      this.stderr += text
      this.#onOutput()
    })
    this.ended = once(child, 'close').then(([code]) => {
      const { stdout, stderr } = this
      this.#onOutput()
      return { code, stdout, stderr, json: () => JSON.parse(stdout) }
    })
  }

  /** Waits until the output matches. */
  async says(what: RegExp): Promise<void> {
    while (!what.test(this.stdout + this.stderr)) {
      const { exitCode, signalCode } = this.child
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`it ended without printing ${what}:\n${this.stdout}${this.stderr}`)
      }
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve
      })
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers freely
  lines(): any[] {
    return this.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  async interrupt(): Promise<Ended> {
    this.child.kill('SIGINT')
    return this.ended
  }
}
