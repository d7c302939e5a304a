import { Agent, type IncomingMessage, request } from 'node:http'

export interface Sent {
  method: string
  /** Below {root_url}, as it is put on the wire. */
  path: string
  /** Names and values by turns, so that a name can stand twice. */
  headers: string[]
  body: Buffer | undefined
}

export interface Answered {
  status: number
  headers: Headers
  text: string
}

const patienceMs = 20_000
/** Of a stream, which has no end. */
const streamedFor = 50

/** Sends exactly what it is told to; `fetch` would refuse or mend much of it. */
export class Wire {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 })
  readonly #root: URL

  constructor(rootUrl: string) {
    this.#root = new URL(rootUrl)
  }

  send({ method, path, headers, body }: Sent): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const asked = request({
        agent: this.#agent,
        host: this.#root.hostname,
        port: this.#root.port,
        method,
        path,
        timeout: patienceMs,
        // Without a length Node would send an empty body in chunks.
        headers: [
          'host',
          this.#root.host,
          ...(body || /^P/.test(method) ? ['content-length', String(body?.length ?? 0)] : []),
          ...headers,
        ] as never,
      })
      asked.on('timeout', () => asked.destroy(new Error(`no answer within ${patienceMs / 1000} s`)))
      asked.on('error', reject)
      asked.on('response', (response) => read(response).then(resolve, reject))
      asked.end(body)
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
  const over = isStream ? setTimeout(() => response.destroy(), streamedFor) : undefined
  try {
    for await (const chunk of response) chunks.push(chunk)
  } catch (error) {
    if (!isStream) throw error
  } finally {
    clearTimeout(over)
  }
  return { status, headers, text: Buffer.concat(chunks).toString('utf8') }
}
