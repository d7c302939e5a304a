import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

interface AgentOptions {
  directory: string
  command: readonly [string, ...string[]]
  /** Read anew at each start. */
  env(): Record<string, string | undefined>
  on: {
    line(line: string, stream: 'stdout' | 'stderr'): void
    /** It ended by itself, and begins again after so long. */
    ended(how: string, pauseMs: number): void
  }
}

/** One that ran this long was well; its end begins a new count. */
const wellAfterMs = 10_000
const firstPauseMs = 500
const longestPauseMs = 8000
/** What is asked to end has this long for it. */
const patienceMs = 4000

/** The agent's own process: begun again when it ends, until it is stopped. */
export class AgentProcess {
  readonly #options: AgentOptions
  #child: ChildProcess | undefined
  #again: NodeJS.Timeout | undefined
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
    // The channel tells the agent when this process is gone (end-with-parent.ts).
    const child = spawn(program, args, { cwd: directory, env: env(), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    this.#child = child
    for (const stream of ['stdout', 'stderr'] as const) {
      const input = child[stream]
      if (input) createInterface({ input }).on('line', (line) => on.line(line, stream))
    }
    const ended = (how: string) => {
      if (this.#child !== child || this.#stopped) return
      this.#child = undefined
      this.#failures = performance.now() - startedAt > wellAfterMs ? 0 : this.#failures
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++)
      on.ended(how, pauseMs)
      this.#again = setTimeout(() => this.start(), pauseMs)
    }
    child.on('error', (error) => ended(error.message))
    child.on('close', (code, signal) => ended(signal ? `was ended by ${signal}` : `ended with ${code}`))
  }

  /** With what has been saved since. One after the other: two at once would leave one that nobody ends. */
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
    clearTimeout(this.#again)
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    const force = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    await closed
    clearTimeout(force)
  }
}
