import { bytesUpTo } from './bytes.ts'
import { type Clock, sleep, systemClock } from './clock.ts'
import { BatonError, isBatonError, jsonObject, refusalOf } from './errors.ts'
import type { Operations } from './operations.ts'
import { type PreparedRequest, requestOf, returnsOtherThanJson, type UntypedInput, unflatten } from './request.ts'
import { defaultRetries, pauseBefore, type RetryRules } from './retry.ts'
import { type CallName, callNames, type RouteName } from './routes.ts'

export interface Credentials {
  accessToken: string
  workspaceId?: string
  /** When the access token expires, in milliseconds since 1970, if known. */
  expiresAt?: number
}

/** Source of credentials, such as a TokenManager. */
export interface TokenProvider {
  credentials(): Promise<Credentials>
  /** Called after a 401. Returns new credentials to retry with, or null. */
  refused?(credentials: Credentials, error: BatonError): Promise<Credentials | null>
}

export interface ClientOptions {
  /** {base_url}, which ends in /api/v1, or the URL of the service. */
  baseUrl: string
  /** A token that does not change. */
  token?: string
  /** Alternative to `token`. */
  tokenProvider?: TokenProvider | (() => string | Promise<string>)
  /** X-Workspace-ID, unless the token provider returns it. */
  workspaceId?: string
  /** For one attempt, including its body. */
  timeoutMs?: number
  retries?: Partial<RetryRules>
  fetch?: typeof globalThis.fetch
  clock?: Clock
  random?: () => number
}

export interface CallOptions {
  signal?: AbortSignal
  timeoutMs?: number
  headers?: Record<string, string>
  /** For operations that accept one; the same on every attempt. Default: random. */
  idempotencyKey?: string
  /** Retry this call after any temporary error: executing it twice does no harm. */
  repeatable?: boolean
}

type RequiredKeys<T> = { [Key in keyof T]-?: Record<never, never> extends Pick<T, Key> ? never : Key }[keyof T]
/** Absent if it has no keys, optional if all its keys are. */
type Part<Key extends string, T> = unknown extends T
  ? { [K in Key]?: never }
  : T extends unknown
    ? RequiredKeys<T> extends never
      ? { [K in Key]?: T }
      : { [K in Key]: T }
    : never
type Optional<T> = RequiredKeys<T> extends never ? [input?: T] : [input: T]

export type Input<Name extends CallName> = Part<'params', Operations[Name]['params']> &
  Part<'query', Operations[Name]['query']> &
  Part<'body', Operations[Name]['body']>
export type Answer<Name extends CallName> = Operations[Name]['answer']

/** Parameters, query and body of an operation in one object; no name occurs in two of them. */
export type FlatInput<Name extends CallName> = Operations[Name]['params'] &
  Operations[Name]['query'] &
  Operations[Name]['body']

type Methods = {
  [Name in keyof Operations]: unknown extends FlatInput<Name>
    ? (input?: Record<string, never>, options?: CallOptions) => Promise<Answer<Name>>
    : (...args: [...Optional<FlatInput<Name>>, options?: CallOptions]) => Promise<Answer<Name>>
}

export type StreamName = Exclude<RouteName, CallName>

export interface NewFile {
  name: string
  target_type?: 'issue' | 'project'
  target_id?: string
}

const uploadMs = 15 * 60_000

/** A page of a hundred issues with the longest descriptions is smaller. */
const answerBytes = 64 * 1024 * 1024

class Caller {
  readonly baseUrl: string
  readonly rootUrl: string
  readonly #tokens: TokenProvider | null
  readonly #options: ClientOptions
  readonly #retries: RetryRules
  readonly #clock: Clock

  constructor(options: ClientOptions) {
    const { rootUrl, baseUrl } = addresses(options.baseUrl)
    this.rootUrl = rootUrl
    this.baseUrl = baseUrl
    this.#tokens = providerOf(options)
    this.#options = options
    this.#retries = { ...defaultRetries, ...options.retries }
    this.#clock = options.clock ?? systemClock
  }

  /** Calls one operation by its name. */
  async call<Name extends CallName>(
    name: Name,
    ...args: [...Optional<Input<Name>>, options?: CallOptions]
  ): Promise<Answer<Name>> {
    const [input = {}, options] = args as unknown as [input?: UntypedInput, options?: CallOptions]
    return this.#call(name, input, options) as Promise<Answer<Name>>
  }

  /** Uploads a file to an issue or project, or as a draft that a text can refer to. An attempt may take 15 minutes. */
  async uploadFile(file: NewFile, content: Uint8Array | Blob, options: CallOptions = {}): Promise<Answer<'getFile'>> {
    const request = requestOf('uploadFile', { query: { ...file } }, options)
    const headers = { 'content-type': 'application/octet-stream', ...request.headers }
    const timed = { timeoutMs: uploadMs, ...options }
    return this.#retried({ ...request, headers, body: content }, timed) as Promise<Answer<'getFile'>>
  }

