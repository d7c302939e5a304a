import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentApp, BatonClient, envTokens, type Installation, isBatonError, TokenManager } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { findTeams, installationOf, listenUrl } from '../apps.ts'
import type { Call } from '../command.ts'
import { text } from '../command.ts'
import { readConfig } from '../config.ts'
import { readEnv } from '../env-file.ts'
import { Failure } from '../failure.ts'
import { install } from '../install.ts'
import { commandName, installedFrom } from '../origin.ts'
import { findOrRegister } from '../registration.ts'
import { serviceUrl } from '../urls.ts'
import type { Settings } from './options.ts'
import { enrolledUrl, State, type StoredApp, stateDirectory } from './state.ts'

const retryMs = 5000

/** An app that is installed, and its tokens. */
export interface Enrolled {
  app: Required<StoredApp>
  tokens: TokenManager
}

/** The directory of --state, or that of the app at the URL of the login, which later starts may no longer have. */
export async function findState(call: Call, name: string): Promise<State> {
  const given = text(call, 'state')
  if (given !== undefined) return new State(given)
  const url = text(call, 'url')
  if (url !== undefined) return new State(stateDirectory(serviceUrl(url), name))
  const { current } = await readConfig()
  const known = current ?? (await enrolledUrl(name)) ?? installedFrom()
  if (!known) throw notLoggedIn('')
  return new State(stateDirectory(known, name))
}

const notLoggedIn = (why: string) =>
  new Failure(`${why}You are not logged in.`, { code: 'NOT_LOGGED_IN', advice: `Run \`${commandName} login\` first.` })

/** Finds or registers the app and installs it, unless an earlier start has done so and its grant still works. */
export async function enrol(call: Call, settings: Settings, state: State): Promise<Enrolled> {
  const stored = await state.app()
  if (stored && isInstalled(stored)) {
    const tokens = tokensOf(stored, state)
    if (await works(call, stored, tokens)) return { app: stored, tokens }
    call.terminal.note(`The access of ${stored.name} has ended. It has to be installed again.`)
  }
  const account = await currentAccount(call)
  const teams = await findTeams(account, settings.teams)
  const known = stored?.url === account.url ? stored : null
  const { app, secrets } = await findOrRegister(
    account,
    manifest(settings.name),
    known ? settingsOf(known) : {},
    (line) => call.terminal.note(line),
    { others: true },
  )
  const registered: StoredApp = {
    url: account.url,
    app_id: app.id,
    name: app.name,
    client_id: app.client_id,
    client_secret: secrets.CLIENT_SECRET,
    webhook_secret: secrets.WEBHOOK_SECRET,
  }
  // Now, before another step can fail: the secrets cannot be read again.
  await state.saveApp(registered)
  const teamIds = teams.map(({ id }) => id)
  const installed = await installApp(call, account, { app, secret: secrets.CLIENT_SECRET, teamIds, settings, state })
  const enrolled: Required<StoredApp> = { ...registered, ...installed, installed_at: new Date().toISOString() }
  await state.saveApp(enrolled)
  call.terminal.note(
    settings.tokens === undefined
      ? `Installed ${app.name} in ${account.workspace.name}.`
      : `Stored the tokens of ${app.name}. Delete ${settings.tokens}: its tokens no longer work.`,
  )
  return { app: enrolled, tokens: tokensOf(enrolled, state) }
}

const isInstalled = (app: StoredApp): app is Required<StoredApp> =>
  app.installation_id !== undefined && app.app_user_id !== undefined && app.installed_at !== undefined

const manifest = (name: string) => ({
  schemaVersion: '1.0.0' as const,
  name,
  developer: { name: 'baton run' },
  oauth: {
    redirect_uris: [listenUrl],
    scopes: ['read' as const, 'app:assignable' as const, 'app:mentionable' as const],
  },
  webhook: { url: listenUrl },
})

const settingsOf = ({ url, app_id, client_secret, webhook_secret }: StoredApp) => ({
  BATON_URL: url,
  APP_ID: app_id,
  CLIENT_SECRET: client_secret,
  WEBHOOK_SECRET: webhook_secret,
})

const tokensOf = ({ url, client_id, client_secret }: StoredApp, state: State) =>
  new TokenManager({ baseUrl: url, clientId: client_id, clientSecret: client_secret, store: state.tokens() })

