import { BatonClient, type Credentials, type TokenProvider } from './client.ts'
import { type Clock, sleep, systemClock } from './clock.ts'
import { BatonError, isBatonError } from './errors.ts'
import type { TokenResponse } from './operations.ts'
import type { InstallationTokens, TokenStore } from './token-stores.ts'

export * from './token-stores.ts'

export interface TokenManagerOptions {
  clientId: string
  clientSecret: string
  baseUrl: string
  store: TokenStore
  /** A token is refreshed when it expires in less than this. */
  earlyMs?: number
  /** The tokens of this installation no longer work: a manager has to install the app again. */
  onReinstallNeeded?: (installationId: string) => void
  fetch?: typeof globalThis.fetch
  clock?: Clock
}

/**
 * Delays before a refresh without response is repeated. All attempts must fit within 60 s, after which a reused refresh
 * token ends the grant (oauth.refresh-late-replay-ends-grant).
 */
const pausesMs = [1000, 3000]
/** Time for another process to store tokens that it has just refreshed. */
const otherProcessMs = 1000

/**
 * Refreshes the access tokens of installations. Concurrent calls that need a new token share one refresh. Of several
 * processes with one store, the second uses the tokens that the first has stored.
 */
export class TokenManager {
  readonly #options: TokenManagerOptions
  readonly #clock: Clock
  readonly #client: BatonClient
  readonly #refreshing = new Map<string, Promise<InstallationTokens>>()
  /** Tokens that were refreshed but could not be stored. The stored ones no longer work. */
  readonly #unsaved = new Map<string, InstallationTokens>()

  constructor(options: TokenManagerOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    const { baseUrl, fetch, clock } = options
    this.#client = new BatonClient({ baseUrl, ...(fetch && { fetch }), ...(clock && { clock }) })
  }

  /** Returns tokens that do not expire soon, refreshed if necessary. */
  async get(installationId: string): Promise<InstallationTokens> {
    const running = this.#refreshing.get(installationId)
    if (running) return running
    const tokens = await this.#load(installationId)
    return this.#isFresh(tokens) ? tokens : this.#refreshOnce(installationId, null)
  }

  /** The ids of all installations with stored tokens; empty if the store cannot list them. */
  installations = async (): Promise<string[]> => (await this.#options.store.list?.()) ?? []

  /** The `tokenProvider` of a BatonClient for this installation. */
  provider(installationId: string): TokenProvider {
    const credentials = ({ access_token, workspace_id, expires_at }: InstallationTokens): Credentials => ({
      accessToken: access_token,
      workspaceId: workspace_id,
      expiresAt: expires_at,
    })
    return {
      credentials: async () => credentials(await this.get(installationId)),
      refused: async ({ accessToken }, error) => {
        if (error.code === 'INSTALLATION_REVOKED') {
          await this.discard(installationId)
          return null
        }
        return credentials(await this.#refreshOnce(installationId, accessToken))
      },
    }
  }

  /** Stores a response of the token endpoint. */
  async save(response: TokenResponse): Promise<InstallationTokens> {
    const { installation_id, app_user_id, workspace_id, access_token, refresh_token, scope, expires_in } = response
    const texts = [installation_id, app_user_id, workspace_id, access_token, refresh_token]
    if (!installation_id || !app_user_id || !texts.every(isText) || !Number.isFinite(expires_in))
      throw invalidResponse()
    const expires_at = this.#clock.now().getTime() + expires_in * 1000
    const tokens = { installation_id, workspace_id, app_user_id, access_token, refresh_token, scope, expires_at }
    this.#unsaved.set(installation_id, tokens)
    await this.#options.store.set(installation_id, tokens)
    this.#unsaved.delete(installation_id)
    return tokens
  }

  /** Deletes the tokens, after the app was uninstalled. */
  async discard(installationId: string) {
    this.#unsaved.delete(installationId)
    await this.#options.store.delete(installationId)
  }

  async #load(id: string): Promise<InstallationTokens> {
    const unsaved = this.#unsaved.get(id)
    if (unsaved) {
      await this.#options.store.set(id, unsaved)
      this.#unsaved.delete(id)
    }
    const tokens = unsaved ?? (await this.#options.store.get(id))
    if (tokens) return tokens
    throw reinstallNeeded(
      id,
      'There are no tokens for this installation: the app was never installed or was uninstalled.',
    )
  }

  #isFresh({ expires_at }: InstallationTokens) {
    return expires_at - this.#clock.now().getTime() > (this.#options.earlyMs ?? 300_000)
  }

  /** Joins a refresh that is in progress. `refused` is an access token that the service refused. */
  #refreshOnce(id: string, refused: string | null): Promise<InstallationTokens> {
    const running = this.#refreshing.get(id)
    if (running) return running
    const refresh = this.#refresh(id, refused).finally(() => this.#refreshing.delete(id))
    this.#refreshing.set(id, refresh)
    return refresh
  }

