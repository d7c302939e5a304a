import { join, resolve } from 'node:path'
import type { AgentApp } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { findNamedApp, findTeams, listApps, type NamedTeam, rotateSecret } from '../apps.ts'
import { ask, isInteractive } from '../ask.ts'
import { account, type Call, type Command, positionals, text } from '../command.ts'
import { readEnv, updateEnv } from '../env-file.ts'
import { Failure, UsageError } from '../failure.ts'
import { indent } from '../help.ts'
import { install } from '../install.ts'
import { readManifest } from '../manifest.ts'
import { commandName } from '../origin.ts'
import { scopeWords } from '../scope-words.ts'
import { clientSecretWorks, wrongSecret } from '../secrets.ts'
import { table } from '../terminal.ts'

export const apps: Command = {
  name: 'apps',
  summary: 'list, register, show and install agent apps, rotate their secrets',
  usage: [
    '',
    'register MANIFEST [--env FILE]',
    'show [APP]',
    'rotate client|webhook [APP] [--env FILE]',
    'install [APP]',
  ],
  about: `APP is a name or an id. Default: APP_ID in .env (or --env), or the only app.
With --env, secrets are written to that file and not shown.
install approves the app with your login, so you must be an owner or admin. It reads CLIENT_SECRET from --env
(default: .env) or the environment and stores the tokens in --tokens. At a terminal it shows the requested scopes and
asks for confirmation, except with --yes or --json.`,
  example: 'apps register manifest.json --env .env',
  options: {
    ...account,
    env: { type: 'string', value: 'FILE', about: 'settings file, such as .env' },
    teams: { type: 'string', value: 'KEYS', about: 'install for these teams only, for example ENG,OPS' },
    tokens: { type: 'string', value: 'DIRECTORY', about: 'directory for tokens (default: ./tokens)' },
    yes: { type: 'boolean', about: 'install without confirmation' },
    request: { type: 'boolean', about: 'request installation from the managers instead' },
  },
  async run(call) {
    const [verb, ...args] = call.args
    const run = verbs[verb ?? 'list']
    if (!run) throw new UsageError(`There is no command \`apps ${verb}\`.`)
    await run({ ...call, args })
  },
}

const verbs: Record<string, (call: Call) => Promise<void>> = {
  list,
  register,
  show,
  rotate,
  install: installApp,
}

async function list(call: Call) {
  positionals(call.args)
  const found = await listApps(await currentAccount(call))
  const rows = found.map(({ id, name, webhook, listener }) => [
    id,
    name,
    webhook.state,
    listener ? `listener: ${listener.user.name}` : webhook.url,
  ])
  call.terminal.result(
    found,
    rows.length > 0 ? table(rows) : `No apps. Register one with \`${commandName} apps register\`.`,
  )
}

async function register(call: Call) {
  const [path = ''] = positionals(call.args, 'MANIFEST')
  const manifest = await readManifest(path)
  const { client, url } = await currentAccount(call)
  const registered = await client.createAgentApp(manifest)
  const { app, client_id, client_secret, webhook_secret } = registered
  const secrets = { CLIENT_SECRET: client_secret, WEBHOOK_SECRET: webhook_secret }
  const settings = { BATON_URL: url, APP_ID: app.id, CLIENT_ID: client_id, ...secrets }
  const shown = await saveSecrets(call, settings)
  const { client_secret: _c, webhook_secret: _w, ...withoutSecrets } = registered
  call.terminal.result(
    shown ? registered : withoutSecrets,
    [`Registered ${app.name} as ${app.id}.`, ...secretLines(shown, settings)].join('\n'),
  )
}

/** Secrets are returned only once: writes them to the file given by --env. Returns whether to show them instead. */
async function saveSecrets(call: Call, settings: Record<string, string>): Promise<boolean> {
  const file = text(call, 'env')
  if (file === undefined) return true
  await updateEnv(file, settings)
  call.terminal.note(`${Object.keys(settings).join(', ')} written to ${file}.`)
  return false
}

const secretLines = (shown: boolean, settings: Record<string, string>) =>
  shown ? ['Shown only once:', ...Object.entries(settings).map(([name, value]) => `  ${name}=${value}`)] : []

async function show(call: Call) {
  const [named] = positionals(call.args, 'APP?')
  const app = await findNamedApp(call, await currentAccount(call), named)
  call.terminal.result(app, describe(app))
}

