import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type InstallationTokens, routes } from '@baton/sdk'

export type ToolSet = 'read' | 'all' | 'none'

interface ToolsOptions {
  url: string
  tools: Exclude<ToolSet, 'none'>
  /** Fresh tokens of the app. */
  tokens(): Promise<InstallationTokens>
}

/** The service's own limit for a body. */
const bodyBytes = 1024 * 1024
const protocolHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'content-type', 'accept']

/** The runner alone writes to agent sessions. By pattern, so that a tool that the service gains is refused too. */
const isAboutSessions = (name: string) => /session|activit/.test(name)

/**
 * Baton's tools for agents, on this machine only. Each session has its own secret. Calls are handed to the service with
 * the app's current token, which the agent never sees.
 */
export class ToolServer {
  readonly #options: ToolsOptions
  readonly #server: Server
  readonly #secrets = new Map<string, Buffer>()
  /** By name, whether a tool only reads; from the service's list. */
  #readOnly: Map<string, boolean> | null = null

  private constructor(options: ToolsOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() =>
        answer(response, 502, rpcError(null, -32603, 'Baton could not be reached.')),
      )
    })
  }

  static async start(options: ToolsOptions): Promise<ToolServer> {
    const server = new ToolServer(options)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    server.#server.unref()
    return server
  }

  /** The address and the secret for a session. */
  admit(sessionId: string): { url: string; secret: string } {
    const known = this.#secrets.get(sessionId) ?? Buffer.from(randomBytes(24).toString('hex'))
    this.#secrets.set(sessionId, known)
    const { port } = this.#server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/mcp`, secret: known.toString() }
  }

  dismiss(sessionId: string) {
    this.#secrets.delete(sessionId)
  }

  async close() {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #handle(request: IncomingMessage, response: ServerResponse) {
    if (!this.#isAdmitted(request.headers.authorization)) {
      return answer(response, 401, rpcError(null, -32001, 'The secret is wrong.'))
    }
    if (request.method !== 'POST') return answer(response, 405, rpcError(null, -32000, 'Use POST.'))
    const message = await readJson(request)
    if (!isRecord(message)) return answer(response, 400, rpcError(null, -32600, 'Send one JSON-RPC message.'))
    if (message.method === 'tools/call' && !(await this.#allows(message))) {
      const name = isRecord(message.params) ? String(message.params.name) : ''
      return answer(response, 200, rpcError(message.id, -32602, `The runner does not offer the tool ${name}.`))
    }
    const { status, text } = await this.#forward(message, request.headers)
    const body = message.method === 'tools/list' && status === 200 ? this.#filtered(text) : text
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }

  #isAdmitted(header: string | undefined): boolean {
    const given = Buffer.from(/^Bearer (.+)$/.exec(header ?? '')?.[1] ?? '')
    return [...this.#secrets.values()].some(
      (secret) => secret.length === given.length && timingSafeEqual(secret, given),
    )
  }

  async #allows({ params }: Record<string, unknown>): Promise<boolean> {
    const name = isRecord(params) ? params.name : null
    if (typeof name !== 'string') return false
    if (this.#options.tools === 'all' && !isAboutSessions(name)) return true
    if (!this.#readOnly) {
      const { text } = await this.#forward({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, {})
      this.#filtered(text)
    }
    return this.#readOnly?.get(name) === true
  }

  /** The list of tools without those that are refused. */
  #filtered(text: string): string {
    const answer: unknown = JSON.parse(text)
    const result = isRecord(answer) && isRecord(answer.result) ? answer.result : null
    if (!result || !Array.isArray(result.tools)) return text
    const isReading = (tool: Record<string, unknown>) =>
      isRecord(tool.annotations) && tool.annotations.readOnlyHint === true
    const tools = result.tools.filter(isRecord)
    this.#readOnly = new Map(tools.map((tool) => [String(tool.name), isReading(tool)]))
    const offered = tools.filter(
      (tool) => isReading(tool) || (this.#options.tools === 'all' && !isAboutSessions(String(tool.name))),
    )
    return JSON.stringify({ ...(answer as object), result: { ...result, tools: offered } })
  }

  async #forward(message: object, headers: IncomingMessage['headers']): Promise<{ status: number; text: string }> {
    const { access_token, workspace_id } = await this.#options.tokens()
    const passed = protocolHeaders.flatMap((name): [string, string][] =>
      typeof headers[name] === 'string' ? [[name, headers[name]]] : [],
    )
    const response = await fetch(`${this.#options.url}${routes.callMcp.path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...Object.fromEntries(passed),
        authorization: `Bearer ${access_token}`,
        'x-workspace-id': workspace_id,
      },
      body: JSON.stringify(message),
      redirect: 'manual',
      signal: AbortSignal.timeout(60_000),
    })
    return { status: response.status, text: await response.text() }
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const rpcError = (id: unknown, code: number, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } })

function answer(response: ServerResponse, status: number, body: string) {
  if (!response.headersSent) response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body)
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > bodyBytes) return null
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    return null
  }
}
