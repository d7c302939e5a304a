import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

// Must not import a test runner: every suite starts processes with it.
// npm test bundles the server, because a bundle starts faster. A test that is run alone uses what the compiler wrote.
const built = process.env.BATON_TEST_BUNDLE ? 'bundle' : 'dist'
const main = fileURLToPath(new URL(`../${built}/main.js`, import.meta.url))

export const newDataDir = () => mkdtempSync(join(tmpdir(), 'baton-process-'))

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}

/** The built service in a separate process, as users run it. */
export class ServiceProcess {
  readonly child: ChildProcess
  readonly url: string
  output = ''
  readonly #ended: Promise<unknown>

  /** `program`: that of another version. */
  constructor(port: number, env: Record<string, string>, program = main) {
    // Not the settings of the test run, which the service would report as unknown.
    const inherited = Object.entries(process.env).filter(([name]) => !/^(BATON_|DATABASE_URL$)/.test(name))
    this.url = `http://127.0.0.1:${port}`
    this.child = spawn(process.execPath, [program], {
      env: { ...Object.fromEntries(inherited), PORT: String(port), BATON_DEMO: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    // In case the test run ends before it stops the process.
    const abandon = () => this.child.kill('SIGKILL')
    process.once('exit', abandon)
    this.#ended = once(this.child, 'close').finally(() => process.off('exit', abandon))
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (text) => {
        this.output += text
      })
    }
  }

  static async start(env: Record<string, string>): Promise<ServiceProcess> {
    const service = new ServiceProcess(await freePort(), env)
    try {
      await service.ready()
    } catch (error) {
      await service.kill('SIGKILL')
      throw error
    }
    return service
  }

  async ready() {
    for (let tries = 0; tries < 1200; tries++) {
      if (this.child.exitCode !== null) throw new Error(`the service ended: ${this.output}`)
      const response = await fetch(`${this.url}/readyz`).catch(() => undefined)
      if (response?.ok) return
      await sleep(50)
    }
    throw new Error(`the service did not become ready: ${this.output}`)
  }

  /** Waits until the process has ended, and returns its exit code. */
  async ended(): Promise<number | null> {
    await this.#ended
    return this.child.exitCode
  }

  async kill(signal: 'SIGTERM' | 'SIGKILL') {
    this.child.kill(signal)
    return this.ended()
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers freely
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<any> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.status === 204 ? undefined : response.json()
  }
}
