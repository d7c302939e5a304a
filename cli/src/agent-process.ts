import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

interface AgentOptions {
  directory: string
  command: readonly [string, ...string[]]
  /** Called at each start. */
  env(): Record<string, string | undefined>
  on: {
    line(line: string, stream: 'stdout' | 'stderr'): void
    /** The process ended although it was not stopped, and restarts after `pauseMs`. */
    ended(how: string, pauseMs: number): void
  }
}

/** A process that ran this long was stable: its end counts as the first failure. */
const stableAfterMs = 10_000
const firstPauseMs = 500
const longestPauseMs = 8000
/** Time between SIGTERM and SIGKILL. */
const killAfterMs = 4000

/** The agent's process, restarted when it ends, until `stop`. */
export class AgentProcess {
  readonly #options: AgentOptions
  #child: ChildProcess | undefined
  #restartTimer: NodeJS.Timeout | undefined
  #stopped = false
  #failures = 0
  #restarted: Promise<void> = Promise.resolve()

  constructor(options: AgentOptions) {
    this.#options = options
  }

  start() {
    const { directory, command, env, on } = this.#options
    const [program, ...args] = command
    const startedAt = performance.now()
    // The IPC channel closes when this process ends, which ends the agent (end-with-parent.ts).
    const child = spawn(program, args, { cwd: directory, env: env(), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    this.#child = child
    for (const stream of ['stdout', 'stderr'] as const) {
      const input = child[stream]
      if (input) createInterface({ input }).on('line', (line) => on.line(line, stream))
    }
    const ended = (how: string) => {
      if (this.#child !== child || this.#stopped) return
      this.#child = undefined
      this.#failures = performance.now() - startedAt > stableAfterMs ? 0 : this.#failures
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++)
      on.ended(how, pauseMs)
      this.#restartTimer = setTimeout(() => this.start(), pauseMs)
    }
    child.on('error', (error) => ended(error.message))
    child.on('close', (code, signal) => ended(signal ? `was ended by ${signal}` : `exited with code ${code}`))
  }

  /** Restarts are sequential: two at once would leave a process that is never ended. */
  restart(): Promise<void> {
    this.#failures = 0
    this.#restarted = this.#restarted.then(async () => {
      await this.#end()
      if (!this.#stopped) this.start()
    })
    return this.#restarted
  }

  async stop() {
    this.#stopped = true
    await this.#restarted
    await this.#end()
  }

  async #end() {
    clearTimeout(this.#restartTimer)
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    const force = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    await closed
    clearTimeout(force)
  }
}
