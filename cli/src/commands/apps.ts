import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { AgentApp, AgentAppManifest } from '@baton/sdk'
import { type Account, accountOf } from '../account.ts'
import { all, appMeant, appsOf, from } from '../apps.ts'
import { ask, isInteractive } from '../ask.ts'
import { account, type Call, type Command, positionals, text } from '../command.ts'
import { changeEnv, readEnv } from '../env-file.ts'
import { Failure, UsageError } from '../failure.ts'
import { objectIn } from '../files.ts'
import { indent } from '../help.ts'
import { install } from '../install.ts'
import { scopeWords } from '../scope-words.ts'
import { table } from '../terminal.ts'

export const apps: Command = {
  name: 'apps',
  summary: 'list, register, show and install agent apps, replace their secrets',
  usage: [
    '',
    'register MANIFEST [--env FILE]',
    'show [APP]',
    'rotate client|webhook [APP] [--env FILE]',
    'install [APP]',
  ],
  about: `APP is a name or an id; not needed where .env (or --env) has APP_ID, or if there is one app only.
With --env, secrets go to that file and are not shown.
install consents with your own login, which must be an owner's or admin's; it takes CLIENT_SECRET from --env (.env if
left out) or from the environment, and keeps the tokens in --tokens. At a terminal it shows what the app asks for and
asks you; not with --yes or --json.`,
  example: 'baton apps register manifest.json --env .env',
  options: {
    ...account,
    env: { type: 'string', value: 'FILE', about: 'file with settings, such as .env' },
    teams: { type: 'string', value: 'KEYS', about: 'install for these teams only, such as ENG,OPS' },
    tokens: { type: 'string', value: 'DIRECTORY', about: 'where tokens are kept; ./tokens if left out' },
    yes: { type: 'boolean', about: 'install without being asked' },
    request: { type: 'boolean', about: 'do not install, ask the managers to' },
  },
  async run(call) {
    const [verb, ...args] = call.args
    const run = verbs[verb ?? 'list']
    if (!run) throw new UsageError(`There is no \`apps ${verb}\`.`)
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
  const found = await appsOf(await accountOf(call))
  const rows = found.map(({ id, name, webhook, listener }) => [
    id,
    name,
    webhook.state,
    listener ? `${listener.user.name} listens` : webhook.url,
  ])
  call.terminal.result(found, rows.length > 0 ? table(rows) : 'No apps yet. `baton apps register` makes one.')
}

async function register(call: Call) {
  const [path = ''] = positionals(call.args, 'MANIFEST')
  const manifest = await manifestAt(path)
  const { client, url } = await accountOf(call)
  const registered = await client.createAgentApp(manifest)
  const { app, client_id, client_secret, webhook_secret } = registered
  const secrets = { CLIENT_SECRET: client_secret, WEBHOOK_SECRET: webhook_secret }
  const settings = { BATON_URL: url, APP_ID: app.id, CLIENT_ID: client_id, ...secrets }
  const shown = await give(call, settings)
  const { client_secret: _c, webhook_secret: _w, ...withoutSecrets } = registered
  call.terminal.result(
    shown ? registered : withoutSecrets,
    [`Registered ${app.name} as ${app.id}.`, ...shownLines(shown, settings)].join('\n'),
  )
}

export async function manifestAt(path: string): Promise<AgentAppManifest> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Failure(`${path} cannot be read.`)
  })
  return objectIn(path, text) as AgentAppManifest
}

/** Secrets are known this once: into the file that was named, or else to whoever looks. True if to them. */
async function give(call: Call, settings: Record<string, string>): Promise<boolean> {
  const file = text(call, 'env')
  if (file === undefined) return true
  await changeEnv(file, settings)
  call.terminal.note(`${Object.keys(settings).join(', ')} written to ${file}.`)
  return false
}

const shownLines = (shown: boolean, settings: Record<string, string>) =>
  shown ? ['Shown this once:', ...Object.entries(settings).map(([name, value]) => `  ${name}=${value}`)] : []

async function show(call: Call) {
  const [named] = positionals(call.args, 'APP?')
  const app = await appMeant(call, await accountOf(call), named)
  call.terminal.result(app, words(app))
}

function words(app: AgentApp): string {
  const { webhook, listener } = app
  return table([
    ['id', app.id],
    ['name', app.name],
    ['client id', app.client_id],
    ['scopes', app.requested_scopes.join(' ')],
    ['redirects', app.redirect_uris.join(' ')],
    ['webhook', webhook.url ? `${webhook.url} (${webhook.state})` : 'none'],
    ['events', ['AgentSessionEvent', ...webhook.resource_types].join(' ')],
    ['listener', listener ? `${listener.user.name} since ${listener.since}` : 'nobody'],
  ])
}

