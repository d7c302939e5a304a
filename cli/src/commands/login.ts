import { BatonClient } from '@baton/sdk'
import { addressOf, type WorkspaceOfMine, workspaceNamed, workspacesOf } from '../account.ts'
import { ask, askSecretly, stdinLine } from '../ask.ts'
import { account, type Call, type Command, positionals, text } from '../command.ts'
import { readConfig, writeConfig } from '../config.ts'
import { Failure } from '../failure.ts'

export const login: Command = {
  name: 'login',
  summary: 'log in at an instance of Baton, or out',
  usage: ['[--url ADDRESS] [--email E-MAIL] [--workspace NAME]', '--out [--url ADDRESS]'],
  about: 'The password is asked for, or read from stdin. The login is kept in a file that only you can read.',
  example: 'baton login --url http://localhost:3000 --email ada@demo.example',
  options: {
    ...account,
    email: { type: 'string', value: 'E-MAIL', about: 'your e-mail' },
    'password-stdin': { type: 'boolean', about: 'read the password from stdin' },
    out: { type: 'boolean', about: 'end the login' },
  },
  async run(call) {
    positionals(call.args)
    await (call.values.out ? logOut(call) : logIn(call))
  },
}

const usual = 'http://localhost:3000'

export async function logIn(call: Call) {
  const { signal, terminal, values } = call
  const { current } = await readConfig()
  const url = addressOf(text(call, 'url') ?? (await askUrl(call, current ?? usual)))
  const email = text(call, 'email') ?? (await ask('E-mail', '--email', signal))
  const password = values['password-stdin']
    ? await stdinLine(signal)
    : await askSecretly('Password', '--password-stdin', signal)
  const { token } = await new BatonClient({ baseUrl: url }).signIn({ email, password }, { signal })
  if (typeof token !== 'string')
    throw new Failure(`What answers at ${url} is not Baton.`, { code: 'UNEXPECTED_ANSWER' })
  const client = new BatonClient({ baseUrl: url, token })
  const workspace = await chooseWorkspace(call, client).catch(async (error) => {
    // Nobody keeps it, so it shall not go on.
    await client.signOut().catch(() => {})
    throw error
  })
  await keep(url, { email, token, workspace: workspace && { id: workspace.id, name: workspace.name } })
  const where = workspace ? `, in ${workspace.name}` : '. You are in no workspace yet'
  terminal.result({ url, email, workspace }, `Logged in at ${url} as ${email}${where}.`)
}

async function askUrl({ signal, values }: Call, otherwise: string) {
  return values['password-stdin'] ? otherwise : ask('Address of Baton', '--url', signal, otherwise)
}

async function chooseWorkspace(call: Call, client: BatonClient): Promise<WorkspaceOfMine | null> {
  const all = await workspacesOf(client)
  const named = text(call, 'workspace')
  if (named !== undefined) return workspaceNamed(all, named)
  if (all.length <= 1) return all[0] ?? null
  const names = all.map(({ name }) => name).join(', ')
  if (call.values['password-stdin']) {
    throw new Failure(`You are in several workspaces: ${names}.`, { advice: 'Choose one with --workspace.' })
  }
  call.terminal.note(`Your workspaces: ${names}`)
  return workspaceNamed(all, await ask('Workspace', '--workspace', call.signal, all[0]?.name))
}

async function keep(url: string, login: { email: string; token: string; workspace: WorkspaceKept | null }) {
  const config = await readConfig()
  const before = config.logins[url]
  await writeConfig({ current: url, logins: { ...config.logins, [url]: login } })
  // The one before would go on unseen.
  if (before) await new BatonClient({ baseUrl: url, token: before.token }).signOut().catch(() => {})
}
type WorkspaceKept = { id: string; name: string }

async function logOut(call: Call) {
  const config = await readConfig()
  const asked = text(call, 'url')
  const url = asked ? addressOf(asked) : config.current
  const known = url ? config.logins[url] : undefined
  if (!url || !known) throw new Failure('There is no login to end.', { code: 'NOT_LOGGED_IN' })
  const { [url]: _, ...logins } = config.logins
  const told = await new BatonClient({ baseUrl: url, token: known.token, retries: { attempts: 1 } })
    .signOut()
    .then(() => true)
    .catch(() => false)
  await writeConfig({ current: config.current === url ? (Object.keys(logins)[0] ?? null) : config.current, logins })
  if (!told) call.terminal.note('The service could not be told; there the login lasts until it expires.')
  call.terminal.result({ url, logged_out: true }, `Logged out at ${url}.`)
}
