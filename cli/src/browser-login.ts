import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { BatonClient, isBatonError } from '@baton/sdk'
import { ask } from './ask.ts'
import type { Call } from './command.ts'
import { Failure, UsageError } from './failure.ts'

/** As long as a user may take to sign in with a provider. */
const waitMs = 10 * 60_000

interface Login {
  email: string
  token: string
}

/**
 * Lets the user allow this program in a browser. The code that the browser brings is useless without the verifier, which
 * stays in this process.
 */
export async function browserLogin(call: Call, url: string): Promise<Login> {
  if (call.values.email || call.values['password-stdin']) {
    throw new UsageError('--browser needs no --email and no --password-stdin.')
  }
  const verifier = randomBytes(32).toString('base64url')
  const page = new URL('/cli-login', url)
  page.searchParams.set('challenge', createHash('sha256').update(verifier).digest('base64url'))
  page.searchParams.set('name', `baton on ${hostname()}`.slice(0, 80))
  const exchange = async (code: string): Promise<Login> => {
    const { user, token } = await new BatonClient({ baseUrl: url }).exchangeCliLogin(
      { code, verifier },
      { signal: call.signal },
    )
    return { email: user.email, token }
  }
  return call.values.paste ? pastedLogin(call, page, exchange) : receivedLogin(call, page, exchange)
}

async function pastedLogin(call: Call, page: URL, exchange: (code: string) => Promise<Login>): Promise<Login> {
  call.terminal.note(`Open this address in a browser:\n${page}`)
  return exchange(await ask('Code', '--browser without --paste', call.signal))
}

/** Waits on 127.0.0.1 for the browser. A code that does not work is ignored: any page can send one here. */
async function receivedLogin(call: Call, page: URL, exchange: (code: string) => Promise<Login>): Promise<Login> {
  const { signal, terminal } = call
  const server = createServer()
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    page.searchParams.set('port', String((server.address() as AddressInfo).port))
    return await new Promise<Login>((resolve, reject) => {
      server.on('request', (request, response) => void receive(request, response, exchange).then(resolveIf, reject))
      const resolveIf = (login: Login | null) => login && resolve(login)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      setTimeout(() => reject(new Failure('The browser did not return within 10 minutes.')), waitMs).unref()
      terminal.note(`Open this address in a browser on this machine, if it does not open by itself:\n${page}`)
      openBrowser(page.href)
    })
  } finally {
    server.close()
  }
}

/** Null for a request without a working code. */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  exchange: (code: string) => Promise<Login>,
): Promise<Login | null> {
  const code = new URL(request.url ?? '/', 'http://127.0.0.1').searchParams.get('code')
  try {
    const login = request.method === 'GET' && code ? await exchange(code) : null
    if (login) answer(response, 200, 'You are logged in. Return to your terminal; you can close this page.')
    else answer(response, 404, 'Not found.')
    return login
  } catch (error) {
    answer(response, 400, 'This did not work. Return to your terminal.')
    if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return null
    throw error
  }
}

const answer = (response: ServerResponse, status: number, text: string) =>
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)

/** Where there is no browser, the user opens the printed address. */
function openBrowser(address: string) {
  const [command, ...args] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['explorer'] : ['xdg-open']
  spawn(command as string, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}