async function rotate(call: Call) {
  const [which, named] = positionals(call.args, 'client or webhook', 'APP?')
  if (which !== 'client' && which !== 'webhook') throw new UsageError(`${which} is neither client nor webhook.`)
  const account = await accountOf(call)
  const { id, name, client_id } = await appMeant(call, account, named)
  const about = { BATON_URL: account.url, APP_ID: id, CLIENT_ID: client_id }
  const secret = await rotated(account, id, which)
  const shown = await give(call, { ...about, ...secret })
  call.terminal.result(
    { app_id: id, rotated: which, ...(shown ? secret : {}) },
    [`${name} has a new ${which} secret; the old one has stopped.`, ...shownLines(shown, secret)].join('\n'),
  )
}

export async function rotated({ client }: Account, app_id: string, which: 'client' | 'webhook') {
  if (which === 'client') return { CLIENT_SECRET: (await client.rotateClientSecret({ app_id })).client_secret }
  return { WEBHOOK_SECRET: (await client.rotateAppWebhookSecret({ app_id })).webhook_secret }
}

async function installApp(call: Call) {
  const [named] = positionals(call.args, 'APP?')
  const account = await accountOf(call)
  const app = await appMeant(call, account, named)
  if (call.values.request) {
    await account.client.requestInstall({ app_id: app.id })
    return call.terminal.result({ app_id: app.id, requested: true }, 'The managers find it in their inbox.')
  }
  const tokensDirectory = resolve(text(call, 'tokens') ?? 'tokens')
  const clientSecret = await clientSecretFor(call, app)
  const teams = await teamsNamed(account, text(call, 'teams'))
  const isAsked = isInteractive() && !call.terminal.json && !call.values.yes
  const tokens = await install(account, {
    app,
    clientSecret,
    teamIds: teams.map(({ id }) => id),
    tokensDirectory,
    signal: call.signal,
    ...(isAsked && { agree: (scopes) => agreed(call, account, app, scopes, teams) }),
  })
  const { installation_id, app_user_id, scope } = tokens
  const kept = join(tokensDirectory, `${installation_id}.json`)
  const keys = teams.map(({ key }) => key)
  call.terminal.result(
    { app_id: app.id, installation_id, app_user_id, scope, all_teams: keys.length === 0, teams: keys, tokens: kept },
    `Installed ${app.name} in ${account.workspace.name} for ${teamWords(teams)}, with ${scope.split(' ').join(', ')}.
Its tokens are in ${kept}.`,
  )
}

type TeamNamed = { id: string; key: string; name: string }

const teamWords = (teams: TeamNamed[]) =>
  teams.length === 0 ? 'all teams' : teams.map(({ key, name }) => `${name} (${key})`).join(', ')

/** Empty for a scope that only a newer service knows. */
const descriptionOf = (scope: string) => (scopeWords as Record<string, { can: string }>)[scope]?.can ?? ''

/** What a manager sees in the browser before they approve. */
async function agreed(call: Call, account: Account, app: AgentApp, scopes: string[], teams: TeamNamed[]) {
  call.terminal.note(`${app.name} wants to work in ${account.workspace.name}, as itself and never as an admin. It asks to:
${indent(table(scopes.map((scope) => [scope, descriptionOf(scope)])))}
It will work in ${teamWords(teams)}${teams.length === 0 ? ', also in those to come; --teams chooses' : ''}.`)
  const answer = await ask('Install? [y/N]', '--yes', call.signal)
  if (/^y(es)?$/i.test(answer)) return
  throw new Failure('Nothing was installed.', { code: 'DECLINED' })
}

async function clientSecretFor(call: Call, app: AgentApp): Promise<string> {
  const file = text(call, 'env') ?? '.env'
  const settings = await readEnv(file)
  const ofThisApp = settings.CLIENT_ID === undefined || settings.CLIENT_ID === app.client_id
  const secret = (ofThisApp ? settings.CLIENT_SECRET : undefined) ?? process.env.CLIENT_SECRET
  if (secret) return secret
  throw new Failure(`The client secret of ${app.name} is neither in ${file} nor in CLIENT_SECRET.`, {
    code: 'NO_CLIENT_SECRET',
    advice: `If it is lost: \`baton apps rotate client ${app.id} --env ${file}\`.`,
  })
}

/** None stands for all. */
async function teamsNamed({ client }: Account, keys: string | undefined): Promise<TeamNamed[]> {
  if (keys === undefined) return []
  const teams = await all((cursor) => client.listTeams(from(cursor)))
  return keys.split(',').map((key) => {
    const team = teams.find((one) => one.key.toLowerCase() === key.trim().toLowerCase() || one.id === key.trim())
    if (!team) throw new Failure(`There is no team ${key}. Teams: ${teams.map((one) => one.key).join(', ')}.`)
    return team
  })
}
