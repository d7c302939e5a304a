import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { AgentApp } from '@baton/sdk'
import { type Account, accountOf } from '../account.ts'
import { AgentProcess } from '../agent-process.ts'
import { account, type Call, type Command, count, positionals, text } from '../command.ts'
import { changeEnv, readEnv, readEnvNow, type Settings } from '../env-file.ts'
import { Failure } from '../failure.ts'
import { objectIn, readIfThere } from '../files.ts'
import { installedHere, registered } from '../registration.ts'
import { relay } from '../relay.ts'
import { watchSources } from '../watch.ts'
import { manifestAt } from './apps.ts'
import { over, reporting } from './listen.ts'
import { logIn } from './login.ts'

export const dev: Command = {
  name: 'dev',
  summary: 'run the agent in this directory, registered, installed and with its deliveries',
  usage: ['[--port N] [-- COMMAND …]'],
  about: `Registers the app of manifest.json or finds it, installs it with your login, writes .env, hands its deliveries to
localhost, and runs what package.json names as main, again whenever a file is saved or it ends. COMMAND takes its place.`,
  example: 'baton dev',
  options: {
    ...account,
    port: { type: 'string', value: 'N', about: 'where the agent listens; PORT of .env, or 4000' },
    path: { type: 'string', value: 'PATH', about: 'path of its webhook; /webhook if left out' },
  },
  async run(call) {
    positionals(call.args)
    const directory = process.cwd()
    const command = await commandOf(call, directory)
    const account = await loggedIn(call)
    const { app, settings } = await prepared(call, account, directory)
    await running(call, { directory, command, account, app, settings })
  },
}

type Program = readonly [string, ...string[]]

async function commandOf({ rest }: Call, directory: string): Promise<Program> {
  const [program, ...args] = rest
  if (program) return [program, ...args]
  const text = await readIfThere(join(directory, 'package.json'))
  const { main } = (text === null ? {} : objectIn('package.json', text)) as { main?: unknown }
  if (typeof main !== 'string') {
    throw new Failure('There is no agent here: package.json names no main.', {
      code: 'NO_AGENT',
      advice: '`baton init my-agent` begins one; then `baton dev` in its directory.',
    })
  }
  try {
    createRequire(join(directory, main)).resolve('@baton/sdk')
  } catch {
    throw new Failure('@baton/sdk is not installed here.', { code: 'NOT_INSTALLED', advice: 'Run `npm install`.' })
  }
  return [process.execPath, '--import', new URL('../end-with-parent.js', import.meta.url).href, main]
}

async function loggedIn(call: Call): Promise<Account> {
  try {
    return await accountOf(call)
  } catch (error) {
    const canAsk = process.stdin.isTTY && error instanceof Failure && error.code === 'NOT_LOGGED_IN'
    if (!canAsk) throw error
    await logIn(call)
    return accountOf(call)
  }
}

/** Everything the agent needs before it runs, in .env and the tokens' directory. */
async function prepared(call: Call, account: Account, directory: string) {
  const note = (words: string) => call.terminal.note(words)
  const file = join(directory, '.env')
  const before = await readEnv(file)
  const manifest = await manifestAt(join(directory, 'manifest.json'))
  const { app, settings: known } = await registered(account, manifest, before, note)
  const PORT = String(count(call, 'port', 1, Number(before.PORT) || 4000))
  const settings = { TOKENS: './tokens', ...before, ...known, PORT }
  // Before anything else can fail: the secrets are shown once.
  await changeEnv(file, { ...known, PORT, TOKENS: settings.TOKENS })
  const tokensDirectory = resolve(directory, settings.TOKENS)
  await installedHere(account, { app, settings, tokensDirectory }, { note, signal: call.signal })
  return { app, settings }
}

const getItBack =
  'The agent has ended with it. End the other, and run `baton dev` again; it hands deliveries on by itself, without `baton listen`.'

interface Run {
  directory: string
  command: Program
  account: Account
  app: AgentApp
  settings: Settings
}

async function running(call: Call, { directory, command, account, app, settings }: Run) {
  const { terminal, signal } = call
  const agent = new AgentProcess({
    directory,
    command,
    env: () => ({ ...process.env, ...settings, ...readEnvNow(join(directory, '.env')) }),
    on: {
      line: (line, stream) =>
        terminal.event({ event: 'output', stream, line }, `${terminal.paint('cyan', 'agent |')} ${line}`),
      ended: (how, pauseMs) => terminal.note(`The agent ${how}. Starting it again in ${pauseMs / 1000} s.`),
    },
  })
  const unwatch = await watchSources(directory, () => {
    terminal.note('Something was saved; starting the agent again.')
    void agent.restart()
  })
  const forwardTo = `http://localhost:${settings.PORT}${text(call, 'path') ?? '/webhook'}`
  try {
    agent.start()
    terminal.note(`${app.name} runs in ${account.workspace.name}. Delegate an issue to it; Ctrl-C ends all.`)
    const on = reporting(terminal, `${terminal.paint('dim', 'baton |')} `)
    const ended = await relay({ account, appId: app.id, forwardTo, takeOver: false, patient: true, signal, on })
    if (ended.end !== 'interrupted') throw over(ended, app, getItBack)
  } finally {
    unwatch()
    await agent.stop()
  }
}
