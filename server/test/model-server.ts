import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// Must not import the service or a test runner: tests of whole processes use it too.

interface Message {
  role: string
  content: string | null
  tool_call_id?: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

/** A request to the model. */
export interface Asked {
  headers: IncomingHttpHeaders
  path: string
  body: { model: string; messages: Message[]; tools: { function: { name: string; parameters: object } }[] }
  raw: string
}

type Turn = (response: ServerResponse, asked: Asked) => void

/** An OpenAI-compatible endpoint on a real port that plays a script and keeps all requests. */
export class ModelServer {
  readonly asked: Asked[] = []
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const raw = Buffer.concat(chunks).toString()
    const asked = { headers: request.headers, path: request.url ?? '', body: JSON.parse(raw), raw }
    this.asked.push(asked)
    this.answer(response, asked)
  })
  #script: Turn[] = []
  answer: Turn = (...asked) => (this.#script.shift() ?? says('The script is over.'))(...asked)

  static async start(): Promise<ModelServer> {
    const model = new ModelServer()
    model.#server.listen(0, '127.0.0.1')
    await once(model.#server, 'listening')
    return model
  }

  get url() {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** Sets the answers to the next requests, in order, and clears earlier requests. */
  play(...script: Turn[]) {
    this.asked.length = 0
    this.#script = script
  }

  /** The results of the last tool calls in this request. */
  results(question: number): string[] {
    const { messages } = (this.asked[question] as Asked).body
    const last = messages.findLastIndex(({ role }) => role === 'assistant')
    return messages.slice(last + 1).flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []))
  }

  async stop() {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

const answers =
  (message: object): Turn =>
  (response) =>
    raw(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', ...message } }] }))(response)

export const says = (content: string | null): Turn => answers({ content })

/** The same answer with the tokens that the endpoint reports, in any form. */
export const saysWith = (usage: unknown, content: string): Turn =>
  raw(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }], usage }))

/** Calls tools by name and input. An input that is a string is sent unchanged. */
export const calls = (...wanted: [name: string, input: unknown][]): Turn =>
  callsRaw(
    wanted.map(([name, input], index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
    })),
  )

export const callsRaw = (tool_calls: unknown[], content: string | null = null): Turn => answers({ content, tool_calls })

export const raw =
  (body: string, status = 200, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

export const refuses = (status: number, headers: Record<string, string> = {}): Turn => raw('{}', status, headers)

export const hangsUp: Turn = (response) => void response.socket?.destroy()

/** Never answers. `asked` resolves when a request arrives, `gone` when the client disconnects. */
export function silence() {
  let begin = () => {}
  let end = () => {}
  const asked = new Promise<void>((resolve) => {
    begin = resolve
  })
  const gone = new Promise<void>((resolve) => {
    end = resolve
  })
  const turn: Turn = (response) => {
    response.once('close', end)
    begin()
  }
  return { turn, asked, gone }
}
