import {
  type AgentApp,
  type AgentAppManifest,
  BatonClient,
  envTokens,
  fileTokens,
  isBatonError,
  TokenManager,
} from '@baton/sdk'
import type { Account } from './account.ts'
import { installationOf, listApps, listenUrl, rotateSecret } from './apps.ts'
import type { Settings } from './env-file.ts'
import { Failure } from './failure.ts'
import { install } from './install.ts'
import { commandName } from './origin.ts'

type Note = (text: string) => void

/** Finds the app of this directory by its settings or its name, or registers a new one. Returns its settings. */
export async function ensureRegistered(
  account: Account,
  manifest: AgentAppManifest,
  settings: Settings,
  note: Note,
): Promise<{ app: AgentApp; settings: Settings }> {
  const { app: found, secrets, isNew } = await findOrRegister(account, manifest, settings, note)
  const app = isNew ? found : await updateIfChanged(account, found, manifest, note)
  if (app.webhook.url !== listenUrl) {
    throw new Failure(
      `${app.name} (${app.id}) has its own webhook URL (${app.webhook.url || 'none'}), so it cannot be run with \`dev\`.`,
      {
        advice: `Change the name in manifest.json to register another app, or run \`${commandName} listen --take-over --app ${app.id}\`.`,
      },
    )
  }
  return { app, settings: { ...identity(account, app), ...secrets } }
}

/** Finds the app by its settings or its name, or registers a new one. `others`: a manager may take up the app of another user. */
export async function findOrRegister(
  account: Account,
  manifest: AgentAppManifest,
  settings: Settings,
  note: Note,
  { others = false } = {},
) {
  const known = (await findBySettings(account, settings)) ?? (await findByName(account, manifest, note, others))
  if (known) return { ...known, isNew: false }
  const webhook = { ...manifest.webhook, url: listenUrl }
  const { app, client_secret, webhook_secret } = await account.client.createAgentApp({ ...manifest, webhook })
  note(`Registered ${app.name} as ${app.id}.`)
  return { app, secrets: { CLIENT_SECRET: client_secret, WEBHOOK_SECRET: webhook_secret }, isNew: true }
}

const identity = ({ url }: Account, { id, client_id }: AgentApp) => ({
  BATON_URL: url,
  APP_ID: id,
  CLIENT_ID: client_id,
})

interface KnownApp {
  app: AgentApp
  secrets: { CLIENT_SECRET: string; WEBHOOK_SECRET: string }
}

async function findBySettings(account: Account, settings: Settings): Promise<KnownApp | null> {
  const { BATON_URL, APP_ID, CLIENT_SECRET, WEBHOOK_SECRET } = settings
  if (BATON_URL !== account.url || !APP_ID || !CLIENT_SECRET || !WEBHOOK_SECRET) return null
  try {
    const app = await account.client.getAgentApp({ app_id: APP_ID })
    return { app, secrets: { CLIENT_SECRET, WEBHOOK_SECRET } }
  } catch (error) {
    // The app was deleted or belongs to another workspace.
    if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return null
    throw error
  }
}

/** Finds an app that this user registered before. Its secrets cannot be read again, so they are rotated. */
async function findByName(
  account: Account,
  manifest: AgentAppManifest,
  note: Note,
  others: boolean,
): Promise<KnownApp | null> {
  const me = await account.client.getMe()
  const isManager =
    'workspaces' in me && me.workspaces.some(({ id, role }) => id === account.workspace.id && role !== 'member')
  const named = (await listApps(account)).filter(
    ({ name, webhook }) => name === manifest.name && webhook.url === listenUrl,
  )
  const app =
    named.find(({ owner_user_id }) => owner_user_id === me.user.id) ??
    (others && isManager ? await findInstalledBy(me.user.id, account, manifest, named, note) : null)
  if (!app) return null
  note(`Found ${app.name} (${app.id}); rotated its secrets, because they are not stored here.`)
  const secrets = {
    ...(await rotateSecret(account, app.id, 'client')),
    ...(await rotateSecret(account, app.id, 'webhook')),
  }
  return { app, secrets: secrets as KnownApp['secrets'] }
}

/**
 * Finds an app that another member registered and this manager installed, if it has never run: it must not be taken away
 * from the member. Without an installation it is left alone, because its installation needs a decision of its own.
 */
async function findInstalledBy(
  userId: string,
  account: Account,
  manifest: AgentAppManifest,
  apps: AgentApp[],
  note: Note,
): Promise<AgentApp | null> {
  for (const app of apps) {
    if (!isRegistered(manifest, app) || app.listener !== null) continue
    const installation = await installationOf(account, app.id)
    if (!installation) {
      note(
        `Another user registered ${app.name} (${app.id}), but it is not installed. To run that app instead of a new one, install it on ${account.url}/agent-apps/${app.id} first.`,
      )
      continue
    }
    if (installation.installed_by !== userId) continue
    if ((await account.client.getAppSetup({ app_id: app.id })).first_delivered_at === null) return app
  }
  return null
}

