import { Readable } from 'node:stream'
import type { Context } from '../context.ts'
import { type OpenedResponse, OutboundFailure } from '../outbound/stream.ts'
import { parseUrl } from '../outbound/target.ts'
import { openTemporaryFile } from '../storage/temporary-file.ts'
import { authorization } from './requests.ts'

/** Stores a file: its content, and its exact length. */
export type FileSink = (body: Readable, bytes: number) => Promise<void>

export type Fetched = { ok: true; bytes: number } | { ok: false; reason: string }

const maxRedirects = 5
const idleMs = 30_000
const totalMs = 15 * 60_000

class NotFetched extends Error {}

/**
 * Fetches a file by an address from imported data, so only from public addresses, also after each redirect. The key is
 * sent to `sourceHost` only. An error of the sink and the reason of `stopping` are thrown; every other failure is an
 * answer.
 */
export async function fetchAttachment(
  ctx: Pick<Context, 'outbound' | 'clock' | 'config'>,
  url: string,
  key: string | null,
  sourceHost: string | null,
  sink: FileSink,
  stopping: AbortSignal = new AbortController().signal,
): Promise<Fetched> {
  const abort = new AbortController()
  const stop = () => abort.abort()
  stopping.throwIfAborted()
  stopping.addEventListener('abort', stop, { once: true })
  const cancelTotal = ctx.clock.after(totalMs, () => abort.abort())
  let cancelIdle = ctx.clock.after(idleMs, () => abort.abort())
  const moved = () => {
    cancelIdle()
    cancelIdle = ctx.clock.after(idleMs, () => abort.abort())
  }
  try {
    const opened = await openFile(ctx, url, key, sourceHost, abort.signal)
    const content = new Content(opened, ctx.config.fileBytes, moved)
    return { ok: true, bytes: await store(content, sink) }
  } catch (error) {
    stopping.throwIfAborted()
    if (error instanceof NotFetched) return { ok: false, reason: error.message }
    if (error instanceof OutboundFailure) return { ok: false, reason: reasons[error.reason] }
    throw error
  } finally {
    cancelTotal()
    cancelIdle()
    stopping.removeEventListener('abort', stop)
    abort.abort()
  }
}

const reasons = {
  timeout: 'The server took too long.',
  blocked_destination: 'The address is not public.',
  network_error: 'The connection failed.',
  tls_error: 'The certificate of the server is not valid.',
}

async function openFile(
  { outbound }: Pick<Context, 'outbound'>,
  first: string,
  key: string | null,
  sourceHost: string | null,
  signal: AbortSignal,
): Promise<OpenedResponse> {
  let url = first
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (!parseUrl(url)) throw new NotFetched('The address is not a URL.')
    const isSource = key !== null && sourceHost !== null && new URL(url).host === sourceHost.toLowerCase()
    const headers = {
      'user-agent': 'Baton-Import/1',
      accept: '*/*',
      'accept-encoding': 'identity',
      ...(isSource ? { authorization: authorization(key) } : {}),
    }
    const opened = await outbound.open({ method: 'GET', url, headers }, signal)
    if (opened.status >= 200 && opened.status < 300) return opened
    await opened.body.cancel().catch(() => {})
    const location = headerOf(opened, 'location')
    if (![301, 302, 303, 307, 308].includes(opened.status) || location === null)
      throw new NotFetched(`The server answered ${opened.status}.`)
    if (!parseUrl(location, url)) throw new NotFetched('The server redirects to something that is not a URL.')
    url = new URL(location, url).href
  }
  throw new NotFetched(`The server redirects more than ${maxRedirects} times.`)
}

const headerOf = ({ headers }: OpenedResponse, name: string) =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? null

/** The body of an answer, checked while it is read. */
class Content {
  /** Null if the server does not say it. */
  readonly length: number | null
  /** What went wrong while it was read: then the sink's own error follows from it. */
  failure: Error | null = null
  bytes = 0
  readonly #body: ReadableStream<Uint8Array>
  readonly #maxBytes: number
  readonly #moved: () => void

  constructor(opened: OpenedResponse, maxBytes: number, moved: () => void) {
    const length = headerOf(opened, 'content-length')
    this.length = length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null
    this.#body = opened.body
    this.#maxBytes = maxBytes
    this.#moved = moved
    // The login page of a service that wants a session: an export's address answers 200 with it.
    if (/^text\/html\b/i.test(headerOf(opened, 'content-type') ?? ''))
      throw new NotFetched('The server answered with a web page, not with the file.')
    if (this.length !== null && this.length > maxBytes) throw this.#tooLarge()
    if (!['identity', null].includes(headerOf(opened, 'content-encoding')))
      throw new NotFetched('The server compressed the file, although it was not asked to.')
  }

  read(): Readable {
    const readable = Readable.from(this.#chunks(), { objectMode: false })
    // The sink sees the error too; without this, one that was not read to its end would end the process.
    readable.on('error', () => {})
    return readable
  }

  async *#chunks() {
    try {
      for await (const chunk of this.#body as unknown as AsyncIterable<Uint8Array>) {
        this.#moved()
        this.bytes += chunk.length
        if (this.bytes > this.#maxBytes) throw this.#tooLarge()
        yield chunk
      }
      if (this.length !== null && this.bytes !== this.length) throw new NotFetched('The file is not complete.')
    } catch (error) {
      this.failure = error as Error
      throw error
    }
  }

  #tooLarge() {
    return new NotFetched(`The file is larger than ${this.#maxBytes} bytes.`)
  }
}

/** Storage needs the length first. Without one, the file is written to the disk before. */
async function store(content: Content, sink: FileSink): Promise<number> {
  try {
    if (content.length === null) return await storeByDisk(content, sink)
    await sink(content.read(), content.length)
    return content.length
  } catch (error) {
    throw content.failure ?? error
  }
}

async function storeByDisk(content: Content, sink: FileSink): Promise<number> {
  const { handle, close } = await openTemporaryFile()
  try {
    for await (const chunk of content.read()) await handle.writeFile(chunk)
    await sink(handle.createReadStream({ start: 0, autoClose: false }), content.bytes)
    return content.bytes
  } finally {
    await close()
  }
}
