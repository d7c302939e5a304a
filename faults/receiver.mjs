import { once } from 'node:events'
import { createServer } from 'node:http'

/** Listens for deliveries. What each of them does and is answered with is for who extends it to say. */
export class Receiver {
  /** By the path that it is told on. */
  webhooks = new Map()
  #server = createServer(async (request, response) => {
    const chunks = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return // The worker died while it sent: nothing has arrived.
    }
    await this.receive(request, Buffer.concat(chunks), response)
  })

  static async start() {
    const receiver = new this()
    // A worker's connection must not be closed under the request that it is about to send.
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