/** Waits while the service cannot be reached: after a start of the machine, the network may come later. */
async function works(
  call: Call,
  { url, installation_id }: Required<StoredApp>,
  tokens: TokenManager,
): Promise<boolean> {
  const client = new BatonClient({ baseUrl: url, tokenProvider: tokens.provider(installation_id) })
  for (;;) {
    try {
      await client.getMe()
      return true
    } catch (error) {
      if (!isBatonError(error)) throw error
      if (error.status === 401 || error.status === 400 || error.code === 'REINSTALL_NEEDED') return false
      if (error.status !== 0 && error.status < 500) throw error
      call.terminal.note(`${error.message} Retrying in ${retryMs / 1000} s.`)
      await sleep(retryMs, undefined, { signal: call.signal })
    }
  }
}

interface InstallRequest {
  app: AgentApp
  secret: string
  teamIds: string[]
  settings: Settings
  state: State
}

async function installApp(call: Call, account: Account, request: InstallRequest) {
  const { app, secret, teamIds, settings, state } = request
  const before = await installationOf(account, app.id)
  if (settings.tokens !== undefined) return takeTokens(account, settings.tokens, before, request)
  try {
    const { installation_id, app_user_id } = await install(account, {
      app,
      clientSecret: secret,
      teamIds: before && !before.all_teams && teamIds.length === 0 ? before.team_ids : teamIds,
      tokensDirectory: state.at('tokens'),
      signal: call.signal,
    })
    return { installation_id, app_user_id }
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'FORBIDDEN') throw error
    const page = `${account.url}/agent-apps/${app.id}`
    if (before) {
      throw new Failure(`${app.name} is installed in ${account.workspace.name}, but its tokens are not here.`, {
        code: 'NO_TOKENS',
        advice: `Ask the manager who installed it for the .env that was shown then, and give that file with --tokens FILE. If it is lost, they have to uninstall the app and install it again on ${page}`,
      })
    }
    if (!settings.request) {
      throw new Failure(`Only owners and admins of ${account.workspace.name} can install ${app.name}.`, {
        code: 'FORBIDDEN',
        advice: 'Request it with --request, or let one of them run this command.',
      })
    }
    await account.client.requestInstall({ app_id: app.id })
    throw new Failure(
      `Requested the installation of ${app.name}. The managers of ${account.workspace.name} see it in their inbox.`,
      {
        code: 'REQUESTED',
        advice: `When a manager has installed it on ${page} and sent you the .env that is shown there, run this command with --tokens FILE instead of --request.`,
      },
    )
  }
}

/** Takes up an app that a manager installed, with the tokens that were shown to the manager. */
async function takeTokens(
  { url, workspace }: Account,
  file: string,
  installation: Installation | null,
  { app, secret, state }: InstallRequest,
) {
  if (!installation) {
    throw new Failure(`${app.name} is not installed in ${workspace.name} yet.`, {
      code: 'NOT_INSTALLED',
      advice: `A manager installs it on ${url}/agent-apps/${app.id}. Request it with --request.`,
    })
  }
  const env = await readEnv(file)
  if (env.APP_ID !== app.id || env.INSTALLATION_ID !== installation.id || !env.REFRESH_TOKEN) {
    throw new Failure(`${file} does not have the tokens of ${app.name} (${app.id}) in ${workspace.name}.`, {
      code: 'WRONG_TOKENS',
      advice: `It needs APP_ID=${app.id}, INSTALLATION_ID=${installation.id}, WORKSPACE_ID, APP_USER_ID and REFRESH_TOKEN, as they are shown after the installation.`,
    })
  }
  const store = state.tokens()
  // Tokens of an earlier approval no longer work, and would be preferred to those of the file.
  await store.delete(installation.id)
  const tokens = new TokenManager({
    baseUrl: url,
    clientId: app.client_id,
    clientSecret: secret,
    store: envTokens(store, env),
  })
  try {
    const { installation_id, app_user_id } = await tokens.get(installation.id)
    return { installation_id, app_user_id }
  } catch (error) {
    if (!isBatonError(error, 'REINSTALL_NEEDED')) throw error
    throw new Failure(`The tokens in ${file} no longer work.`, {
      code: 'WRONG_TOKENS',
      advice: `A manager has to uninstall ${app.name} and install it again on ${url}/agent-apps/${app.id}`,
    })
  }
}
