import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AgentApp } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { findApp, listApps, listenUrl } from '../apps.ts'
import { account, appOption, type Call, type Command, positionals, requiredOption, text } from '../command.ts'
import { readEnvSync, updateEnv } from '../env-file.ts'
import { Failure, UsageError } from '../failure.ts'
import { commandName } from '../origin.ts'
import { relay } from '../relay.ts'
import { relayFailure, relayOutput } from '../relay-output.ts'
import { scopeWords } from '../scope-words.ts'
import { httpUrl } from '../urls.ts'

export const linear: Command = {
  name: 'linear',
  summary: 'register and run an agent that was written for Linear',
  usage: [
    'register --name NAME --webhook-url URL [--redirect-uri URI] [--write FILE]',
    '[--forward-to URL] -- COMMAND …',
  ],
  about: `register creates an app that uses Linear's API. It shows LINEAR_CLIENT_ID, LINEAR_CLIENT_SECRET,
LINEAR_WEBHOOK_SECRET and LINEAR_API_URL, or writes them to a file. An http webhook URL on this machine is
reached with --forward-to.
Otherwise runs COMMAND, a Node program, so that its calls of Linear's API reach Baton. Its environment has the
settings in .env of this directory, except those that are set already.
With --forward-to, deliveries of the app come to this machine as with \`listen\`.`,
  example: 'linear --forward-to http://localhost:4000/webhook -- node agent.js',
  options: {
    ...account,
    name: { type: 'string', value: 'NAME', about: 'name of the app' },
    'webhook-url': { type: 'string', value: 'URL', about: 'where the agent receives events' },
    'redirect-uri': {
      type: 'string',
      value: 'URI',
      about: 'where OAuth returns to (default: https://localhost/callback)',
    },
    write: { type: 'string', value: 'FILE', about: 'settings file, such as .env' },
    app: appOption,
    'forward-to': { type: 'string', value: 'URL', about: 'URL of the agent on this machine' },
    'take-over': { type: 'boolean', about: 'receive the deliveries of an app with another URL' },
  },
  async run(call) {
    const [verb, ...args] = call.args
    if (verb === 'register') return register({ ...call, args })
    if (verb !== undefined) throw new UsageError(`There is no command \`linear ${verb}\`.`)
    await runAgent(call)
  },
}

const isLoopback = (url: string) => /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/?]|$)/.test(url)

async function register(call: Call) {
  positionals(call.args)
  const name = requiredOption(call, 'name', 'a name for the app')
  const webhookUrl = httpUrl(requiredOption(call, 'webhook-url', 'the URL where the agent receives events'))
  const redirectUri = text(call, 'redirect-uri') ?? 'https://localhost/callback'
  const { client, url, workspace } = await currentAccount(call)
  const registered = await client.createAgentApp({
    schemaVersion: '1.0.0',
    name,
    developer: { name: workspace.name.length > 1 ? workspace.name : `Workspace ${workspace.name}` },
    compat: 'linear',
    oauth: {
      // Manifests have https only; at /linear it matches http on this machine too.
      redirect_uris: [isLoopback(redirectUri) ? redirectUri.replace('http:', 'https:') : redirectUri],
      scopes: Object.keys(scopeWords) as (keyof typeof scopeWords)[],
    },
    webhook: { url: isLoopback(webhookUrl) ? listenUrl : webhookUrl },
  })
  const settings = {
    LINEAR_CLIENT_ID: registered.client_id,
    LINEAR_CLIENT_SECRET: registered.client_secret,
    LINEAR_WEBHOOK_SECRET: registered.webhook_secret,
    LINEAR_API_URL: `${url}/linear/graphql`,
  }
  const file = text(call, 'write')
  if (file !== undefined) await updateEnv(file, settings)
  const { client_secret: _c, webhook_secret: _w, ...withoutSecrets } = registered
  const lines = file
    ? [`${Object.keys(settings).join(', ')} written to ${file}.`]
    : ['Shown only once:', ...Object.entries(settings).map(([key, value]) => `  ${key}=${value}`)]
  if (isLoopback(webhookUrl)) {
    lines.push(`Run the agent with \`${commandName} linear --forward-to ${webhookUrl} -- COMMAND\` to receive events.`)
  }
  call.terminal.result(
    file ? { ...withoutSecrets, written: file } : { ...registered, settings },
    [`Registered ${registered.app.name} as ${registered.app.id}.`, ...lines].join('\n'),
  )
}

const preload = fileURLToPath(new URL('../../bin/linear-preload.cjs', import.meta.url))

async function runAgent(call: Call) {
  const [program, ...args] = call.rest
  if (!program) throw new UsageError('Give the command of the agent after --.')
  const forwardTo = text(call, 'forward-to')
  const target = forwardTo === undefined ? undefined : httpUrl(forwardTo)
  const account = await currentAccount(call)
  const stop = new AbortController()
  const signal = AbortSignal.any([call.signal, stop.signal])
  const relaying = target === undefined ? undefined : forward(call, account, target, signal)
  const env: NodeJS.ProcessEnv = { ...readEnvSync('.env'), ...process.env }
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: {
      ...env,
      BATON_LINEAR_URL: account.url,
      NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(preload)}`.trim(),
    },
  })
  const onAbort = () => child.kill('SIGTERM')
  call.signal.addEventListener('abort', onAbort)
  try {
    const failed = new Promise<never>((_resolve, reject) => child.once('error', reject))
    const relayFailed = relaying ? relaying.then(() => new Promise<never>(() => {})) : new Promise<never>(() => {})
    const [code] = (await Promise.race([once(child, 'exit'), failed, relayFailed])) as [number | null]
    process.exitCode = code ?? 1
  } catch (error) {
    child.kill('SIGTERM')
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Failure(`${program} cannot be started.`)
    throw error
  } finally {
    call.signal.removeEventListener('abort', onAbort)
    stop.abort()
    await relaying?.catch(() => {})
  }
}

async function forward(call: Call, account: Account, forwardTo: string, signal: AbortSignal) {
  const app = await findLinearApp(call, account)
  call.terminal.note(`Listening for ${app.name} in ${account.workspace.name}; forwarding to ${forwardTo}`)
  const { LINEAR_WEBHOOK_SECRET: value } = readEnvSync('.env')
  const on = relayOutput(call.terminal, { app, secret: () => (value ? { value, file: '.env' } : null) })
  const takeOver = call.values['take-over'] === true
  const ended = await relay({ account, appId: app.id, forwardTo, takeOver, signal, on })
  if (ended.end !== 'interrupted') throw relayFailure(ended, app, 'End the other command and run this one again.')
}

/** The app of --app, or of LINEAR_CLIENT_ID. */
async function findLinearApp(call: Call, account: Account): Promise<AgentApp> {
  const clientId = process.env.LINEAR_CLIENT_ID ?? readEnvSync('.env').LINEAR_CLIENT_ID
  if (text(call, 'app') !== undefined || !clientId) return findApp(call, account)
  const found = (await listApps(account)).find(({ client_id }) => client_id === clientId)
  if (!found) throw new Failure(`There is no app with the client id ${clientId} in ${account.workspace.name}.`)
  return found
}
