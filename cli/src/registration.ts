import { type AgentApp, type AgentAppManifest, BatonClient, fileTokens, isBatonError, TokenManager } from '@baton/sdk'
import type { Account } from './account.ts'
import { appsOf, installationOf, listenUrl } from './apps.ts'
import { rotated } from './commands/apps.ts'
import type { Settings } from './env-file.ts'
import { Failure } from './failure.ts'
import { install } from './install.ts'

type Note = (words: string) => void

/** The app of this directory: the one in its settings, one of that name, or a new one. Answers its settings. */
export async function registered(
  account: Account,
  manifest: AgentAppManifest,
  settings: Settings,
  note: Note,
): Promise<{ app: AgentApp; settings: Settings }> {
  const known = (await ofSettings(account, settings)) ?? (await ofName(account, manifest.name, note))
  if (!known) {
    const made = await account.client.createAgentApp({ ...manifest, webhook: { ...manifest.webhook, url: listenUrl } })
    note(`Registered ${made.app.name} as ${made.app.id}.`)
    const secrets = { CLIENT_SECRET: made.client_secret, WEBHOOK_SECRET: made.webhook_secret }
    return { app: made.app, settings: { ...identity(account, made.app), ...secrets } }
  }
  const app = await upToDate(account, known.app, manifest, note)
  if (app.webhook.url !== listenUrl) {
    throw new Failure(`${app.name} (${app.id}) has the webhook ${app.webhook.url || 'none'}.`, {
      advice: `Give another name in manifest.json, or use \`baton listen --take-over --app ${app.id}\`.`,
    })
  }
  return { app, settings: { ...identity(account, app), ...known.secrets } }
}

const identity = ({ url }: Account, { id, client_id }: AgentApp) => ({
  BATON_URL: url,
  APP_ID: id,
  CLIENT_ID: client_id,
})

interface Known {
  app: AgentApp
  secrets: { CLIENT_SECRET: string; WEBHOOK_SECRET: string }
}

async function ofSettings(account: Account, settings: Settings): Promise<Known | null> {
  const { BATON_URL, APP_ID, CLIENT_SECRET, WEBHOOK_SECRET } = settings
  if (BATON_URL !== account.url || !APP_ID || !CLIENT_SECRET || !WEBHOOK_SECRET) return null
  try {
    const app = await account.client.getAgentApp({ app_id: APP_ID })
    return { app, secrets: { CLIENT_SECRET, WEBHOOK_SECRET } }
  } catch (error) {
    // It was deleted, or belongs to another workspace.
    if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return null
    throw error
  }
}

/** One that this person made before. Its secrets cannot be read again, so that it gets others. */
async function ofName(account: Account, name: string, note: Note): Promise<Known | null> {
  const { user } = await account.client.getMe()
  const mine = ({ owner_user_id, webhook }: AgentApp) => owner_user_id === user.id && webhook.url === listenUrl
  const app = (await appsOf(account)).find((one) => one.name === name && mine(one))
  if (!app) return null
  note(`Found ${app.name} (${app.id}); its secrets were not here, so it gets new ones.`)
  const secrets = { ...(await rotated(account, app.id, 'client')), ...(await rotated(account, app.id, 'webhook')) }
  return { app, secrets: secrets as Known['secrets'] }
}

/** What the manifest says now, if whoever runs this may change it. */
async function upToDate(account: Account, app: AgentApp, manifest: AgentAppManifest, note: Note): Promise<AgentApp> {
  const same = (a: readonly string[] = [], b: readonly string[] = []) => String([...a].sort()) === String([...b].sort())
  const { oauth, webhook, name } = manifest
  const asBefore =
    name === app.name &&
    same(oauth?.scopes, app.requested_scopes) &&
    same(oauth?.redirect_uris, app.redirect_uris) &&
    same(webhook?.resource_types, app.webhook.resource_types)
  if (asBefore || app.webhook.url !== listenUrl) return app
  try {
    const replaced = { ...manifest, webhook: { ...webhook, url: listenUrl } }
    const changed = await account.client.replaceAgentApp({ app_id: app.id, ...replaced })
    note('manifest.json has changed; the app is registered with it now.')
    return changed
  } catch (error) {
    if (!isBatonError(error, 'FORBIDDEN')) throw error
    note('manifest.json has changed, but only owners and admins can register it anew; going on with what is there.')
    return app
  }
}

/** Installed, with tokens that work and every scope it asks for; otherwise installs it with the developer's login. */
export async function installedHere(
  account: Account,
  { app, settings, tokensDirectory }: { app: AgentApp; settings: Settings; tokensDirectory: string },
  { note, signal }: { note: Note; signal: AbortSignal },
) {
  const clientSecret = settings.CLIENT_SECRET ?? ''
  const installation = await installationOf(account, app.id)
  const covers = installation && app.requested_scopes.every((scope) => installation.scopes.includes(scope))
  if (covers && (await tokensWork(account, app, clientSecret, tokensDirectory, installation.id))) return
  const teamIds = installation && !installation.all_teams ? installation.team_ids : []
  await install(account, { app, clientSecret, teamIds, tokensDirectory, signal })
  note(`Installed ${app.name} in ${account.workspace.name}.`)
}

async function tokensWork(account: Account, app: AgentApp, clientSecret: string, directory: string, id: string) {
  const shared = { baseUrl: account.url }
  const store = fileTokens(directory)
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
