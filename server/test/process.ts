import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { inject } from 'vitest'
import { openEmbedded } from '../src/db/embedded.ts'
import { withDatabase } from './template.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export const newDataDir = () => mkdtempSync(join(tmpdir(), 'baton-process-'))

/** With an empty, migrated database in it, which a process opens sooner than it makes one. */
export async function filledDataDir() {
  const dir = newDataDir()
  if (process.env.DATABASE_URL) return dir
  const template = new Blob([readFileSync(inject('template'))])
  await (await openEmbedded({ dataDir: join(dir, 'db'), loadDataDir: template })).close()
  return dir
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}

/** On the server that DATABASE_URL leads to. */
export async function withEmptyDatabase(work: (url: string) => Promise<void>) {
  const url = process.env.DATABASE_URL as string
  const name = `baton_process_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${name}`)
  try {
    await work(withDatabase(url, name))
  } finally {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
}

/** The service as its users run it: a process of its own, from the build. */
export class ServiceProcess {
  readonly child: ChildProcess
  readonly url: string
  output = ''
  readonly #ended: Promise<unknown>

  constructor(port: number, env: Record<string, string>) {
    const { DATABASE_URL: _, ...inherited } = process.env
    this.url = `http://127.0.0.1:${port}`
    this.child = spawn(process.execPath, [main], {
      env: { ...inherited, PORT: String(port), BATON_DEMO: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#ended = once(this.child, 'close')
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
    for (let tries = 0; tries < 600; tries++) {
      if (this.child.exitCode !== null) throw new Error(`the service ended: ${this.output}`)
      const response = await fetch(`${this.url}/readyz`).catch(() => undefined)
      if (response?.ok) return
      await sleep(50)
    }
    throw new Error(`the service did not become ready: ${this.output}`)
  }

  /** Its exit code, once it has ended by itself. */
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
