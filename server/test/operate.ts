import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArguments } from '../src/operate/arguments.ts'
import type { Command } from '../src/operate/command.ts'
import { commands } from '../src/operate/commands.ts'
import { answerOf, findCommand } from '../src/operate/run-command.ts'
import type { TestApp } from './harness.ts'

/** Runs a command on the database of a test's service, as the service does for its socket. */
export function runCommand({ ctx }: Pick<TestApp, 'ctx'>, [name, ...typed]: string[], password?: string) {
  return answerOf(async () => {
    const command = findCommand(commands, name) as Command
    if (command.needs !== 'database') throw new Error(`${name} does not run in a service`)
    return command.run({
      ctx,
      config: ctx.config,
      arguments: parseArguments(command, typed),
      ...(password === undefined ? {} : { password }),
      progress: () => {},
      write: async () => {},
      signal: new AbortController().signal,
    })
    // Tests reach into answers freely.
    // biome-ignore lint/suspicious/noExplicitAny: see above
  }) as Promise<{ exit: number; json: any; text: string[] }>
}

// npm test bundles the server, as npm start does. A test that is run alone uses what the compiler wrote.
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const program = file(process.env.BATON_TEST_BUNDLE ? '../../scripts/operate.mjs' : 'operate-program.mjs')

/** Runs `npm run operate` in its own process, with these settings only. */
export function startOperate(args: string[], env: Record<string, string>, as: { uid?: number } = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(BATON_|DATABASE_URL$)/.test(name))
  const child = spawn(process.execPath, [program, ...args], {
    ...as,
    env: { ...Object.fromEntries(inherited), ...env },
  })
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (text) => {
      output.stdout += text
    })
    child.stderr.on('data', (text) => {
      output.stderr += text
    })
    child.on('close', (code) => resolve({ code, ...output }))
  })
  return { child, ended }
}

export function operate(args: string[], env: Record<string, string>, stdin = '') {
  const { child, ended } = startOperate(args, env)
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  return ended
}
