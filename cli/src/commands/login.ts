import { BatonClient } from '@baton/sdk'
import { account, type Call, type Command, positionals, text } from '../command.ts'
import { readConfig, writeConfig } from '../config.ts'
import { Failure } from '../failure.ts'
import { logIn } from '../log-in.ts'
import { serviceUrl } from '../urls.ts'

export const login: Command = {
  name: 'login',
  summary: 'log in to an instance of Baton, or log out',
  usage: [
    '[--url URL] [--email E-MAIL] [--workspace NAME]',
    '--browser [--paste] [--url URL] [--workspace NAME]',
    '--out [--url URL]',
  ],
  about:
    'Asks for the password, reads it from stdin, or lets you sign in with a browser. Stores the login in a file that only you can read.',
  example: 'login --url http://localhost:3000 --email ada@demo.example',
  options: {
    ...account,
    email: { type: 'string', value: 'E-MAIL', about: 'your e-mail address' },
    'password-stdin': { type: 'boolean', about: 'read the password from stdin' },
    browser: { type: 'boolean', about: 'sign in with the browser: also by single sign-on or passkey' },
    paste: { type: 'boolean', about: 'with --browser: paste a code, for a browser on another machine' },
    out: { type: 'boolean', about: 'log out' },
  },
  async run(call) {
    positionals(call.args)
    await (call.values.out ? logOut(call) : logIn(call))
  },
}

async function logOut(call: Call) {
  const config = await readConfig()
  const given = text(call, 'url')
  const url = given ? serviceUrl(given) : config.current
  const known = url ? config.logins[url] : undefined
  if (!url || !known) throw new Failure('You are not logged in.', { code: 'NOT_LOGGED_IN' })
  const { [url]: _, ...logins } = config.logins
  const signedOut = await new BatonClient({ baseUrl: url, token: known.token, retries: { attempts: 1 } })
    .signOut()
    .then(() => true)
    .catch(() => false)
  await writeConfig({ current: config.current === url ? (Object.keys(logins)[0] ?? null) : config.current, logins })
  if (!signedOut) call.terminal.note('The service could not be reached; the login there stays valid until it expires.')
  call.terminal.result({ url, logged_out: true }, `Logged out at ${url}.`)
}