/** Replaces the registered manifest if manifest.json differs from it and the user may do so. */
async function updateIfChanged(
  account: Account,
  app: AgentApp,
  manifest: AgentAppManifest,
  note: Note,
): Promise<AgentApp> {
  if (isRegistered(manifest, app) || app.webhook.url !== listenUrl) return app
  try {
    const webhook = { ...manifest.webhook, url: listenUrl }
    const updated = await account.client.replaceAgentApp({ app_id: app.id, ...manifest, webhook })
    note('Updated the registered app: manifest.json has changed.')
    return updated
  } catch (error) {
    if (!isBatonError(error, 'FORBIDDEN')) throw error
    note('manifest.json has changed, but only owners and admins can update the app. Continuing with the old one.')
    return app
  }
}

/**
 * Whether the app has the values of manifest.json, which may be invalid: the service validates it. The webhook's URL is
 * not compared, because `dev` replaces it.
 */
function isRegistered(manifest: AgentAppManifest, app: AgentApp) {
  const { name, description, icon_url, install_page_url, compat, developer, oauth, webhook } = manifest
  const sameItems = (a: readonly string[] = [], b: readonly string[] = []) =>
    String([...a].sort()) === String([...b].sort())
  return (
    name === app.name &&
    (description ?? null) === app.description &&
    (icon_url ?? null) === app.icon_url &&
    (install_page_url ?? null) === app.install_page_url &&
    (compat ?? null) === app.compat &&
    developer?.name === app.developer.name &&
    (developer?.url ?? null) === app.developer.url &&
    sameItems(oauth?.scopes, app.requested_scopes) &&
    sameItems(oauth?.redirect_uris, app.redirect_uris) &&
    sameItems(webhook?.resource_types, app.webhook.resource_types)
  )
}

/**
 * Installs the app with the developer's login, unless it is installed with all its scopes and its tokens work. A member
 * cannot install it, but can run it with the tokens that a manager got.
 */
export async function ensureInstalled(
  account: Account,
  { app, settings, tokensDirectory }: { app: AgentApp; settings: Settings; tokensDirectory: string },
  { note, signal }: { note: Note; signal: AbortSignal },
) {
  const installation = await installationOf(account, app.id)
  const missing = app.requested_scopes.filter((scope) => !installation?.scopes.includes(scope))
  const works = installation !== null && (await tokensWork(account, app, settings, tokensDirectory, installation.id))
  if (works && missing.length === 0) return
  const teamIds = installation && !installation.all_teams ? installation.team_ids : []
  try {
    await install(account, { app, clientSecret: settings.CLIENT_SECRET ?? '', teamIds, tokensDirectory, signal })
    note(`Installed ${app.name} in ${account.workspace.name}.`)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'FORBIDDEN') throw error
    if (!works) throw needsManager(account, app, installation !== null)
    note(`${app.name} is installed without ${missing.join(', ')}. Only owners and admins can approve more scopes.`)
  }
}

/** For a member: what to ask an owner or admin for. */
function needsManager({ url, workspace }: Account, { id, name }: AgentApp, isInstalled: boolean): Failure {
  const page = `${url}/agent-apps/${id}`
  const again = `add it to .env and run \`${commandName} dev\` again.`
  return isInstalled
    ? new Failure(`${name} is installed in ${workspace.name}, but its tokens are not here.`, {
        code: 'FORBIDDEN',
        advice: `Ask the owner or admin who installed it for the .env that was shown then, ${again} If it is lost, they have to uninstall the app and install it again on ${page}.`,
      })
    : new Failure(`Only owners and admins of ${workspace.name} can install ${name}.`, {
        code: 'FORBIDDEN',
        advice: `Ask them with \`${commandName} apps install ${id} --request\` to install it on ${page} and to send you the .env that is shown there; ${again}`,
      })
}

async function tokensWork(account: Account, app: AgentApp, settings: Settings, directory: string, id: string) {
  const shared = { baseUrl: account.url }
  const clientSecret = settings.CLIENT_SECRET ?? ''
  const store = envTokens(fileTokens(directory), settings)
  const tokens = new TokenManager({ ...shared, clientId: app.client_id, clientSecret, store })
  try {
    await new BatonClient({ ...shared, tokenProvider: tokens.provider(id) }).getMe()
    return true
  } catch (error) {
    if (isBatonError(error) && (error.status === 401 || error.status === 400 || error.code === 'REINSTALL_NEEDED')) {
      return false
    }
    throw error
  }
}
