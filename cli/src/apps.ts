import type { AgentApp, Delivery, Installation } from '@baton/sdk'
import type { Account } from './account.ts'
import { type Call, text } from './command.ts'
import { readEnv } from './env-file.ts'
import { Failure, notFound } from './failure.ts'

/** decisions 11: the webhook of an app that is developed on somebody's machine. */
export const listenUrl = 'https://listen.invalid/'

interface Page<T> {
  data: T[]
  next_cursor: string | null
}

/** Every page of a list. */
export async function all<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, next_cursor } = await page(cursor)
    found.push(...data)
    if (!next_cursor) return found
    if (next_cursor === cursor) throw new Failure('The service gives the same page of a list again and again.')
    cursor = next_cursor
  }
}

export const from = (cursor: string | undefined) => ({ limit: 100, ...(cursor ? { cursor } : {}) })

export const appsOf = ({ client }: Account): Promise<AgentApp[]> => all((cursor) => client.listAgentApps(from(cursor)))

/** The app that a command is about: by id or name, else the one of the directory, else the only one there is. */
export async function appMeant(call: Call, account: Account, named = text(call, 'app')): Promise<AgentApp> {
  const id = named ?? (await appOfDirectory(call, account))
  if (id?.startsWith('app_')) {
    const where = named === undefined ? `, which ${envFile(call)} names,` : ''
    return account.client.getAgentApp({ app_id: id }).catch(notFound(`app ${id}${where} in ${account.workspace.name}`))
  }
  const apps = await appsOf(account)
  const fitting = named === undefined ? apps : apps.filter(({ name }) => name.toLowerCase() === named.toLowerCase())
  const [app] = fitting
  if (app && fitting.length === 1) return app
  const list = (app ? fitting : apps).map(({ id, name }) => `${name} (${id})`).join(', ') || 'none'
  const problem =
    named === undefined ? 'Which app?' : app ? `Several apps are called ${named}.` : `There is no app ${named}.`
  throw new Failure(`${problem} In ${account.workspace.name}: ${list}.`, {
    code: 'NO_SUCH_APP',
    advice: 'Give a name or an id, or register one with `baton apps register`.',
  })
}

const envFile = (call: Call) => text(call, 'env') ?? '.env'

/** Written there by `dev` and `apps register`; settings for another instance say nothing about this one. */
async function appOfDirectory(call: Call, { url }: Account): Promise<string | undefined> {
  const { APP_ID, BATON_URL = url } = await readEnv(envFile(call))
  return BATON_URL === url && APP_ID ? APP_ID : undefined
}

export async function installationOf({ client }: Account, appId: string): Promise<Installation | null> {
  const installations: Installation[] = await all((cursor) => client.listInstallations(from(cursor)))
  return installations.find(({ app_id }) => app_id === appId) ?? null
}

export async function installed(account: Account, app: AgentApp): Promise<Installation> {
  const installation = await installationOf(account, app.id)
  if (installation) return installation
  throw new Failure(`${app.name} is not installed in ${account.workspace.name}.`, {
    code: 'NOT_INSTALLED',
    advice: `\`baton apps install ${app.id}\`, or \`baton dev\` in its directory.`,
  })
}

export const deliveriesOf = async (
  { client }: Account,
  app_id: string,
  query: { status?: Delivery['status']; limit: number },
): Promise<Delivery[]> => (await client.listAppDeliveries({ app_id, ...query })).data
