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
}

/** 4.2: the authorization-code flow with PKCE, as an agent app. */
export function createInstaller(options: InstallerOptions): Installer {
  const { clientId, clientSecret, redirectUri, installSecret, clock = systemClock, fetch } = options
  if (!installSecret) throw new TypeError('An installer needs an installSecret of your own.')
  const { rootUrl, baseUrl } = addresses(options.baseUrl)
  const issuer = options.issuer ?? rootUrl
  const key = sealingKey(clientSecret, installSecret)
  const shared = { baseUrl, ...(fetch && { fetch }), clock }
  const client = new BatonClient(shared)
  const tokens = new TokenManager({ ...shared, clientId, clientSecret, store: options.store })
  const cookie = (value: string, seconds: number) =>
    `${cookieName}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${redirectUri.startsWith('https:') ? '; Secure' : ''}`

  async function start(request: Request): Promise<Response> {
    const given = new URL(request.url).searchParams.get('secret') ?? ''
    if (!sameText(given, installSecret)) return page(403, 'This address needs the secret of whoever runs the agent.')
    const begun: Begun = { state: random(), verifier: random() }
    const location = `${baseUrl}/oauth/authorize?${new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: options.scopes.join(' '),
      state: begun.state,
      actor: 'app',
      code_challenge: createHash('sha256').update(begun.verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })}`
    const until = clock.now().getTime() + minutes * 60_000
    const kept = cookie(seal(key, { ...begun, until }), minutes * 60)
    return new Response(null, { status: 302, headers: { location, 'set-cookie': kept, ...private_ } })
  }

  async function callback(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams
    const begun = open<Begun & { until: number }>(key, cookieOf(request))
    const refuse = (status: number, why: string) => page(status, why, { 'set-cookie': cookie('', 0) })
    if (!begun || begun.until < clock.now().getTime())
      return refuse(400, 'Begin the installation again; this one is too old.')
    if (!sameText(query.get('state') ?? '', begun.state))
      return refuse(400, 'This answer belongs to another installation.')
    if (query.get('iss') !== issuer) return refuse(400, 'This answer does not come from the service that was asked.')
    const error = query.get('error')
    if (error !== null) return refuse(400, `Not installed: ${error}.`)
    try {
      const stored = await tokens.save(await exchange(query.get('code') ?? '', begun.verifier))
      const answered = await options.onInstalled?.(stored)
      return answered ?? page(200, 'Installed. You can close this page.', { 'set-cookie': cookie('', 0) })
    } catch (error) {
      if (!isBatonError(error)) throw error
      return refuse(502, 'The service did not accept the code. Begin the installation again.')
    }
  }

  const exchange = (code: string, verifier: string) =>
    client.issueToken({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id: clientId,
      client_secret: clientSecret,
    })

  return { start, callback }
}

const random = () => randomBytes(32).toString('base64url')

/** The address holds a secret or a code: nobody keeps it or passes it on. */
const private_ = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

const page = (status: number, text: string, headers: Record<string, string> = {}) =>
  new Response(`${text}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...private_, ...headers },
  })

/** In constant time, whatever the lengths. */
const sameText = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))
const digest = (text: string) => createHash('sha256').update(text).digest()

function cookieOf(request: Request): string {
  const all = request.headers.get('cookie') ?? ''
  const found = all.split(/;\s*/).find((one) => one.startsWith(`${cookieName}=`))
  return found?.slice(cookieName.length + 1) ?? ''
}
