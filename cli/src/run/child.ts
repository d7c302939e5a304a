import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, extname, join } from 'node:path'
import { identify, killAll, type ProcessId, withDescendants } from './processes.ts'
import { eachLine } from './text.ts'

export interface ChildOptions {
  command: readonly string[]
  cwd: string
  env: Record<string, string | undefined>
  /** The command is one line for a shell. */
  shell?: boolean
  /** A line of stderr. */
  log(line: string): void
  /** A process was found. Resolves when it is written down, so that a later runner can end it. */
  noted(child: Child): Promise<void>
  ended(child: Child): void
}

/** How the process ended, in words. */
export interface Exit {
  code: number | null
  words: string
}

/** A process of an agent, and every process that it started. */
export class Child {
  readonly process: ChildProcess
  /** Resolves when the process itself has ended. */
  readonly exited: Promise<Exit>
  /** Resolves when the process is written down. It gets no work before. */
  readonly noted: Promise<void>
  exit: Exit | null = null
  /** Neither the process nor a known descendant is left. */
  isGone = false
  readonly #known = new Map<string, ProcessId>()
  #noting: Promise<void> | null = null
  readonly #noted: ChildOptions['noted']

  constructor({ command, cwd, env, shell = false, log, noted, ended }: ChildOptions) {
    this.#noted = noted
    const [program = '', ...args] = shell ? command : resolveCommand(command, env)
    this.process = spawn(program, args, {
      cwd,
      env,
      shell,
      stdio: ['pipe', 'pipe', 'pipe'],
      // Its own group, so that Ctrl-C reaches the runner alone, which then ends the turns in order.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    let failed: string | null = null
    this.exited = new Promise((resolve) => {
      const done = (exit: Exit) => {
        if (this.exit) return
        this.exit = exit
        resolve(exit)
        ended(this)
      }
      this.process.on('error', (error) => {
        failed = `could not be started: ${error.message}`
        if (this.process.pid === undefined) done({ code: null, words: failed })
      })
      this.process.on('exit', (code, signal) =>
        done({ code, words: failed ?? (signal ? `was ended by ${signal}` : `ended with exit code ${code}`) }),
      )
    })
    this.process.stdin?.on('error', () => {})
    if (this.process.stderr) eachLine(this.process.stderr, log)
    const { pid } = this.process
    this.noted = pid === undefined ? Promise.resolve() : identify(pid).then((id) => (id ? this.#note(id) : undefined))
  }

  /** The processes that are known to belong to it. */
  get known(): ProcessId[] {
    return [...this.#known.values()]
  }

  #note(id: ProcessId): Promise<void> | undefined {
    const key = `${id.pid} ${id.born}`
    if (this.#known.has(key)) return
    this.#known.set(key, id)
    return this.#noted(this)
  }

  /**
   * Notes all descendants. Called while the agent works: one whose parent has ended can no longer be found later, and
   * may have left the process group.
   */
  async noteDescendants(): Promise<void> {
    const { pid } = this.process
    if (pid === undefined) return
    this.#noting ??= Promise.all([pid, ...this.known.map((one) => one.pid)].map(withDescendants))
      .then((lists) => {
        for (const id of lists.flat()) void this.#note(id)
      })
      .finally(() => {
        this.#noting = null
      })
    await this.#noting
  }

  signal(name: NodeJS.Signals) {
    const { pid } = this.process
    if (pid === undefined || this.exit) return
    try {
      if (process.platform === 'win32') this.process.kill(name)
      else process.kill(-pid, name)
    } catch {
      // It has just ended.
    }
  }

  /** Ends it and all its descendants. */
  async kill(): Promise<void> {
    const { pid } = this.process
    if (pid === undefined) return
    await this.noteDescendants()
    if (process.platform !== 'win32') {
      try {
        process.kill(-pid, 'SIGKILL')
      } catch {
        // The group is empty.
      }
    }
    await killAll(process.platform === 'win32' ? [{ pid, born: '' }] : this.known)
    await this.exited
    this.isGone = true
    this.process.stdout?.destroy()
    this.process.stderr?.destroy()
  }
}

type Env = Record<string, string | undefined>

/**
 * Node cannot start the `.cmd` files that npm installs on Windows without a shell, which would interpret the arguments.
 * They only call node with a script, which is then started directly.
 */
export function resolveCommand(command: readonly string[], env: Env, platform = process.platform): string[] {
  const [program = '', ...args] = command
  if (platform !== 'win32') return [program, ...args]
  const file = findOnWindows(program, env)
  if (!file || !/\.(cmd|bat)$/i.test(file)) return [file ?? program, ...args]
  const [, script] = /"%(?:~dp0|dp0%)\\([^"]+\.[cm]?js)"/i.exec(readFileSync(file, 'utf8')) ?? []
  if (!script) throw new Error(`${file} is a batch file, which cannot be started without a shell.`)
  return [process.execPath, join(dirname(file), ...script.split('\\')), ...args]
}

function findOnWindows(program: string, env: Env): string | null {
  const endings = extname(program) ? [''] : (env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';')
  const directories = /[\\/]/.test(program) ? [''] : (env.PATH ?? env.Path ?? '').split(delimiter)
  for (const directory of directories) {
    for (const ending of endings) {
      const path = directory ? join(directory, program + ending) : program + ending
      if (existsSync(path)) return path
    }
  }
  return null
}
