import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentApp, BatonClient, isBatonError, TokenManager } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { findTeams, installationOf, listenUrl } from '../apps.ts'
import type { Call } from '../command.ts'
import { text } from '../command.ts'
import { readConfig } from '../config.ts'
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
  call.terminal.note(`Installed ${app.name} in ${account.workspace.name}.`)
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

async function installApp(call: Call, account: Account, { app, secret, teamIds, settings, state }: InstallRequest) {
  const before = teamIds.length > 0 ? null : await installationOf(account, app.id)
  try {
    const { installation_id, app_user_id } = await install(account, {
      app,
      clientSecret: secret,
      teamIds: before && !before.all_teams ? before.team_ids : teamIds,
      tokensDirectory: state.at('tokens'),
      signal: call.signal,
    })
    return { installation_id, app_user_id }
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'FORBIDDEN') throw error
    const page = `${account.url}/agent-apps/${app.id}`
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
        advice: `A manager has to run this command, because an app runs where it was installed. Its page: ${page}`,
      },
    )
  }
}
