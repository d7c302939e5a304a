import type { AgentApp, Delivery, Installation } from '@baton/sdk'
import type { Account } from './account.ts'
import { type Call, text } from './command.ts'
import { readEnv } from './env-file.ts'
import { Failure, notFound } from './failure.ts'
import { commandName } from './origin.ts'

/** The webhook URL of an app in development (manifest.listen-invalid-accepted). */
export const listenUrl = 'https://listen.invalid/'

interface Page<T> {
  data: T[]
  next_cursor: string | null
}

/** Reads all pages of a list. */
export async function allPages<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, next_cursor } = await page(cursor)
    found.push(...data)
    if (!next_cursor) return found
    if (next_cursor === cursor) throw new Failure('The service returns the same page of a list repeatedly.')
    cursor = next_cursor
  }
}

export const pageAt = (cursor: string | undefined) => ({ limit: 100, ...(cursor ? { cursor } : {}) })

export const listApps = ({ client }: Account): Promise<AgentApp[]> =>
  allPages((cursor) => client.listAgentApps(pageAt(cursor)))

/** Finds the app of --app. */
export const findApp = (call: Call, account: Account): Promise<AgentApp> =>
  findNamedApp(call, account, text(call, 'app'), '--app')

/** Finds the app by id or name; without either, the app of the directory, or else the only app. */
export async function findNamedApp(call: Call, account: Account, named: string | undefined, argument = 'APP') {
  const id = named ?? (await appIdOfDirectory(call, account))
  if (id?.startsWith('app_')) {
    const where = named === undefined ? ` (from ${envFile(call)})` : ''
    return account.client.getAgentApp({ app_id: id }).catch(notFound(`app ${id}${where} in ${account.workspace.name}`))
  }
  const apps = await listApps(account)
  const matching = named === undefined ? apps : apps.filter(({ name }) => name.toLowerCase() === named.toLowerCase())
  const [app] = matching
  if (app && matching.length === 1) return app
  const list = (app ? matching : apps).map(({ id, name }) => `${name} (${id})`).join(', ') || 'none'
  const problem =
    named === undefined ? 'No app was given.' : app ? `Several apps are named ${named}.` : `There is no app ${named}.`
  throw new Failure(`${problem} In ${account.workspace.name}: ${list}.`, {
    code: 'NO_SUCH_APP',
    advice: `Give a name or an id as ${argument}, or register an app with \`${commandName} apps register\`.`,
  })
}

const envFile = (call: Call) => text(call, 'env') ?? '.env'

/** APP_ID is written by `dev` and `apps register`. It is ignored if BATON_URL names another instance. */
async function appIdOfDirectory(call: Call, { url }: Account): Promise<string | undefined> {
  const { APP_ID, BATON_URL = url } = await readEnv(envFile(call))
  return BATON_URL === url && APP_ID ? APP_ID : undefined
}

export async function installationOf({ client }: Account, appId: string): Promise<Installation | null> {
  const installations: Installation[] = await allPages((cursor) => client.listInstallations(pageAt(cursor)))
  return installations.find(({ app_id }) => app_id === appId) ?? null
}

export async function requireInstallation(account: Account, app: AgentApp): Promise<Installation> {
  const installation = await installationOf(account, app.id)
  if (installation) return installation
  throw new Failure(`${app.name} is not installed in ${account.workspace.name}.`, {
    code: 'NOT_INSTALLED',
    advice: `Run \`${commandName} apps install ${app.id}\`, or \`${commandName} dev\` in its directory.`,
  })
}

export const deliveriesOf = async (
  { client }: Account,
  app_id: string,
  query: { status?: Delivery['status']; limit: number },
): Promise<Delivery[]> => (await client.listAppDeliveries({ app_id, ...query })).data

export async function rotateSecret({ client }: Account, app_id: string, which: 'client' | 'webhook') {
  if (which === 'client') return { CLIENT_SECRET: (await client.rotateClientSecret({ app_id })).client_secret }
  return { WEBHOOK_SECRET: (await client.rotateAppWebhookSecret({ app_id })).webhook_secret }
}

export type NamedTeam = { id: string; key: string; name: string }

/** An empty list means all teams. */
export async function findTeams({ client }: Account, keys: string | undefined): Promise<NamedTeam[]> {
  if (keys === undefined) return []
  const teams = await allPages((cursor) => client.listTeams(pageAt(cursor)))
  return keys.split(',').map((key) => {
    const team = teams.find((one) => one.key.toLowerCase() === key.trim().toLowerCase() || one.id === key.trim())
    if (!team) throw new Failure(`There is no team ${key}. Teams: ${teams.map((one) => one.key).join(', ')}.`)
    return team
  })
}
