import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endGroup, killAfterMs, killGroup } from './process-group.ts'

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
/** After SIGKILL, only a process that left the group can keep the output open. */
const closeAfterKillMs = 500

const supervisor = fileURLToPath(new URL('supervise.js', import.meta.url))

/** A started command and all processes that it started. */
interface Group {
  leader: ChildProcess
  /** Resolves when all of them have ended. */
  closed: Promise<unknown>
  /** Why the command could not be started. */
  failed: string | null
}

/** The agent's command in its own process group, restarted when it ends, until `stop`. */
export class AgentProcess {
  readonly #options: AgentOptions
  #group: Group | undefined
  #restartTimer: NodeJS.Timeout | undefined
  #stopped = false
  #failures = 0
  #restarted: Promise<void> = Promise.resolve()

  constructor(options: AgentOptions) {
    this.#options = options
  }

  start() {
    const { directory, command, env, on } = this.#options
    const startedAt = performance.now()
    const leader = spawn(process.execPath, [supervisor, ...command], {
      cwd: directory,
      env: env(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: process.platform !== 'win32',
    })
    const closed = new Promise((resolve) => leader.once('close', resolve))
    const group: Group = { leader, closed, failed: null }
    this.#group = group
    for (const stream of ['stdout', 'stderr'] as const) {
      const input = leader[stream]
      if (input) createInterface({ input }).on('line', (line) => on.line(line, stream))
    }
    const ended = (how: string) => {
      if (this.#group !== group || this.#stopped) return
      this.#failures = performance.now() - startedAt > stableAfterMs ? 0 : this.#failures
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++)
      on.ended(group.failed ?? how, pauseMs)
      clearTimeout(this.#restartTimer)
      this.#restartTimer = setTimeout(() => this.#replace(), pauseMs)
    }
    leader.on('message', ({ failed }: { failed: string }) => {
      group.failed = `could not be started: ${failed}`
    })
    leader.on('error', ({ message }) => ended(`could not be started: ${message}`))
    leader.on('exit', (code, signal) => ended(signal ? `was ended by ${signal}` : `exited with code ${code}`))
  }

  restart(): Promise<void> {
    this.#failures = 0
    return this.#replace()
  }

  async stop() {
    this.#stopped = true
    await this.#restarted
    await this.#end()
  }

  /** One at a time: two at once would leave a process that is never ended. */
  #replace(): Promise<void> {
    clearTimeout(this.#restartTimer)
    this.#restarted = this.#restarted.then(async () => {
      await this.#end()
      if (!this.#stopped) this.start()
    })
    return this.#restarted
  }

  /** Ends the whole group and waits until it has ended, so that its port is free. */
  async #end() {
    clearTimeout(this.#restartTimer)
    const { leader, closed } = this.#group ?? {}
    this.#group = undefined
    if (leader?.pid === undefined) return
    endGroup(leader.pid)
    const hasClosed = await Promise.race([closed, sleep(killAfterMs, false, { ref: false })])
    // Also those whose output goes elsewhere.
    killGroup(leader.pid)
    if (hasClosed === false) await Promise.race([closed, sleep(closeAfterKillMs, false, { ref: false })])
    leader.stdout?.destroy()
    leader.stderr?.destroy()
  }
}
