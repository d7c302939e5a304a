// Processes that are restarted whenever they exit.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, StepFailed } from '../scripts/setup.mjs'

const main = fileURLToPath(new URL('../server/dist/main.js', import.meta.url))
const stagedWorker = fileURLToPath(new URL('worker.mjs', import.meta.url))
/** Creating an embedded database takes most of it on a busy machine. */
const readyWithinMs = 240_000
const stdio = ['ignore', 'pipe', 'pipe']
/** Enough for an error with its stack. */
const linesKept = 20
const all = new Set()

/** Stops all processes without a restart. Also called when this process exits early. */
export function stopAll() {
  for (const one of all) one.stop()
}
process.once('exit', stopAll)

/** Counts the errors that all processes logged, and records unexpected exits. */
export class Journal {
  errors = new Map()
  unexpectedEnds = []

  read(line) {
    if (!line.includes('"level":50')) return
    const { msg, message, route, error } = JSON.parse(line)
    const text = [msg ?? route, message ?? error?.message ?? error].filter(Boolean).join(': ')
    this.errors.set(text, (this.errors.get(text) ?? 0) + 1)
  }
}

class Process {
  ready = false
  #name
  #journal
  #child
  #ended
  #killed = false
  #stopped = false
  #lastLines = []

  constructor(name, journal) {
    this.#name = name
    this.#journal = journal
    all.add(this)
  }

  start() {
    this.ready = false
    this.#killed = false
    this.#lastLines = []
    const child = this.spawn()
    this.#child = child
    this.#ended = once(child, 'exit').then(() => this.#restart())
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (line) => {
        this.#lastLines = [...this.#lastLines.slice(1 - linesKept), line]
        this.#journal.read(line)
      })
    }
    void this.untilUp(child).then(() => {
      // The restarted process uses the same port, and may have answered instead of this one.
      if (child === this.#child) this.ready = isAlive(child)
    })
  }

  #restart() {
    if (this.#stopped) return
    if (!this.#killed) {
      const { exitCode, signalCode } = this.#child
      const text = `${this.#name} exited with ${exitCode ?? signalCode}: ${this.#lastLines.join(' | ')}`
      this.#journal.unexpectedEnds.push({ wasReady: this.ready, text })
    }
    this.start()
  }

  async untilReady() {
    const deadline = Date.now() + readyWithinMs
    while (!this.ready) {
      if (Date.now() > deadline)
        throw new StepFailed(`${this.#name} does not become ready: ${this.#lastLines.join('\n')}`)
      await sleep(10)
    }
  }

  /** Resolves when the process is dead and its restart has begun. */
  async kill() {
    this.#killed = true
    const ended = this.#ended
    this.#child.kill('SIGKILL')
    await ended
  }

  /** Resolves when the process exits. Returns whether it killed itself at that point. */
  async endAt(point) {
    this.#killed = true
    const [child, ended] = [this.#child, this.#ended]
    child.send(point)
    await ended
    return child.signalCode === 'SIGKILL'
  }

  /** Resident memory. */
  get megabytes() {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
  }

  /** Sends SIGTERM. Returns the exit code. */
  async end() {
    this.#stopped = true
    this.#child.kill('SIGTERM')
    await this.#ended
    return this.#child.exitCode
  }

  stop() {
    this.#stopped = true
    this.#child?.kill('SIGKILL')
    all.delete(this)
  }
}

/** The service in one of its roles, as in production. */
export class Service extends Process {
  #env
  #port
  #role

  constructor(role, number, journal, env) {
    super(`${role} ${number}`, journal)
    this.#role = role
    this.#env = env
  }

  static async start(...args) {
    const service = new Service(...args)
    service.#port = await freePort()
    service.start()
    return service
  }

  get role() {
    return this.#role
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`
  }

  spawn() {
    const env = { ...process.env, ...this.#env, BATON_ROLE: this.#role, PORT: String(this.#port) }
    return spawn(process.execPath, [main], { env, stdio })
  }

  async untilUp(child) {
    while (isAlive(child)) {
      const answer = await fetch(`${this.url}/readyz`).catch(() => undefined)
      if (answer?.ok) return
      await sleep(25)
    }
  }
}

/** A worker that can kill itself at a chosen point. */
export class StagedWorker extends Process {
  #env

  constructor(number, journal, env) {
    super(`staged worker ${number}`, journal)
    this.#env = env
    this.start()
  }

  spawn() {
    return fork(stagedWorker, { env: { ...process.env, ...this.#env }, stdio: [...stdio, 'ipc'] })
  }

  async untilUp(child) {
    await Promise.race([once(child, 'message'), once(child, 'exit')])
  }
}

const isAlive = ({ exitCode, signalCode }) => exitCode === null && signalCode === null
