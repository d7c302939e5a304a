import { BatonClient } from '@baton/sdk'
import { type Call, text } from './command.ts'
import { type Login, readConfig } from './config.ts'
import { Failure, UsageError } from './failure.ts'

/** The person who is logged in, in one workspace. */
export interface Account {
  url: string
  baseUrl: string
  token: string
  email: string
  workspace: { id: string; name: string }
  client: BatonClient
}

export async function accountOf(call: Call): Promise<Account> {
  const { current, logins } = await readConfig()
  const asked = text(call, 'url')
  const url = asked ? addressOf(asked) : current
  const login = url ? logins[url] : undefined
  if (!url || !login) {
    const where = url ? ` at ${url}` : ''
    const advice = `Do \`baton login${url ? ` --url ${url}` : ''}\` first.`
    throw new Failure(`You are not logged in${where}.`, { code: 'NOT_LOGGED_IN', advice })
  }
  const { token, email } = login
  const workspace = await chosen(new BatonClient({ baseUrl: url, token }), login, text(call, 'workspace'))
  const client = new BatonClient({ baseUrl: url, token, workspaceId: workspace.id })
  return { url, baseUrl: `${url}/api/v1`, token, email, workspace, client }
}

async function chosen(client: BatonClient, { workspace }: Login, named: string | undefined) {
  if (named !== undefined) return workspaceNamed(await workspacesOf(client), named)
  if (workspace) return workspace
  throw new Failure('No workspace was chosen at login.', { advice: 'Log in again, or give --workspace.' })
}

export interface WorkspaceOfMine {
  id: string
  name: string
  role: string
}

export async function workspacesOf(client: BatonClient): Promise<WorkspaceOfMine[]> {
  const me = await client.getMe()
  return 'workspaces' in me ? me.workspaces : []
}

export function workspaceNamed(all: WorkspaceOfMine[], named: string): WorkspaceOfMine {
  const byId = all.find(({ id }) => id === named)
  const byName = all.filter(({ name }) => name.toLowerCase() === named.toLowerCase())
  if (byId) return byId
  if (byName.length === 1 && byName[0]) return byName[0]
  const yours = all.map(({ id, name }) => `${name} (${id})`).join(', ') || 'none'
  const problem = byName.length > 1 ? `Several workspaces are called ${named}` : `You are in no workspace ${named}`
  throw new Failure(`${problem}. Yours: ${yours}.`, { code: 'NO_SUCH_WORKSPACE', advice: 'Give an id.' })
}

/** The address as it is kept: without what follows it and without a slash at its end. */
export function addressOf(given: string): string {
  const address = /^[a-z]+:\/\//i.test(given) ? given : `http://${given}`
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new UsageError(`${given} is not the address of a service.`)
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}
