import { once } from 'node:events'
import { createServer } from 'node:http'

/** Listens for deliveries. Subclasses implement `receive`. */
export class Receiver {
  /** By path. */
  webhooks = new Map()
  #server = createServer(async (request, response) => {
    const chunks = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return // The worker died while sending.
    }
    await this.receive(request, Buffer.concat(chunks), response)
  })

  static async start() {
    const receiver = new this()
    // A connection must not be closed while a worker is about to use it.
    receiver.#server.keepAliveTimeout = 600_000
    await once(receiver.#server.listen(0, '127.0.0.1'), 'listening')
    return receiver
  }

  urlOf(path) {
    return `http://127.0.0.1:${this.#server.address().port}${path}`
  }

  stop() {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
