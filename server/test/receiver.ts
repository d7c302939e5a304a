import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  headers: IncomingHttpHeaders
  method: string
  path: string
  raw: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies freely
  body: any
}

type Answer = number | ((response: ServerResponse, received: Received) => void)

/** A receiver of webhooks on a real port: responds as configured and keeps all requests. */
export class Receiver {
  readonly received: Received[] = []
  answer: Answer = 200
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const raw = Buffer.concat(chunks)
    const received = {
      headers: request.headers,
      method: request.method ?? '',
      path: request.url ?? '',
      raw,
      body: raw.length > 0 ? JSON.parse(raw.toString()) : undefined,
    }
    this.received.push(received)
    this.#arrived?.()
    if (typeof this.answer === 'function') this.answer(response, received)
    else response.writeHead(this.answer).end(this.answer === 204 ? undefined : `answer ${this.answer}`)
  })
  #arrived: (() => void) | undefined

  static async start(): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.#server.listen(0, 'localhost')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url() {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}/hook`
  }

  /** The next request, once it has arrived completely. */
  async next(): Promise<Received> {
    const already = this.received.length
    while (this.received.length === already) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
    }
    return this.received[already] as Received
  }

  /** Requests that arrived since the last call. */
  take(): Received[] {
    return this.received.splice(0)
  }

  async stop() {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** Verifies the signature as a receiver does. */
export const isSigned = ({ raw, headers }: Received, secret: string) =>
  headers['svc-signature'] === createHmac('sha256', secret).update(raw).digest('hex')

/** The signature that Standard Webhooks prescribes, keyed with the bytes of the whole secret. */
export const standardSignature = ({ headers, raw }: Pick<Received, 'headers' | 'raw'>, secret: string | Buffer) => {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw}`
  return `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`
}
