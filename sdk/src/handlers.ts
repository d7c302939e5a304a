import { bytesUpTo } from './bytes.ts'
import type { HeadersLike, WebhookFailure } from './webhooks.ts'

export interface Receipt {
  status: number
  outcome: 'accepted' | 'duplicate' | 'not_claimed' | WebhookFailure
  /** Resolves when the event has been processed. */
  done?: Promise<void>
}

type Receive = (delivered: { rawBody: Uint8Array; headers: HeadersLike }) => Promise<Receipt>

/** A request of node:http, or of a framework built on it. */
export interface NodeRequest extends AsyncIterable<unknown> {
  method?: string | undefined
  url?: string | undefined
  headers: Record<string, string | string[] | undefined>
  readableDidRead?: boolean
  /** Set by body parsers. */
  body?: unknown
  /** Set by some platforms: the bytes of the body. */
  rawBody?: unknown
}

export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string | string[]>): unknown
  end(body?: Uint8Array | string): unknown
}

interface FastifyReply {
  code(status: number): FastifyReply
  send(body: unknown): unknown
}

/** The part of a Fastify instance that the plugin needs. */
interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: never, body: never, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  post(path: string, handler: (request: never, reply: never) => unknown): unknown
}

export interface Handlers {
  /** For servers based on Request and Response. Pass `waitUntil` on platforms that end the process after the response. */
  fetch(request: Request, context?: { waitUntil?(work: Promise<unknown>): void }): Promise<Response>
  /** For node:http. Reads the body itself. */
  node(request: NodeRequest, response: NodeResponse): Promise<void>
  /** For Express, before or after a body parser that keeps the raw bytes, such as express.raw(). */
  express(): (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void) => Promise<void>
  /** For Fastify: `app.register(agent.fastify, { path: '/webhook' })`. */
  fastify(app: object, options?: { path?: string }): Promise<void>
}

/** Limit for a delivery; an issue with its description and a hundred comments is much smaller. */
const bodyBytes = 8 * 1024 * 1024

class BodyError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function handlersOf(receive: Receive, report: (error: unknown) => void): Handlers {
  async function answer(
    method: string | undefined,
    read: () => Promise<Uint8Array>,
    headers: HeadersLike,
  ): Promise<{ status: number; text: string; done?: Promise<void> }> {
    if (method !== 'POST') return { status: 405, text: outcomeText('method_not_allowed') }
    try {
      const { status, outcome, done } = await receive({ rawBody: await read(), headers })
      return { status, text: outcomeText(outcome), ...(done && { done }) }
    } catch (error) {
      report(error)
      return { status: error instanceof BodyError ? error.status : 500, text: outcomeText('failed') }
    }
  }
  const node: Handlers['node'] = async (request, response) => {
    const { status, text } = await answer(request.method, () => nodeBody(request), request.headers)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(text)
  }
  return {
    node,
    express: () => node,
    async fetch(request, context) {
      const read = () => {
        if (request.bodyUsed)
          throw new BodyError(
            500,
            'The request body was already read. Pass the request to the agent before reading its body.',
          )
        return wholeBody(request.body)
      }
      const { status, text, done } = await answer(request.method, read, request.headers)
      if (done) context?.waitUntil?.(done)
      return new Response(text, { status, headers: { 'content-type': 'application/json' } })
    },
    async fastify(instance, { path = '/webhook' } = {}) {
      const app = instance as FastifyLike
      // Removes the parsers in the scope of this plugin only: the signature covers the raw bytes.
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyBytes }, (_, body, done) => done(null, body))
      app.post(path, async (request: { body?: unknown; headers: HeadersLike }, reply: FastifyReply) => {
        const read = async () => (request.body instanceof Uint8Array ? request.body : new Uint8Array())
        const { status, text } = await answer('POST', read, request.headers)
        return reply.code(status).send(JSON.parse(text))
      })
    },
  }
}

const outcomeText = (outcome: string) => JSON.stringify({ outcome })

/** The raw bytes: kept by a body parser or platform, or read from the request. */
async function nodeBody(request: NodeRequest): Promise<Uint8Array> {
  for (const kept of [request.rawBody, request.body]) {
    if (kept instanceof Uint8Array) return kept
    if (typeof kept === 'string') return Buffer.from(kept)
  }
  if (request.readableDidRead) {
    throw new BodyError(
      500,
      'The body was already parsed, but the signature covers the raw bytes. Mount the agent before express.json(), ' +
        'or use express.raw({ type: "application/json" }) on its path.',
    )
  }
  return wholeBody(request)
}

async function wholeBody(body: AsyncIterable<unknown> | null): Promise<Uint8Array> {
  const bytes = await bytesUpTo(bodyBytes, body)
  if (!bytes) throw new BodyError(413, `The body is larger than ${bodyBytes} bytes.`)
  return bytes
}

type Handle = (request: Request) => Promise<Response>

/** Adapts a handler based on Request and Response, such as an installer's, to node:http and Express. */
export const nodeHandler =
  (handle: Handle) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    // node:http does not await handlers: a rejection would end the process.
    try {
      send(response, await served(handle, request))
    } catch (error) {
      console.error('[baton]', error)
      send(response, plain(500, 'Internal error. The log of this server has the details.'))
    }
  }

interface Served {
  status: number
  headers: Record<string, string | string[]>
  body: Uint8Array | string
}

async function served(handle: Handle, request: NodeRequest): Promise<Served> {
  const { method = 'GET' } = request
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'Use GET.', { allow: 'GET, HEAD' })
  const answered = await handle(fetchRequest(method, request))
  const cookies = answered.headers.getSetCookie()
  const headers = { ...Object.fromEntries(answered.headers), ...(cookies.length > 0 && { 'set-cookie': cookies }) }
  return { status: answered.status, headers, body: new Uint8Array(await answered.arrayBuffer()) }
}

const plain = (status: number, text: string, headers: Record<string, string> = {}): Served => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body: `${text}\n`,
})

function send(response: NodeResponse, { status, headers, body }: Served) {
  response.writeHead(status, headers)
  response.end(body)
}

/** With a fixed host: the Host header is untrusted and may not form a valid URL. */
function fetchRequest(method: string, { url = '/', headers }: NodeRequest): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  const path = url.startsWith('/') ? url : '/'
  return new Request(`http://localhost${path}`, { method, headers: given })
}
