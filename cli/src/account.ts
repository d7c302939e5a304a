import { BatonClient } from '@baton/sdk'
import { type Call, text } from './command.ts'
import { type Login, readConfig } from './config.ts'
import { Failure } from './failure.ts'
import { commandName } from './origin.ts'
import { serviceUrl } from './urls.ts'

/** The logged-in user and the chosen workspace. */
export interface Account {
  url: string
  baseUrl: string
  token: string
  email: string
  workspace: { id: string; name: string }
  client: BatonClient
}

export async function currentAccount(call: Call): Promise<Account> {
  const { current, logins } = await readConfig()
  const given = text(call, 'url')
  const url = given ? serviceUrl(given) : current
  const login = url ? logins[url] : undefined
  if (!url || !login) {
    const where = url ? ` at ${url}` : ''
    const advice = `Run \`${commandName} login${url ? ` --url ${url}` : ''}\` first.`
    throw new Failure(`You are not logged in${where}.`, { code: 'NOT_LOGGED_IN', advice })
  }
  const { token, email } = login
  const workspace = await chooseWorkspace(new BatonClient({ baseUrl: url, token }), login, text(call, 'workspace'))
  const client = new BatonClient({ baseUrl: url, token, workspaceId: workspace.id })
  return { url, baseUrl: `${url}/api/v1`, token, email, workspace, client }
}

async function chooseWorkspace(client: BatonClient, { workspace }: Login, named: string | undefined) {
  if (named !== undefined) return findWorkspace(await workspacesOf(client), named)
  if (workspace) return workspace
  throw new Failure('No workspace is chosen.', { advice: 'Give --workspace, or log in again.' })
}

export interface Membership {
  id: string
  name: string
  role: string
}

export async function workspacesOf(client: BatonClient): Promise<Membership[]> {
  const me = await client.getMe()
  return 'workspaces' in me ? me.workspaces : []
}

export function findWorkspace(all: Membership[], named: string): Membership {
  const byId = all.find(({ id }) => id === named)
  const byName = all.filter(({ name }) => name.toLowerCase() === named.toLowerCase())
  if (byId) return byId
  if (byName.length === 1 && byName[0]) return byName[0]
  const yours = all.map(({ id, name }) => `${name} (${id})`).join(', ') || 'none'
  const problem =
    byName.length > 1 ? `Several workspaces are named ${named}` : `You are not a member of a workspace ${named}`
  throw new Failure(`${problem}. Yours: ${yours}.`, { code: 'NO_SUCH_WORKSPACE', advice: 'Give the id of one.' })
}
