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
  /** {base_url}, or the address of the service. */
  baseUrl: string
  /** Who signs answers (`iss`): the address of the service, unless it is reached by another name. */
  issuer?: string
  /** One of the manifest's, to the letter; `callback` is served there. */
  redirectUri: string
  scopes: readonly string[]
  store: TokenStore
  /** A secret of your own, without which nobody begins an installation (5.9): `/install?secret=…`. */
  installSecret: string
  /** Answers the browser after the tokens are stored. A plain page if you leave it out. */
  onInstalled?(tokens: InstallationTokens): Response | undefined | Promise<Response | undefined>
  fetch?: typeof globalThis.fetch
  clock?: Clock
}

export interface Installer {
  /** Sends a manager's browser to the consent page. */
  start(request: Request): Promise<Response>
  /** Takes the browser back, exchanges the code and stores the tokens. */
  callback(request: Request): Promise<Response>
}

const cookieName = 'baton_install'
/** As long as the service keeps a consent page open. */
const minutes = 10

interface Begun {
  state: string
  verifier: string
  until: number
}

/** 4.2: the authorization-code flow with PKCE, as an agent app. */
export function createInstaller(options: InstallerOptions): Installer {
  if (!options.installSecret) throw new TypeError('An installer needs an installSecret of your own.')
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
  if (!sameText(given, flow.installSecret)) return page(403, 'This address needs the secret of whoever runs the agent.')
  const begun: Begun = {
    state: random(),
    verifier: random(),
    until: flow.clock.now().getTime() + minutes * 60_000,
  }
  const asked = new URLSearchParams({
    client_id: flow.clientId,
    redirect_uri: flow.redirectUri,
    response_type: 'code',
    scope: flow.scopes.join(' '),
    state: begun.state,
    actor: 'app',
    code_challenge: createHash('sha256').update(begun.verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const headers = {
    location: `${flow.baseUrl}/oauth/authorize?${asked}`,
    'set-cookie': cookie(flow, seal(flow.key, begun), minutes * 60),
    ...unshared,
  }
  return new Response(null, { status: 302, headers })
}

async function callback(flow: Flow, request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams
  const over = { 'set-cookie': cookie(flow, '', 0) }
  const begun = open<Begun>(flow.key, cookieOf(request))
  const refusal = refusalOf(flow, query, begun)
  if (!begun || refusal !== null) return page(400, refusal ?? '', over)
  try {
    const stored = await flow.tokens.save(await exchange(flow, query.get('code') ?? '', begun.verifier))
    return (await flow.onInstalled?.(stored)) ?? page(200, 'Installed. You can close this page.', over)
  } catch (error) {
    if (!isBatonError(error)) throw error
    return page(502, 'The service did not accept the code. Begin the installation again.', over)
  }
}

/** 5.9: the answer belongs to what was begun in this browser, and comes from the service that was asked. */
function refusalOf({ clock, issuer }: Flow, query: URLSearchParams, begun: Begun | null): string | null {
  if (!begun || begun.until < clock.now().getTime()) return 'Begin the installation again; this one is too old.'
  if (!sameText(query.get('state') ?? '', begun.state)) return 'This answer belongs to another installation.'
  if (query.get('iss') !== issuer) return 'This answer does not come from the service that was asked.'
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

/** The address holds a secret or a code: nobody keeps it or passes it on. */
const unshared = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

const page = (status: number, text: string, headers: Record<string, string> = {}) =>
  new Response(`${text}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...unshared, ...headers },
  })

function cookie({ redirectUri }: Flow, value: string, seconds: number) {
  const secure = redirectUri.startsWith('https:') ? '; Secure' : ''
  return `${cookieName}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** In constant time, whatever the lengths. */
const sameText = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))
const digest = (text: string) => createHash('sha256').update(text).digest()

function cookieOf(request: Request): string {
  const all = request.headers.get('cookie') ?? ''
  const found = all.split(/;\s*/).find((one) => one.startsWith(`${cookieName}=`))
  return found?.slice(cookieName.length + 1) ?? ''
}
