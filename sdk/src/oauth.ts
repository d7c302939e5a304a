import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { addresses, BatonClient } from './client.ts'
import { type Clock, systemClock } from './clock.ts'
import { isBatonError } from './errors.ts'
import { open, seal, sealingKey } from './sealed.ts'
import { type InstallationTokens, TokenManager, type TokenStore } from './tokens.ts'

export { nodeHandler } from './handlers.ts'

export interface InstallerOptions {
  clientId: string
  clientSecret: string
  /** {base_url}, or the URL of the service. */
  baseUrl: string
  /** The expected `iss` of responses. Default: the URL of the service. */
  issuer?: string
  /** Must equal one of the manifest's exactly; serve `callback` there. */
  redirectUri: string
  scopes: readonly string[]
  store: TokenStore
  /** A secret you choose. `start` requires it: `/install?secret=…`. */
  installSecret: string
  /** Returns the page shown after the tokens are stored. Default: a plain text. */
  onInstalled?(tokens: InstallationTokens): Response | undefined | Promise<Response | undefined>
  fetch?: typeof globalThis.fetch
  clock?: Clock
}

export interface Installer {
  /** Redirects a manager's browser to the consent page. */
  start(request: Request): Promise<Response>
  /** Handles the redirect back: exchanges the code and stores the tokens. */
  callback(request: Request): Promise<Response>
}

const cookieName = 'baton_install'
/** The lifetime of the service's consent page. */
const minutes = 10

interface PendingInstall {
  state: string
  verifier: string
  until: number
}

/** Creates the two pages of the authorization-code flow with PKCE, with which a manager installs the app. */
export function createInstaller(options: InstallerOptions): Installer {
  if (!options.installSecret) throw new TypeError('createInstaller needs an installSecret.')
  const { clientId, clientSecret, installSecret, store, fetch, clock = systemClock } = options
  const { rootUrl, baseUrl } = addresses(options.baseUrl)
  const shared = { baseUrl, ...(fetch && { fetch }), clock }
  const flow: Flow = {
    ...options,
    baseUrl,
    issuer: options.issuer ?? rootUrl,
    clock,
    key: sealingKey(clientSecret, installSecret),
    client: new BatonClient(shared),
    tokens: new TokenManager({ ...shared, clientId, clientSecret, store }),
  }
  return { start: (request) => start(flow, request), callback: (request) => callback(flow, request) }
}

interface Flow extends InstallerOptions {
  issuer: string
  clock: Clock
  key: Buffer
  client: BatonClient
  tokens: TokenManager
}

async function start(flow: Flow, request: Request): Promise<Response> {
  const given = new URL(request.url).searchParams.get('secret') ?? ''
  if (!sameText(given, flow.installSecret))
    return page(403, 'The secret is missing or wrong. Open /install?secret=… with the installSecret of this agent.')
  const pending: PendingInstall = {
    state: random(),
    verifier: random(),
    until: flow.clock.now().getTime() + minutes * 60_000,
  }
  const query = new URLSearchParams({
    client_id: flow.clientId,
    redirect_uri: flow.redirectUri,
    response_type: 'code',
    scope: flow.scopes.join(' '),
    state: pending.state,
    actor: 'app',
    code_challenge: createHash('sha256').update(pending.verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const headers = {
    location: `${flow.baseUrl}/oauth/authorize?${query}`,
    'set-cookie': cookie(flow, seal(flow.key, pending), minutes * 60),
    ...privateHeaders,
  }
  return new Response(null, { status: 302, headers })
}

async function callback(flow: Flow, request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams
  const clearCookie = { 'set-cookie': cookie(flow, '', 0) }
  const pending = open<PendingInstall>(flow.key, cookieOf(request))
  const refusal = refusalOf(flow, query, pending)
  if (!pending || refusal !== null) return page(400, refusal ?? '', clearCookie)
  try {
    const stored = await flow.tokens.save(await exchange(flow, query.get('code') ?? '', pending.verifier))
    return (await flow.onInstalled?.(stored)) ?? page(200, 'Installed. You can close this page.', clearCookie)
  } catch (error) {
    if (!isBatonError(error)) throw error
    return page(502, 'The service did not accept the code. Start the installation again.', clearCookie)
  }
}

/** Checks that the response belongs to an installation started in this browser and comes from our service. */
function refusalOf({ clock, issuer }: Flow, query: URLSearchParams, pending: PendingInstall | null): string | null {
  if (!pending || pending.until < clock.now().getTime())
    return `This installation was started more than ${minutes} minutes ago or in another browser. Start again.`
  if (!sameText(query.get('state') ?? '', pending.state))
    return 'The state parameter is wrong. Start the installation again.'
  if (query.get('iss') !== issuer) return 'The iss parameter is wrong: this response is not from the expected service.'
  const error = query.get('error')
  return error === null ? null : `Not installed: ${error}.`
}

const exchange = ({ client, clientId, clientSecret, redirectUri }: Flow, code: string, verifier: string) =>
  client.issueToken({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    client_id: clientId,
    client_secret: clientSecret,
  })

const random = () => randomBytes(32).toString('base64url')

/** The URL contains a secret or a code, which must not be cached or sent as a referrer. */
const privateHeaders = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

const page = (status: number, text: string, headers: Record<string, string> = {}) =>
  new Response(`${text}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...privateHeaders, ...headers },
  })

function cookie({ redirectUri }: Flow, value: string, seconds: number) {
  const secure = redirectUri.startsWith('https:') ? '; Secure' : ''
  return `${cookieName}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** Compares in constant time, whatever the lengths. */
const sameText = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))
const digest = (text: string) => createHash('sha256').update(text).digest()

function cookieOf(request: Request): string {
  const all = request.headers.get('cookie') ?? ''
  const found = all.split(/;\s*/).find((one) => one.startsWith(`${cookieName}=`))
  return found?.slice(cookieName.length + 1) ?? ''
}
