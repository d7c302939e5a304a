import type { HeadersLike, WebhookFailure } from './webhooks.ts'

export interface Receipt {
  status: number
  outcome: 'accepted' | 'duplicate' | 'not_claimed' | WebhookFailure
  /** Resolves when the work it began is done. */
  done?: Promise<void>
}

type Receive = (delivered: { rawBody: Uint8Array; headers: HeadersLike }) => Promise<Receipt>

/** A request of node:http, or of a framework built on it. */
export interface NodeRequest extends AsyncIterable<unknown> {
  method?: string | undefined
  url?: string | undefined
  headers: Record<string, string | string[] | undefined>
  readableDidRead?: boolean
  /** Whatever a body parser made of it. */
  body?: unknown
  /** Where some platforms keep the bytes. */
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

/** As much of a Fastify instance as the plugin needs. */
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
  /** For servers that speak Request and Response. Where a process ends with the answer, give it `waitUntil`. */
  fetch(request: Request, context?: { waitUntil?(work: Promise<unknown>): void }): Promise<Response>
  /** For node:http. Reads the body itself. */
  node(request: NodeRequest, response: NodeResponse): Promise<void>
  /** For Express, before or after a body parser that keeps the raw bytes, such as express.raw(). */
  express(): (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void) => Promise<void>
  /** For Fastify: `app.register(agent.fastify, { path: '/webhook' })`. */
  fastify(app: object, options?: { path?: string }): Promise<void>
}

/** A whole delivery: an issue with its description and a hundred comments is well below. */
const bodyBytes = 8 * 1024 * 1024

class BodyProblem extends Error {
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
    if (method !== 'POST') return { status: 405, text: say('method_not_allowed') }
    try {
      const { status, outcome, done } = await receive({ rawBody: await read(), headers })
      return { status, text: say(outcome), ...(done && { done }) }
    } catch (error) {
      report(error)
      return { status: error instanceof BodyProblem ? error.status : 500, text: say('failed') }
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
      const read = async () => new Uint8Array(await request.arrayBuffer())
      const { status, text, done } = await answer(request.method, read, request.headers)
      if (done) context?.waitUntil?.(done)
      return new Response(text, { status, headers: { 'content-type': 'application/json' } })
    },
    async fastify(instance, { path = '/webhook' } = {}) {
      const app = instance as FastifyLike
      // Parsers of this plugin's scope only: the bytes are wanted as they came.
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

const say = (outcome: string) => JSON.stringify({ outcome })

/** The bytes as they came, from whoever has them. */
async function nodeBody(request: NodeRequest): Promise<Uint8Array> {
  for (const kept of [request.rawBody, request.body]) {
    if (kept instanceof Uint8Array) return kept
    if (typeof kept === 'string') return Buffer.from(kept)
  }
  if (request.readableDidRead) {
    throw new BodyProblem(
      500,
      'The webhook arrived parsed, and its signature covers the raw bytes. Mount the agent before express.json(), ' +
        'or use express.raw({ type: "application/json" }) on its path.',
    )
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array)
    size += bytes.length
    if (size > bodyBytes) throw new BodyProblem(413, `The body is larger than ${bodyBytes} bytes.`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/** Lets node:http and Express serve what speaks Request and Response, such as an installer. */
export const nodeHandler =
  (handle: (request: Request) => Promise<Response>) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    )
    const host = request.headers.host ?? 'localhost'
    const method = request.method ?? 'GET'
    const answered = await handle(new Request(new URL(request.url ?? '/', `http://${host}`), { method, headers }))
    const cookies = answered.headers.getSetCookie()
    response.writeHead(answered.status, {
      ...Object.fromEntries(answered.headers),
      ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}),
    })
    response.end(await answered.text())
  }
