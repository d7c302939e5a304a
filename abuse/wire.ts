import { Agent, type IncomingMessage, request } from 'node:http'

export interface Sent {
  method: string
  /** Path below {root_url}, as sent. */
  path: string
  /** Names and values alternate, so that a name can occur twice. */
  headers: string[]
  body: Buffer | undefined
}

export interface Answered {
  status: number
  headers: Headers
  text: string
}

const timeoutMs = 20_000
/** How long a stream is read. */
const streamReadMs = 50

/** Sends requests unchanged; `fetch` would refuse or correct many of them. */
export class Wire {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 })
  readonly #root: URL

  constructor(rootUrl: string) {
    this.#root = new URL(rootUrl)
  }

  send(sent: Sent): Promise<Answered> {
    const { method, path, headers, body } = sent
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent: this.#agent,
        host: this.#root.hostname,
        port: this.#root.port,
        method,
        path,
        timeout: timeoutMs,
        // Without a length Node would send an empty chunked body.
        headers: [
          'host',
          this.#root.host,
          ...(body || /^P/.test(method) ? ['content-length', String(body?.length ?? 0)] : []),
          ...headers,
        ] as never,
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)))
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        // The service may have closed an idle connection just then; a new one must be answered.
        const isClosed = outgoing.reusedSocket && ['EPIPE', 'ECONNRESET'].includes(error.code ?? '')
        if (isClosed) this.send(sent).then(resolve, reject)
        else reject(error)
      })
      outgoing.on('response', (response) => read(response).then(resolve, reject))
      outgoing.end(body)
    })
  }

  close() {
    this.#agent.destroy()
  }
}

async function read(response: IncomingMessage): Promise<Answered> {
  const headers = new Headers()
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const status = response.statusCode ?? 0
  const chunks: Buffer[] = []
  const isStream = headers.get('content-type')?.startsWith('text/event-stream')
  const over = isStream ? setTimeout(() => response.destroy(), streamReadMs) : undefined
  try {
    for await (const chunk of response) chunks.push(chunk)
  } catch (error) {
    if (!isStream) throw error
  } finally {
    clearTimeout(over)
  }
  return { status, headers, text: Buffer.concat(chunks).toString('utf8') }
}
