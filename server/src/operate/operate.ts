import { once } from 'node:events'
import { type Config, readConfig } from '../config.ts'
import { DataDir, DataDirInUse } from '../db/data-dir.ts'
import { parseArguments } from './arguments.ts'
import { askService } from './client.ts'
import { type Answer, type Call, type Command, exitCodes, Refusal, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { openContext } from './open.ts'
import { answerOf, findCommand, problem } from './run-command.ts'
import { socketPath } from './socket.ts'

/** Runs an operator's command and returns the exit code. With `--json`, stdout is one JSON document. */
export async function operate(args: readonly string[], env: Record<string, string | undefined>): Promise<number> {
  const asJson = args.includes('--json')
  const [name, ...typed] = args.filter((arg) => arg !== '--json')
  const command = findCommand(commands, name)
  if (!command) {
    if (!asJson) console.error(usage())
    else print(problem(exitCodes.usage, name ? `There is no command ${name}.` : 'Name a command.'), { asJson })
    return exitCodes.usage
  }
  let wroteBytes = false
  const ended = new AbortController()
  const end = () => ended.abort(new Error('The command was ended.'))
  process.once('SIGINT', end).once('SIGTERM', end)
  const answer = await answerOf(async () => {
    const call = {
      arguments: parseArguments(command, typed),
      progress: (line: string) => console.error(line),
      async write(bytes: Buffer) {
        wroteBytes = true
        if (!process.stdout.write(bytes)) await once(process.stdout, 'drain')
      },
      signal: ended.signal,
    }
    const password = call.arguments.has('password-stdin') ? { password: await readPassword() } : {}
    return runHere(command, { ...call, ...password }, readConfig(env))
  })
    .catch((error: Error) => problem(exitCodes.failed, error.message))
    .finally(() => process.off('SIGINT', end).off('SIGTERM', end))
  print(answer, { asJson, toStderr: wroteBytes })
  if (answer.exit === exitCodes.usage && !asJson) console.error(`Usage: ${usageOf(command)}`)
  return answer.exit
}

async function runHere(command: Command, call: Omit<Call, 'config'>, config: Config): Promise<Answer> {
  if (command.needs === 'configuration') return command.run({ ...call, config })
  if (command.needs === 'stopped') {
    const dataDir =
      config.database.kind === 'embedded' ? await DataDir.open(config.database.dataDir).catch(mustStop) : null
    return command.run({ ...call, config, dataDir }).finally(() => dataDir?.close())
  }
  const socket = socketPath(config)
  const answer = socket && (await askService(socket, command.name, call))
  if (answer) return answer
  const { ctx, close } = await openContext(config, { unchecked: command.unchecked ?? false }).catch(inUse)
  return command.run({ ...call, config, ctx }).finally(close)
}

function mustStop(error: Error): never {
  if (!(error instanceof DataDirInUse)) throw error
  throw new Refusal(`${error.message}. This command works only while the service is stopped.`)
}

function inUse(error: Error): never {
  if (!(error instanceof DataDirInUse)) throw error
  throw new Refusal(`${error.message}. If it is starting, wait until it is ready and run the command again.`)
}

const maxPasswordBytes = 4096

/** The first line of stdin. */
async function readPassword(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.includes('\n') || text.length > maxPasswordBytes) break
  }
  const line = (text.split('\n')[0] as string).replace(/\r$/, '')
  if (line === '') throw new UsageError('--password-stdin: stdin has no password in its first line')
  return line
}

function print(
  { exit, json, text }: Required<Answer>,
  { asJson, toStderr = false }: { asJson: boolean; toStderr?: boolean },
) {
  const lines = asJson ? [JSON.stringify(json, null, 2)] : text
  const stderr = toStderr || (!asJson && 'error' in json && exit !== exitCodes.done)
  for (const line of lines) (stderr ? console.error : console.log)(line)
}

const usageOf = ({ name, usage }: Command) => `operate ${name} ${usage}`.trim()

const usage = () =>
  [
    'Usage: baton-server operate COMMAND [--json]    (in a checkout: npm run operate -- COMMAND)',
    '',
    ...commands.flatMap(({ name, usage, summary }) => [`${name} ${usage}`.trim(), `    ${summary}`]),
    '',
    'Run it with the settings of the service. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused.',
  ].join('\n')
