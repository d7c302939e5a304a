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
  /** A token is replaced when it has less than this left. */
  earlyMs?: number
  /** The tokens of this installation are gone for good: ask a manager to install the app again. */
  onReinstallNeeded?: (installationId: string) => void
  fetch?: typeof globalThis.fetch
  clock?: Clock
}

/** How often, and with which pauses, a refresh is tried whose answer was lost: all well within the replay rule's 60 s. */
const pausesMs = [1000, 3000]
/** Another process may have refreshed and not have stored it yet. */
const otherProcessMs = 1000

/**
 * Keeps the access tokens of installations fresh. Of any number of calls that need a new one, one refreshes and the
 * others wait for it; of several processes with one store, the one that comes second takes what the first got.
 */
export class TokenManager {
  readonly #options: TokenManagerOptions
  readonly #clock: Clock
  readonly #client: BatonClient
  readonly #refreshing = new Map<string, Promise<InstallationTokens>>()
  /** Refreshed, but the store did not take them. They are the only ones that work. */
  readonly #unsaved = new Map<string, InstallationTokens>()

  constructor(options: TokenManagerOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    const { baseUrl, fetch, clock } = options
    this.#client = new BatonClient({ baseUrl, ...(fetch && { fetch }), ...(clock && { clock }) })
  }

  /** Tokens that work for a while; refreshed if they have to be. */
  async get(installationId: string): Promise<InstallationTokens> {
    const running = this.#refreshing.get(installationId)
    if (running) return running
    const tokens = await this.#load(installationId)
    return this.#isFresh(tokens) ? tokens : this.#refreshOnce(installationId, null)
  }

  /** For a BatonClient that acts for this installation. */
  provider(installationId: string): TokenProvider {
    const credentials = ({ access_token, workspace_id }: InstallationTokens): Credentials => ({
      accessToken: access_token,
      workspaceId: workspace_id,
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

  /** Keeps what the token endpoint answered. */
  async save(response: TokenResponse): Promise<InstallationTokens> {
    const { installation_id, app_user_id, workspace_id, access_token, refresh_token, scope, expires_in } = response
    const texts = [installation_id, app_user_id, workspace_id, access_token, refresh_token]
    if (!installation_id || !app_user_id || !texts.every(isText) || !Number.isFinite(expires_in)) throw notOurs()
    const expires_at = this.#clock.now().getTime() + expires_in * 1000
    const tokens = { installation_id, workspace_id, app_user_id, access_token, refresh_token, scope, expires_at }
    this.#unsaved.set(installation_id, tokens)
    await this.#options.store.set(installation_id, tokens)
    this.#unsaved.delete(installation_id)
    return tokens
  }

  /** After the app was uninstalled (6.4). */
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
    throw reinstallNeeded(id, 'There are no tokens for this installation; it was never made, or was revoked.')
  }

  #isFresh({ expires_at }: InstallationTokens) {
    return expires_at - this.#clock.now().getTime() > (this.#options.earlyMs ?? 300_000)
  }

  /** Whoever comes while one is under way waits for that one. `refused` is an access token that the service refused. */
  #refreshOnce(id: string, refused: string | null): Promise<InstallationTokens> {
    const running = this.#refreshing.get(id)
    if (running) return running
    const refresh = this.#refresh(id, refused).finally(() => this.#refreshing.delete(id))
    this.#refreshing.set(id, refresh)
    return refresh
  }

  async #refresh(id: string, refused: string | null): Promise<InstallationTokens> {
    // Somebody else, here or in another process, may have been faster.
    const tokens = await this.#load(id)
    if (tokens.access_token !== refused && this.#isFresh(tokens)) return tokens
    try {
      return await this.save(await this.#ask(tokens.refresh_token))
    } catch (error) {
      if (!isInvalidGrant(error)) return this.#whileItLasts(tokens, refused, error)
      const others = (await this.#ofAnother(id, tokens)) ?? (await this.#ofAnother(id, tokens, otherProcessMs))
      if (others) return this.#isFresh(others) ? others : this.save(await this.#ask(others.refresh_token))
      this.#options.onReinstallNeeded?.(id)
      return this.#whileItLasts(tokens, refused, reinstallNeeded(id, 'The refresh token is no longer valid.', error))
    }
  }

  /** The answer may get lost after the service has rotated; asking again soon is then refused, and does no harm (5). */
  async #ask(refreshToken: string): Promise<TokenResponse> {
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

  async #ofAnother(id: string, { refresh_token }: InstallationTokens, waitMs = 0): Promise<InstallationTokens | null> {
    if (waitMs > 0) await sleep(this.#clock, waitMs)
    const stored = await this.#options.store.get(id)
    return stored && stored.refresh_token !== refresh_token ? stored : null
  }

  /** Refreshing early leaves a token that still works, unless it is the one that was refused. */
  #whileItLasts(tokens: InstallationTokens, refused: string | null, error: unknown): InstallationTokens {
    const lasts = tokens.expires_at > this.#clock.now().getTime() && tokens.access_token !== refused
    if (lasts) return tokens
    throw error
  }
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''

const notOurs = () =>
  new BatonError({ code: 'UNEXPECTED_ANSWER', status: 200, message: 'These are not the tokens of an agent app.' })

const isInvalidGrant = (error: unknown) => isBatonError(error, 'OAUTH_ERROR') && error.details.error === 'invalid_grant'

const reinstallNeeded = (installationId: string, message: string, cause?: unknown) =>
  new BatonError({
    code: 'REINSTALL_NEEDED',
    status: 0,
    message: `${message} A manager has to install the app again.`,
    details: { installation_id: installationId },
    cause,
  })
