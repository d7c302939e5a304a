import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One call of the agent. */
export interface AgentCall {
  method: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies freely
  params: any
  headers: IncomingHttpHeaders
  response: ServerResponse
  /** Answers with a result. */
  reply(result: unknown): void
  /** Answers with an error of the protocol. */
  refuse(code: number, message: string): void
  /** Begins a stream. */
  stream(): AgentStream
}

export interface AgentStream {
  send(...events: unknown[]): void
  end(): void
  /** Breaks the connection. */
  break(): void
}

type Handler = (call: AgentCall) => void

/** A scripted A2A agent on a real port: protocol 1.0 over JSON-RPC or HTTP+JSON, streaming and polling. */
export class A2aServer {
  readonly calls: AgentCall[] = []
  /** By method; `*` answers all others. */
  on: Record<string, Handler> = {}
  /** Overrides of the card. */
  card: Record<string, unknown> = {}
  binding = 'JSONRPC'
  cardAnswer: ((response: ServerResponse) => void) | null = null
  cardReads = 0
  #arrived: (() => void)[] = []

  readonly #server = createServer(async (request, response) => {
    response.on('error', () => {})
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const url = new URL(request.url ?? '/', this.origin)
    if (url.pathname.endsWith('agent-card.json')) {
      this.cardReads += 1
      if (this.cardAnswer) return this.cardAnswer(response)
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.cardNow()))
    }
    const call =
      this.binding === 'JSONRPC' ? rpcCall(body, response) : restCall(request.method ?? '', url, body, response)
    const whole: AgentCall = { ...call, headers: request.headers, response }
    this.calls.push(whole)
    const handler = this.on[whole.method] ?? this.on['*']
    if (handler) handler(whole)
    for (const arrived of this.#arrived.splice(0)) arrived()
  })

  static async start(): Promise<A2aServer> {
    const server = new A2aServer()
    server.#server.listen(0, 'localhost')
    await once(server.#server, 'listening')
    return server
  }

  get origin() {
    return `http://localhost:${(this.#server.address() as AddressInfo)?.port}`
  }

  cardNow() {
    return {
      name: 'Echo',
      description: 'Repeats.',
      version: '1.0.0',
      supportedInterfaces: [
        { url: `${this.origin}/a2a`, protocolBinding: this.binding, protocolVersion: '1.0', tenant: '' },
      ],
      capabilities: { streaming: true, pushNotifications: false },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'echo', name: 'Echo', description: 'Repeats what you say', tags: [] }],
      ...this.card,
    }
  }

  /** Calls of one method, in order. */
  of(method: string) {
    return this.calls.filter((call) => call.method === method)
  }

  /** Waits until the method was called so often. */
  async called(method: string, times = 1): Promise<AgentCall> {
    while (this.of(method).length < times) await new Promise<void>((resolve) => this.#arrived.push(resolve))
    return this.of(method)[times - 1] as AgentCall
  }

  reset() {
    this.calls.length = 0
    this.on = {}
    this.card = {}
    this.cardAnswer = null
    this.binding = 'JSONRPC'
    this.cardReads = 0
  }

  async stop() {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

type Parsed = Omit<AgentCall, 'headers' | 'response'>

function sse(response: ServerResponse, wrap: (event: unknown) => unknown): AgentStream {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return {
    send: (...events) => {
      for (const event of events) response.write(`data: ${JSON.stringify(wrap(event))}\n\n`)
    },
    end: () => void response.end(),
    break: () => void response.destroy(),
  }
}

function rpcCall(body: string, response: ServerResponse): Parsed {
  const { id, method, params } = JSON.parse(body)
  const answer = (rest: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...rest }))
  return {
    method,
    params,
    reply: (result) => void answer({ result }),
    refuse: (code, message) => void answer({ error: { code, message } }),
    stream: () => sse(response, (result) => ({ jsonrpc: '2.0', id, result })),
  }
}

function restCall(verb: string, url: URL, body: string, response: ServerResponse): Parsed {
  const [, id, action] = /\/tasks\/([^:/]+)(?::(\w+))?$/.exec(url.pathname) ?? []
  const method = url.pathname.endsWith('/message:send')
    ? 'SendMessage'
    : url.pathname.endsWith('/message:stream')
      ? 'SendStreamingMessage'
      : action === 'cancel'
        ? 'CancelTask'
        : action === 'subscribe'
          ? 'SubscribeToTask'
          : id
            ? 'GetTask'
            : 'ListTasks'
  const json = (status: number, value: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  return {
    method,
    params: body ? JSON.parse(body) : { id, verb },
    reply: (result) => json(200, result),
    refuse: (code, message) => json(400, { error: { code: 400, message, status: String(code), details: [] } }),
    stream: () => sse(response, (event) => event),
  }
}

let messages = 0

/** Values of the protocol, in its JSON form. */
export const agentMessage = (text: string, more = {}) => ({
  messageId: `m${++messages}`,
  role: 'ROLE_AGENT',
  parts: [{ text }],
  ...more,
})

let ticks = 0
/** A later time for each status, as agents have. */
const timestamp = () => new Date(Date.UTC(2026, 2, 2) + ++ticks * 1000).toISOString()

export const status = (state: string, text?: string, parts?: unknown[]) => ({
  state: `TASK_STATE_${state}`,
  timestamp: timestamp(),
  ...(text === undefined && !parts ? {} : { message: { ...agentMessage(text ?? ''), ...(parts ? { parts } : {}) } }),
})

export const task = (id: string, state: string, text?: string, more = {}) => ({
  id,
  contextId: 'ctx-1',
  status: status(state, text),
  ...more,
})

export const statusUpdate = (id: string, state: string, text?: string, parts?: unknown[]) => ({
  statusUpdate: { taskId: id, contextId: 'ctx-1', status: status(state, text, parts) },
})

export const artifactUpdate = (id: string, artifact: object, more = {}) => ({
  artifactUpdate: { taskId: id, contextId: 'ctx-1', artifact, append: false, lastChunk: true, ...more },
})
