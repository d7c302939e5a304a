import type { Context } from '../context.ts'
import { OutboundFailure } from '../outbound/stream.ts'
import { parseUrl } from '../outbound/target.ts'

export type RequestContext = Pick<Context, 'outbound' | 'clock'>

/** Why data could not be fetched, for the person who imports. It never contains the key. */
export class FetchFailed extends Error {}

export interface ApiRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: string
}

export interface ApiAnswer {
  status: number
  header: (name: string) => string | null
  body: Buffer
}

const answerBytes = 16 * 1024 * 1024
const answerMs = 90_000
/** A limit of requests that is not lifted within this time is a failure. */
const longestWaitMs = 3_600_000
const defaultWaitMs = 60_000
/** Attempts at one request while a service fails; waiting for a limit does not count. */
const attempts = 5
const maxLimited = 100

/** Linear's own keys are sent as they are, all tokens as Bearer. */
export const authorization = (key: string) => (/^lin_api_/.test(key) ? key : `Bearer ${key}`)

/**
 * Calls one API with a key, which is sent to the host of that API only. Waits as long as a rate limit demands, and
 * repeats requests that failed for the moment.
 */
export class ApiClient {
  readonly #ctx: RequestContext
  readonly #base: URL
  readonly #key: string
  readonly #signal: AbortSignal
  readonly #name: string

  constructor(ctx: RequestContext, api: { url: string; name: string }, key: string, signal: AbortSignal) {
    if (!parseUrl(api.url)) throw new FetchFailed(`The address of ${api.name} is not a URL.`)
    if (!/^[\x21-\x7e]+$/.test(key)) throw new FetchFailed('The key has characters that no key has. Copy it again.')
    this.#ctx = ctx
    this.#base = new URL(api.url)
    this.#name = api.name
    this.#key = key
    this.#signal = signal
  }

  /** A successful answer. Throws FetchFailed. */
  async request(request: ApiRequest): Promise<ApiAnswer> {
    if (new URL(request.url).origin !== this.#base.origin)
      throw new FetchFailed(`${this.#name} refers to another host, ${new URL(request.url).host}, which is not called.`)
    let [failures, limited] = [0, 0]
    for (;;) {
      const answer = await this.#attempt(request)
      const waitMs = answer && limitOf(answer, this.#ctx.clock.now())
      if (answer && waitMs === null && answer.status < 300) return answer
      if (waitMs !== null) {
        if (waitMs > longestWaitMs || ++limited > maxLimited)
          throw new FetchFailed(`${this.#name} allows no more requests for now. Try again later.`)
        await this.#wait(waitMs)
      } else if (answer && answer.status < 500) throw new FetchFailed(this.#refusal(answer.status))
      else if (++failures >= attempts)
        throw new FetchFailed(
          `${this.#name} ${answer ? `answers ${answer.status}` : 'cannot be reached'}. Try again later.`,
        )
      else await this.#wait(1000 * 4 ** (failures - 1))
    }
  }

  #refusal(status: number): string {
    if (status === 401 || status === 403) return `${this.#name} answered ${status}. Check the key and what it may read.`
    if (status === 404) return `${this.#name} answered 404. Check the address, and that the key may read it.`
    return `${this.#name} answered ${status}.`
  }

  /** Null if there was no answer. */
  async #attempt({ method, url, headers, body }: ApiRequest): Promise<ApiAnswer | null> {
    const { outbound, clock } = this.#ctx
    const abort = new AbortController()
    const stop = () => abort.abort()
    this.#signal.throwIfAborted()
    this.#signal.addEventListener('abort', stop, { once: true })
    const cancelTimer = clock.after(answerMs, stop)
    try {
      const opened = await outbound.open(
        {
          method,
          url,
          headers: {
            'user-agent': 'Baton-Import/1',
            accept: 'application/json',
            'accept-encoding': 'identity',
            ...headers,
            authorization: authorization(this.#key),
          },
          ...(body === undefined ? {} : { body: Buffer.from(body) }),
        },
        abort.signal,
      )
      const header = (name: string) => opened.headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? null
      return { status: opened.status, header, body: await this.#read(opened.body) }
    } catch (error) {
      this.#signal.throwIfAborted()
      if (!(error instanceof OutboundFailure)) throw error
      if (error.reason === 'blocked_destination')
        throw new FetchFailed(`${this.#name} is at an address that this instance does not call.`)
      return null
    } finally {
      cancelTimer()
      this.#signal.removeEventListener('abort', stop)
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<Buffer> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > answerBytes) throw new FetchFailed(`An answer of ${this.#name} is larger than 16 MB.`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopped = () => {
        cancel()
        reject(this.#signal.reason)
      }
      const cancel = this.#ctx.clock.after(ms, () => {
        this.#signal.removeEventListener('abort', stopped)
        resolve()
      })
      this.#signal.addEventListener('abort', stopped, { once: true })
    })
  }
}

/**
 * How long to wait before the same request; null if no limit was reached. GitHub answers 403 or 429, Linear 400 or 429
 * with a code in the body.
 */
function limitOf({ status, header, body }: ApiAnswer, now: Date): number | null {
  const isLimited =
    status === 429 ||
    (status === 403 && (header('retry-after') !== null || header('x-ratelimit-remaining') === '0')) ||
    (status === 400 && body.subarray(0, 10_000).includes('"RATELIMITED"'))
  if (!isLimited) return null
  const after = header('retry-after')
  if (after !== null && /^\d{1,9}$/.test(after)) return Math.max(1, Number(after)) * 1000
  if (after !== null && Number.isFinite(Date.parse(after))) return Math.max(1000, Date.parse(after) - now.getTime())
  // Seconds at GitHub, milliseconds at Linear.
  const reset = Number(header('x-ratelimit-reset') ?? header('x-ratelimit-requests-reset') ?? Number.NaN)
  const resetMs = reset > 1e11 ? reset : reset * 1000
  return Number.isFinite(resetMs) ? Math.max(1000, resetMs - now.getTime()) : defaultWaitMs
}

/** Takes what is fetched, in order, and stores it. */
export type Sink = (bytes: Buffer) => Promise<void>

const totalBytes = 1024 * 1024 * 1024
const maxIssues = 100_000

/** Writes objects of an API as lines, and stops at the limits of an import. */
export class LineWriter {
  readonly #sink: Sink
  #bytes = 0
  #issues = 0

  constructor(sink: Sink) {
    this.#sink = sink
  }

  async write(kind: string, items: readonly unknown[]) {
    if (items.length === 0) return
    const bytes = Buffer.from(items.map((data) => `${JSON.stringify({ kind, data })}\n`).join(''))
    this.#bytes += bytes.length
    if (this.#bytes > totalBytes) throw new FetchFailed('The data is larger than 1 GB. Import it in parts.')
    if (kind === 'issues') this.#issues += items.length
    if (this.#issues > maxIssues) throw new FetchFailed('There are more than 100,000 issues. Import them in parts.')
    await this.#sink(bytes)
  }
}

/** The parsed body of an answer. */
export function jsonOf(answer: ApiAnswer, name: string): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8'))
  } catch {
    throw new FetchFailed(`${name} answered with something else than JSON. Check the address.`)
  }
}
