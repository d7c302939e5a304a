import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Headers } from '../http/route.ts'

export interface Exchanged {
  status: number
  /** Undefined: none, as for a notification. */
  body: unknown
}

/** What the protocol says in headers: its revision, and from 2026-07-28 on what the message is about. */
const protocolHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name']

/** One message and its answer. Nothing outlives it, so any process can answer the next. */
export async function exchange(server: Server, message: unknown, headers: Headers): Promise<Exchanged> {
  // Revision 2025-06-18 took batches out.
  if (Array.isArray(message)) return refusal('Send one message at a time; batches are not taken.')
  const request = requestOf(headers)
  try {
    const response = (await isLegacyRequest(request, message))
      ? await answerWithJson(server, request, message)
      : // Nothing here changes that a client could subscribe to.
        await createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, {
          parsedBody: message,
        })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  } finally {
    await server.close()
  }
}

/** Before 2026-07-28; a client that lists tools without saying hello first is answered too. */
async function answerWithJson(server: Server, request: Request, message: unknown) {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  return transport.handleRequest(request, { parsedBody: message })
}

/** The body has been read and parsed by our own rules. We answer JSON alone, so every client accepts it. */
const requestOf = (headers: Headers) =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      ['accept', 'application/json, text/event-stream'],
      ...protocolHeaders.flatMap((name): [string, string][] => {
        const value = headers[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    ],
  })

const refusal = (message: string): Exchanged => ({
  status: 400,
  body: { jsonrpc: '2.0', id: null, error: { code: -32600, message } },
})
