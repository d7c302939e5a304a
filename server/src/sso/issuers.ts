import type { Configuration } from 'openid-client'
import { hours, minutes } from '../clock.ts'
import type { Context } from '../context.ts'
import { ApiError, found } from '../http/errors.ts'
import type { Provider } from '../sso-config.ts'
import { issuerFetch, refusePlain } from './issuer-fetch.ts'

type OpenIdClient = typeof import('openid-client')
type Jose = typeof import('jose')

const metadataKeptMs = hours(1)
const retriedAfterMs = minutes(1)
/** Clocks of two machines differ by less. */
const clockToleranceSeconds = 30

/** A provider whose metadata was read, ready for requests. */
export interface Issuer {
  provider: Provider
  openid: OpenIdClient
  jose: Jose
  /** Its clock is the service's. */
  configuration(): Promise<Configuration>
  /** For sign-out messages. For ID tokens openid-client has its own: both read the keys at most once a minute. */
  keys: import('jose').JWTVerifyGetKey
  signOutUrl: string | null
}

interface Known {
  reading: Promise<Issuer>
  readAtMs: number
  isRead: Issuer | null
}

/**
 * The configured providers. Their metadata is read at the first use, not at the start, and kept for an hour. The
 * libraries are loaded then too, because most instances have no provider.
 */
export class Issuers {
  readonly #ctx: Context
  readonly #known = new Map<string, Known>()
  readonly #triedAtMs = new Map<string, number>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  provider(id: string): Provider {
    return found(this.#ctx.config.sso.providers.find((provider) => provider.id === id))
  }

  /** Throws 503 if the issuer cannot be reached. */
  async issuer(provider: Provider): Promise<Issuer> {
    const nowMs = this.#ctx.clock.now().getTime()
    let known = this.#known.get(provider.id)
    if (!known || nowMs - known.readAtMs >= metadataKeptMs) {
      const fresh: Known = { reading: readIssuer(this.#ctx, provider), readAtMs: nowMs, isRead: null }
      fresh.reading.then(
        (issuer) => {
          fresh.isRead = issuer
        },
        // The next request tries again.
        () => this.#known.get(provider.id) === fresh && this.#known.delete(provider.id),
      )
      this.#known.set(provider.id, fresh)
      known = fresh
    }
    try {
      return await known.reading
    } catch (error) {
      const { message } = error as Error
      this.#ctx.log.warn(
        { provider: provider.id, message: message.slice(0, 200) },
        'single sign-on: the metadata of the issuer could not be read',
      )
      throw new ApiError('NOT_READY', {}, { message: `${provider.name} cannot be reached. Try again later.` })
    }
  }

  /** For the page after sign-out. Null until the metadata was read; if it was not, this starts to read it. */
  signOutUrl(provider: Provider): string | null {
    const known = this.#known.get(provider.id)
    const nowMs = this.#ctx.clock.now().getTime()
    if (!known && nowMs - (this.#triedAtMs.get(provider.id) ?? 0) >= retriedAfterMs) {
      this.#triedAtMs.set(provider.id, nowMs)
      this.issuer(provider).catch(() => {})
    }
    return known?.isRead?.signOutUrl ?? null
  }
}

async function readIssuer({ clock }: Context, provider: Provider): Promise<Issuer> {
  const [openid, jose] = await Promise.all([import('openid-client'), import('jose')])
  const fetchFromIssuer = issuerFetch(clock)
  let metadata: Response | undefined
  const readMetadata = async (url: string, options: { headers?: Record<string, string> }) => {
    metadata ??= await fetchFromIssuer(url, options)
    return metadata.clone()
  }
  const skewSeconds = () => Math.round((clock.now().getTime() - Date.now()) / 1000)
  const configure = async () => {
    const server = new URL(provider.issuer)
    const configuration = await openid.discovery(
      server,
      provider.clientId,
      { [openid.clockSkew]: skewSeconds(), [openid.clockTolerance]: clockToleranceSeconds },
      clientAuthentication(openid, provider.clientSecret),
      {
        execute: [
          // Without it, openid-client accepts ID tokens without a signature or with a wrong one.
          openid.enableNonRepudiationChecks,
          ...(server.protocol === 'http:' ? [openid.allowInsecureRequests] : []),
        ],
        [openid.customFetch]: readMetadata,
      },
    )
    configuration[openid.customFetch] = fetchFromIssuer
    return { configuration, skew: skewSeconds() }
  }
  let current = await configure()
  const configuration = async () => {
    // openid-client reads the system's clock; the difference to ours changes only in tests.
    if (Math.abs(current.skew - skewSeconds()) > 1) {
      const keys = openid.getJwksCache(current.configuration)
      current = await configure()
      if (keys) openid.setJwksCache(current.configuration, keys)
    }
    return current.configuration
  }
  const { jwks_uri, authorization_endpoint, end_session_endpoint } = current.configuration.serverMetadata()
  if (!jwks_uri || !authorization_endpoint) throw new Error('the metadata has no jwks_uri or authorization_endpoint')
  // The browser opens these, so an address with a script must not pass.
  refusePlain(authorization_endpoint)
  if (end_session_endpoint) refusePlain(end_session_endpoint)
  return {
    provider,
    openid,
    jose,
    configuration,
    keys: jose.createRemoteJWKSet(new URL(jwks_uri), {
      cooldownDuration: minutes(1),
      cacheMaxAge: hours(1),
      [jose.customFetch]: fetchFromIssuer,
    }),
    signOutUrl: end_session_endpoint ? openid.buildEndSessionUrl(current.configuration).href : null,
  }
}

/** By POST where the issuer supports it: some issuers read the encoded form of Basic in another way than RFC 6749. */
const clientAuthentication =
  (openid: OpenIdClient, secret: string): import('openid-client').ClientAuth =>
  (as, client, body, headers) => {
    const methods = as.token_endpoint_auth_methods_supported as string[] | undefined
    const authenticate = methods?.includes('client_secret_post') ? openid.ClientSecretPost : openid.ClientSecretBasic
    return authenticate(secret)(as, client, body, headers)
  }