  async #refresh(id: string, refused: string | null): Promise<InstallationTokens> {
    // Another call or process may have refreshed in the meantime.
    const tokens = await this.#load(id)
    if (tokens.access_token !== refused && this.#isFresh(tokens)) return tokens
    try {
      return await this.save(await this.#requestTokens(tokens.refresh_token))
    } catch (error) {
      if (!isInvalidGrant(error)) return this.#keepUntilExpiry(tokens, refused, error)
      const others =
        (await this.#refreshedByOther(id, tokens)) ?? (await this.#refreshedByOther(id, tokens, otherProcessMs))
      if (others) return this.#isFresh(others) ? others : this.save(await this.#requestTokens(others.refresh_token))
      this.#options.onReinstallNeeded?.(id)
      return this.#keepUntilExpiry(tokens, refused, reinstallNeeded(id, 'The refresh token is no longer valid.', error))
    }
  }

  /**
   * If the response is lost after the service has rotated the token, a repeated request is refused without harm
   * (oauth.refresh-early-replay-keeps-grant).
   */
  async #requestTokens(refreshToken: string): Promise<TokenResponse> {
    const { clientId, clientSecret } = this.#options
    const body = {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: clientId,
      client_secret: clientSecret,
    }
    for (const pauseMs of pausesMs) {
      try {
        return await this.#client.issueToken(body)
      } catch (error) {
        if (!isBatonError(error) || (error.status !== 0 && error.status < 500)) throw error
        await sleep(this.#clock, pauseMs)
      }
    }
    return this.#client.issueToken(body)
  }

  async #refreshedByOther(
    id: string,
    { refresh_token }: InstallationTokens,
    waitMs = 0,
  ): Promise<InstallationTokens | null> {
    if (waitMs > 0) await sleep(this.#clock, waitMs)
    const stored = await this.#options.store.get(id)
    return stored && stored.refresh_token !== refresh_token ? stored : null
  }

  /** After a failed early refresh, the old access token still works until it expires, unless it was refused. */
  #keepUntilExpiry(tokens: InstallationTokens, refused: string | null, error: unknown): InstallationTokens {
    const isValid = tokens.expires_at > this.#clock.now().getTime() && tokens.access_token !== refused
    if (isValid) return tokens
    throw error
  }
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''

const invalidResponse = () =>
  new BatonError({
    code: 'UNEXPECTED_ANSWER',
    status: 200,
    message: 'The response does not contain the tokens of an agent app.',
  })

const isInvalidGrant = (error: unknown) => isBatonError(error, 'OAUTH_ERROR') && error.details.error === 'invalid_grant'

const reinstallNeeded = (installationId: string, message: string, cause?: unknown) =>
  new BatonError({
    code: 'REINSTALL_NEEDED',
    status: 0,
    message: `${message} A manager has to install the app again.`,
    details: { installation_id: installationId },
    cause,
  })
