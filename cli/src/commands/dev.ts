import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AgentApp } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { AgentProcess } from '../agent-process.ts'
import { account, type Call, type Command, count, positionals, text } from '../command.ts'
import { readEnv, readEnvSync, type Settings, updateEnv } from '../env-file.ts'
import { Failure } from '../failure.ts'
import { parseObject, readIfExists } from '../files.ts'
import { logIn } from '../log-in.ts'
import { readManifest } from '../manifest.ts'
import { commandName } from '../origin.ts'
import { runsTypeScript } from '../project.ts'
import { ensureInstalled, ensureRegistered } from '../registration.ts'
import { relay } from '../relay.ts'
import { relayFailure, relayOutput } from '../relay-output.ts'
import { clientSecretWorks, wrongSecret } from '../secrets.ts'
import { watchSources } from '../watch.ts'

export const dev: Command = {
  name: 'dev',
  summary: 'register, install and run the agent in this directory',
  usage: ['[--port N] [-- COMMAND …]'],
  about: `Registers the app of manifest.json or updates it, installs it with your login, writes .env, forwards its
deliveries to localhost, and runs main of package.json, or COMMAND. Restarts it when it ends or a source
file, .env or manifest.json is saved.`,
  example: 'dev',
  options: {
    ...account,
    port: { type: 'string', value: 'N', about: 'port of the agent (default: PORT in .env, or 4000)' },
    path: { type: 'string', value: 'PATH', about: 'path of its webhook (default: /webhook)' },
  },
  async run(call) {
    positionals(call.args)
    const directory = process.cwd()
    const command = await commandOf(call, directory)
    const account = await logInIfNeeded(call)
    const { app, settings } = await prepare(call, account, directory)
    await refuseTakenPort(Number(settings.PORT))
    await runAgent(call, { directory, command, account, app, settings })
  },
}

type Program = readonly [string, ...string[]]

async function commandOf({ rest }: Call, directory: string): Promise<Program> {
  const [program, ...args] = rest
  if (program) return [program, ...args]
  const text = await readIfExists(join(directory, 'package.json'))
  const { main } = (text === null ? {} : parseObject('package.json', text)) as { main?: unknown }
  if (typeof main !== 'string') {
    throw new Failure('There is no agent here: package.json has no main.', {
      code: 'NO_AGENT',
      advice: `Create one with \`${commandName} init my-agent\`, then run \`${commandName} dev\` in its directory.`,
    })
  }
  try {
    createRequire(join(directory, main)).resolve('@baton/sdk')
  } catch {
    throw new Failure('@baton/sdk is not installed here.', { code: 'NOT_INSTALLED', advice: 'Run `npm install`.' })
  }
  return [process.execPath, ...typescriptLoader(directory, main), main]
}

/** Arguments for Node that let it run `main`: none for JavaScript, or if Node runs TypeScript itself. */
function typescriptLoader(directory: string, main: string): string[] {
  if (!/\.[cm]?ts$/.test(main) || runsTypeScript()) return []
  try {
    return ['--import', pathToFileURL(createRequire(join(directory, main)).resolve('tsx')).href]
  } catch {
    throw new Failure(`Node ${process.versions.node} cannot run ${main}, and tsx is not installed here.`, {
      code: 'NO_TYPESCRIPT',
      advice: 'Run `npm install tsx`, or use Node 22.18 or later.',
    })
  }
}

async function logInIfNeeded(call: Call): Promise<Account> {
  try {
    return await currentAccount(call)
  } catch (error) {
    const canAsk = process.stdin.isTTY && error instanceof Failure && error.code === 'NOT_LOGGED_IN'
    if (!canAsk) throw error
    await logIn(call)
    return currentAccount(call)
  }
}

/** Writes what the agent needs to .env and the directory of tokens. */
async function prepare(call: Call, account: Account, directory: string) {
  const note = (message: string) => call.terminal.note(message)
  const file = join(directory, '.env')
  const before = await readEnv(file)
  const manifest = await readManifest(join(directory, 'manifest.json'))
  const { app, settings: known } = await ensureRegistered(account, manifest, before, note)
  const PORT = String(count(call, 'port', 1, Number(before.PORT) || 4000))
  const settings = { TOKENS: './tokens', ...before, ...known, PORT }
  // Now, before another step can fail: the secrets cannot be read again.
  await updateEnv(file, { ...known, PORT, TOKENS: settings.TOKENS })
  if (!(await clientSecretWorks(account.url, app.client_id, known.CLIENT_SECRET ?? ''))) {
    throw new Failure(wrongSecret('client', app), { code: 'WRONG_CLIENT_SECRET' })
  }
  const tokensDirectory = resolve(directory, settings.TOKENS)
  await ensureInstalled(account, { app, settings, tokensDirectory }, { note, signal: call.signal })
  return { app, settings }
}

/** Otherwise the agent could not start, and its deliveries would go to the program that has the port. */
async function refuseTakenPort(port: number) {
  const server = createServer()
  try {
    await once(server.listen(port), 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new Failure(`Port ${port} is used by another program, perhaps by another agent.`, {
      code: 'PORT_TAKEN',
      advice: 'End that program, or choose another port with --port.',
    })
  } finally {
    server.close()
  }
}

const replacedAdvice = `The agent has ended too. End the other command and run \`${commandName} dev\` again; it needs no \`${commandName} listen\`.`

interface Run {
  directory: string
  command: Program
  account: Account
  app: AgentApp
  settings: Settings
}

async function runAgent(call: Call, { directory, command, account, app, settings }: Run) {
  const { terminal, signal } = call
  const currentSettings = () => ({ ...settings, ...readEnvSync(join(directory, '.env')) })
  const agent = new AgentProcess({
    directory,
    command,
    env: () => ({ ...process.env, ...currentSettings() }),
    on: {
      line: (line, stream) =>
        terminal.event({ event: 'output', stream, line }, `${terminal.paint('cyan', 'agent |')} ${line}`),
      ended: (how, pauseMs) => terminal.note(`The agent ${how}. Restarting it in ${pauseMs / 1000} s.`),
    },
  })
  const unwatch = await watchSources(directory, () => {
    terminal.note('A file was saved; restarting the agent.')
    void agent.restart()
  })
  const forwardTo = `http://localhost:${settings.PORT}${text(call, 'path') ?? '/webhook'}`
  try {
    agent.start()
    terminal.note(`${app.name} is running in ${account.workspace.name}. Delegate an issue to it. Ctrl-C stops it.`)
    const on = relayOutput(terminal, {
      prefix: `${terminal.paint('dim', 'baton |')} `,
      app,
      secret() {
        const { WEBHOOK_SECRET: value } = currentSettings()
        return value ? { value, file: '.env' } : null
      },
    })
    const ended = await relay({ account, appId: app.id, forwardTo, takeOver: false, retryRefused: true, signal, on })
    if (ended.end !== 'interrupted') throw relayFailure(ended, app, replacedAdvice)
  } finally {
    unwatch()
    await agent.stop()
  }
}