function describe(app: AgentApp): string {
  const { webhook, listener } = app
  return table([
    ['id', app.id],
    ['name', app.name],
    ['client id', app.client_id],
    ['scopes', app.requested_scopes.join(' ')],
    ['redirects', app.redirect_uris.join(' ')],
    ['webhook', webhook.url ? `${webhook.url} (${webhook.state})` : 'none'],
    ['events', ['AgentSessionEvent', ...webhook.resource_types].join(' ')],
    ['listener', listener ? `${listener.user.name} since ${listener.since}` : 'none'],
  ])
}

async function rotate(call: Call) {
  const [which, named] = positionals(call.args, 'client or webhook', 'APP?')
  if (which !== 'client' && which !== 'webhook') throw new UsageError(`${which} must be client or webhook.`)
  const account = await currentAccount(call)
  const { id, name, client_id } = await findNamedApp(call, account, named)
  const about = { BATON_URL: account.url, APP_ID: id, CLIENT_ID: client_id }
  const secret = await rotateSecret(account, id, which)
  const shown = await saveSecrets(call, { ...about, ...secret })
  call.terminal.result(
    { app_id: id, rotated: which, ...(shown ? secret : {}) },
    [`${name} has a new ${which} secret. The old one no longer works.`, ...secretLines(shown, secret)].join('\n'),
  )
}

async function installApp(call: Call) {
  const [named] = positionals(call.args, 'APP?')
  const account = await currentAccount(call)
  const app = await findNamedApp(call, account, named)
  if (call.values.request) {
    await account.client.requestInstall({ app_id: app.id })
    return call.terminal.result({ app_id: app.id, requested: true }, 'Requested. The managers see it in their inbox.')
  }
  const tokensDirectory = resolve(text(call, 'tokens') ?? 'tokens')
  const clientSecret = await findClientSecret(call, app)
  if (!(await clientSecretWorks(account.url, app.client_id, clientSecret))) {
    throw new Failure(wrongSecret('client', app, text(call, 'env')), { code: 'WRONG_CLIENT_SECRET' })
  }
  const teams = await findTeams(account, text(call, 'teams'))
  const asksConsent = isInteractive() && !call.terminal.json && !call.values.yes
  const tokens = await install(account, {
    app,
    clientSecret,
    teamIds: teams.map(({ id }) => id),
    tokensDirectory,
    signal: call.signal,
    ...(asksConsent && { agree: (scopes) => confirmInstall(call, account, app, scopes, teams) }),
  })
  const { installation_id, app_user_id, scope } = tokens
  const tokensFile = join(tokensDirectory, `${installation_id}.json`)
  const keys = teams.map(({ key }) => key)
  call.terminal.result(
    {
      app_id: app.id,
      installation_id,
      app_user_id,
      scope,
      all_teams: keys.length === 0,
      teams: keys,
      tokens: tokensFile,
    },
    `Installed ${app.name} in ${account.workspace.name} for ${teamWords(teams)}, with ${scope.split(' ').join(', ')}.
The tokens are in ${tokensFile}.`,
  )
}

const teamWords = (teams: NamedTeam[]) =>
  teams.length === 0 ? 'all teams' : teams.map(({ key, name }) => `${name} (${key})`).join(', ')

/** Empty for a scope that only a newer service knows. */
const descriptionOf = (scope: string) => (scopeWords as Record<string, { can: string }>)[scope]?.can ?? ''

/** Shows what the consent page shows. */
async function confirmInstall(call: Call, account: Account, app: AgentApp, scopes: string[], teams: NamedTeam[]) {
  call.terminal.note(`${app.name} requests access to ${account.workspace.name}, as its own user and never as an admin:
${indent(table(scopes.map((scope) => [scope, descriptionOf(scope)])))}
Teams: ${teamWords(teams)}${teams.length === 0 ? ', including future ones; choose with --teams' : ''}.`)
  const answer = await ask('Install? [y/N]', '--yes', call.signal)
  if (/^y(es)?$/i.test(answer)) return
  throw new Failure('Nothing was installed.', { code: 'DECLINED' })
}

async function findClientSecret(call: Call, app: AgentApp): Promise<string> {
  const file = text(call, 'env') ?? '.env'
  const settings = await readEnv(file)
  const ofThisApp = settings.CLIENT_ID === undefined || settings.CLIENT_ID === app.client_id
  const secret = (ofThisApp ? settings.CLIENT_SECRET : undefined) ?? process.env.CLIENT_SECRET
  if (secret) return secret
  throw new Failure(
    `The client secret of ${app.name} is missing: CLIENT_SECRET is neither in ${file} nor in the environment.`,
    {
      code: 'NO_CLIENT_SECRET',
      advice: `If it is lost, run \`${commandName} apps rotate client ${app.id} --env ${file}\`.`,
    },
  )
}
