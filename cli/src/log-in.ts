import { BatonClient } from '@baton/sdk'
import { findWorkspace, type Membership, workspacesOf } from './account.ts'
import { ask, askPassword, stdinLine } from './ask.ts'
import { browserLogin } from './browser-login.ts'
import { type Call, text } from './command.ts'
import { type Login, readConfig, writeConfig } from './config.ts'
import { Failure, UsageError } from './failure.ts'
import { installedFrom } from './origin.ts'
import { defaultUrl, serviceUrl } from './urls.ts'

export async function logIn(call: Call) {
  const { terminal, values } = call
  const { current } = await readConfig()
  const url = serviceUrl(text(call, 'url') ?? (await askUrl(call, current ?? installedFrom() ?? defaultUrl)))
  const { email, token } = values.browser ? await browserLogin(call, url) : await passwordLogin(call, url)
  if (typeof token !== 'string') throw new Failure(`The service at ${url} is not Baton.`, { code: 'UNEXPECTED_ANSWER' })
  const client = new BatonClient({ baseUrl: url, token })
  const workspace = await chooseWorkspace(call, client).catch(async (error) => {
    // The token is not stored, so it must not stay valid.
    await client.signOut().catch(() => {})
    throw error
  })
  await storeLogin(url, { email, token, workspace: workspace && { id: workspace.id, name: workspace.name } })
  const where = workspace ? `, in ${workspace.name}` : '. You are not a member of a workspace yet'
  terminal.result({ url, email, workspace }, `Logged in at ${url} as ${email}${where}.`)
}

async function passwordLogin(call: Call, url: string) {
  const { signal, values } = call
  if (values.paste) throw new UsageError('--paste needs --browser.')
  const email = text(call, 'email') ?? (await ask('E-mail', '--email', signal))
  const password = values['password-stdin']
    ? await stdinLine(signal)
    : await askPassword('Password', '--password-stdin', signal)
  const { token } = await new BatonClient({ baseUrl: url }).signIn({ email, password }, { signal })
  return { email, token }
}

async function askUrl({ signal, values }: Call, defaultAnswer: string) {
  return values['password-stdin'] || values.browser
    ? defaultAnswer
    : ask('URL of Baton', '--url', signal, defaultAnswer)
}

async function chooseWorkspace(call: Call, client: BatonClient): Promise<Membership | null> {
  const all = await workspacesOf(client)
  const named = text(call, 'workspace')
  if (named !== undefined) return findWorkspace(all, named)
  if (all.length <= 1) return all[0] ?? null
  const names = all.map(({ name }) => name).join(', ')
  if (call.values['password-stdin']) {
    throw new Failure(`You are a member of several workspaces: ${names}.`, { advice: 'Choose one with --workspace.' })
  }
  call.terminal.note(`Your workspaces: ${names}`)
  return findWorkspace(all, await ask('Workspace', '--workspace', call.signal, all[0]?.name))
}

async function storeLogin(url: string, login: Login) {
  const config = await readConfig()
  const before = config.logins[url]
  await writeConfig({ current: url, logins: { ...config.logins, [url]: login } })
  // Otherwise the previous token would stay valid, unused.
  if (before) await new BatonClient({ baseUrl: url, token: before.token }).signOut().catch(() => {})
}
