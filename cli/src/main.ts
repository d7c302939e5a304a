import { type Call, type Command, parse, split } from './command.ts'
import { apps } from './commands/apps.ts'
import { changes } from './commands/changes.ts'
import { deliveries } from './commands/deliveries.ts'
import { dev } from './commands/dev.ts'
import { doctor } from './commands/doctor.ts'
import { importCommand } from './commands/import.ts'
import { init } from './commands/init.ts'
import { linear } from './commands/linear.ts'
import { listen } from './commands/listen.ts'
import { login } from './commands/login.ts'
import { run } from './commands/run.ts'
import { trigger } from './commands/trigger.ts'
import { verify } from './commands/verify.ts'
import { endWithNpm } from './end-with-npm.ts'
import { explain, UsageError } from './failure.ts'
import { helpOf, overview } from './help.ts'
import { commandName } from './origin.ts'
import { Terminal } from './terminal.ts'
import { version } from './version.ts'

const commands: readonly Command[] = [
  login,
  run,
  changes,
  init,
  dev,
  listen,
  trigger,
  deliveries,
  verify,
  doctor,
  apps,
  importCommand,
  linear,
]

/** 128 + SIGINT, as in shells. */
const interrupted = 130

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.stderr.on('error', () => {})

process.exitCode = await main(process.argv.slice(2))

async function main([name, ...argv]: string[]): Promise<number> {
  const terminal = new Terminal(split(argv).own.includes('--json'))
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return overviewOrHelp(argv[0])
  if (name === '--version' || name === '-v') return print(`${version}\n`)
  const command = commands.find((one) => one.name === name)
  const controller = new AbortController()
  try {
    if (!command) throw new UsageError(`There is no command ${name}.`)
    const { values, args, rest } = parse(argv, command.options)
    if (values.help) return print(helpOf(command))
    onInterrupt(controller)
    endWithNpm()
    const call: Call = { args, rest, values, terminal, signal: controller.signal }
    await command.run(call)
    return process.exitCode === undefined ? 0 : Number(process.exitCode)
  } catch (error) {
    if (controller.signal.aborted) return interrupted
    return fail(error, terminal, command ? `${commandName} ${command.name}` : commandName)
  }
}

function overviewOrHelp(name: string | undefined): number {
  const command = commands.find((one) => one.name === name)
  return print(command ? helpOf(command) : overview(commands))
}

function print(text: string) {
  process.stdout.write(text)
  return 0
}

function fail(error: unknown, terminal: Terminal, command: string): number {
  const { exitCode, code, message, advice, details } = explain(error, command)
  terminal.note(advice ? `${message}\n${advice}` : message)
  if (terminal.json) terminal.result({ error: { code, message, ...(details ? { details } : {}) } }, '')
  return exitCode
}

/** The first Ctrl-C stops the command gracefully, the second at once. */
function onInterrupt(controller: AbortController) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(interrupted)
      controller.abort(new Error('Interrupted.'))
    })
  }
}
