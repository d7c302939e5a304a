import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Headers } from '../http/route.ts'

export interface Exchanged {
  status: number
  /** Undefined for a notification, which has no response. */
  body: unknown
}

/** Headers of the protocol. Those for method and name exist since revision 2026-07-28. */
const protocolHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name']

/** Handles one message without keeping state, so any process can handle the next. */
export async function exchange(server: Server, message: unknown, headers: Headers): Promise<Exchanged> {
  // Revision 2025-06-18 removed batches.
  if (Array.isArray(message)) return refusal('Batches are not supported. Send one message per request.')
  const request = requestOf(headers)
  try {
    const response = (await isLegacyRequest(request, message))
      ? await answerWithJson(server, request, message)
      : // The list of tools never changes, so subscriptions are pointless.
        await createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, {
          parsedBody: message,
        })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  } finally {
    await server.close()
  }
}

/** For revisions before 2026-07-28. The server is stateless, so `initialize` is not required first. */
async function answerWithJson(server: Server, request: Request, message: unknown) {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  return transport.handleRequest(request, { parsedBody: message })
}

/** The body is already parsed, by our own JSON rules. We always answer JSON, which every client must accept. */
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