  async #call(name: CallName, input: UntypedInput, options: CallOptions = {}): Promise<unknown> {
    return this.#retried(requestOf(name, input, options), options)
  }

  async #retried(request: PreparedRequest, options: CallOptions): Promise<unknown> {
    const repeatable = options.repeatable ?? (request.method === 'GET' || request.idempotent)
    const random = this.#options.random ?? Math.random
    let credentials = await this.#tokens?.credentials()
    let renewed = false
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request, credentials, options)
      } catch (error) {
        if (isBatonError(error) && error.status === 401 && credentials && !renewed) {
          const renewedCredentials = await this.#tokens?.refused?.(credentials, error)
          if (!renewedCredentials) throw error
          credentials = renewedCredentials
          renewed = true
          continue
        }
        const pauseMs = pauseBefore(attempt, error, { repeatable, rules: this.#retries, random })
        if (pauseMs === null) throw error
        await sleep(this.#clock, pauseMs, options.signal)
      }
    }
  }

  /**
   * Opens a stream of server-sent events, which lasts until `signal` is aborted. Not repeated after a failure, except
   * once after a 401. `expiresAt` is null if the expiry of the token is not known.
   */
  async stream(
    name: StreamName,
    query: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<{ body: AsyncIterable<Uint8Array>; expiresAt: number | null }> {
    const request = requestOf(name, { query }, { headers: { accept: 'text/event-stream' } })
    let credentials = await this.#tokens?.credentials()
    for (let renewed = false; ; renewed = true) {
      const response = await this.#send(request, credentials, signal).catch((cause) => {
        throw new BatonError({ code: 'NETWORK_ERROR', status: 0, message: 'The service could not be reached.', cause })
      })
      if (response.ok && response.body) return { body: response.body, expiresAt: credentials?.expiresAt ?? null }
      const text = textOf((await bytesUpTo(answerBytes, response.body)) ?? new Uint8Array())
      const refusal = refusalOf(response.status, response.headers, text, this.#clock.now())
      const mayRenew = refusal.status === 401 && credentials && !renewed
      const renewedCredentials = mayRenew ? await this.#tokens?.refused?.(credentials as Credentials, refusal) : null
      if (!renewedCredentials) throw refusal
      credentials = renewedCredentials
    }
  }

  #send(request: PreparedRequest, credentials: Credentials | undefined, signal: AbortSignal): Promise<Response> {
    const { fetch = globalThis.fetch, workspaceId } = this.#options
    const workspace = credentials?.workspaceId ?? workspaceId
    return fetch(`${request.atRoot ? this.rootUrl : this.baseUrl}${request.path}`, {
      method: request.method,
      headers: {
        ...(credentials ? { authorization: `Bearer ${credentials.accessToken}` } : {}),
        ...(workspace ? { 'x-workspace-id': workspace } : {}),
        ...request.headers,
      },
      // A redirect would send the token to another address.
      redirect: 'manual',
      signal,
      ...(request.body === undefined ? {} : { body: request.body as string | Blob }),
    })
  }

  async #attempt(
    request: PreparedRequest,
    credentials: Credentials | undefined,
    options: CallOptions,
  ): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 15_000
    return withDeadline(this.#clock, timeoutMs, options.signal, async (signal) => {
      const response = await this.#send(request, credentials, signal)
      const bytes = await bytesUpTo(answerBytes, response.body)
      if (!bytes) throw unexpected(response, `sent more than ${answerBytes} bytes`)
      if (response.ok) return contentOf(request, response, bytes)
      throw refusalOf(response.status, response.headers, textOf(bytes), this.#clock.now())
    })
  }

  static {
    for (const name of callNames) {
      Object.defineProperty(Caller.prototype, name, {
        value(this: Caller, input: Record<string, unknown> = {}, options?: CallOptions) {
          return this.#call(name, unflatten(name, input), options)
        },
      })
    }
  }
}

/** A client with a method for every operation: `client.updateIssue({ issue_id: 'ENG-12', status: 'qa' })`. */
export type BatonClient = Caller & Methods
export const BatonClient = Caller as unknown as new (options: ClientOptions) => BatonClient

/** Returns the URLs of the service and of its API, given either. */
export function addresses(url: string) {
  if (!/^https?:\/\//.test(url)) {
    throw new TypeError(`baseUrl must be the URL of the service, such as http://localhost:3000, not "${url}".`)
  }
  const rootUrl = url.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
  return { rootUrl, baseUrl: `${rootUrl}/api/v1` }
}

function providerOf({ token, tokenProvider }: ClientOptions): TokenProvider | null {
  if (typeof tokenProvider === 'function') return { credentials: async () => ({ accessToken: await tokenProvider() }) }
  if (tokenProvider) return tokenProvider
  return token === undefined ? null : { credentials: async () => ({ accessToken: token }) }
}

function contentOf({ name }: PreparedRequest, response: Response, bytes: Uint8Array): unknown {
  const { status, headers } = response
  if (status === 204 || (status === 202 && bytes.length === 0)) return undefined
  const type = headers.get('content-type') ?? ''
  if (returnsOtherThanJson.has(name)) return /^(text\/|application\/x-ndjson)/.test(type) ? textOf(bytes) : bytes
  const value = type.includes('json') ? jsonObject(textOf(bytes)) : null
  if (value) return value
  throw unexpected(response, `answered ${status} with ${type || 'no content type'}, which is not a response of Baton`)
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const unexpected = ({ status, headers }: Response, what: string) =>
  new BatonError({
    code: 'UNEXPECTED_ANSWER',
    status,
    message: `The service ${what}.`,
    requestId: headers.get('x-request-id'),
  })

/** Aborts the work after `ms` or when `outer` is aborted, and throws a different error for each. */
async function withDeadline<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort()
  outer?.addEventListener('abort', abort, { once: true })
  const cancel = clock.after(ms, abort)
  try {
    return await work(controller.signal)
  } catch (cause) {
    if (cause instanceof BatonError) throw cause
    if (outer?.aborted) throw outer.reason
    throw controller.signal.aborted
      ? new BatonError({ code: 'TIMEOUT', status: 0, message: `The service did not respond within ${ms} ms.`, cause })
      : new BatonError({ code: 'NETWORK_ERROR', status: 0, message: 'The service could not be reached.', cause })
  } finally {
    cancel()
    outer?.removeEventListener('abort', abort)
  }
}
