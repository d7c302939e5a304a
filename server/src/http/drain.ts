import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** A request may be in transit on a connection that looks idle; it is answered with 503. */
const graceMs = 500

/**
 * Tracks which connections have requests in progress, so that a stop does not wait for idle ones: browsers keep
 * connections open, and open some that they never use.
 */
export class Drain {
  readonly #requests = new Map<Socket, number>()
  #closesConnections = false
  #stopping = false

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#requests.set(socket, 0)
      socket.once('close', () => this.#requests.delete(socket))
    })
    server.on('request', ({ socket }, response) => {
      this.#requests.set(socket, (this.#requests.get(socket) ?? 0) + 1)
      response.once('close', () => {
        const left = (this.#requests.get(socket) ?? 1) - 1
        if (this.#requests.has(socket)) this.#requests.set(socket, left)
        if (left === 0 && this.#stopping) socket.end()
      })
    })
  }

  /** Responses carry `Connection: close`. */
  get closesConnections() {
    return this.#closesConnections
  }

  get stopping() {
    return this.#stopping
  }

  /** From now on each connection closes after its next response; requests are still served. */
  closeConnections() {
    this.#closesConnections = true
  }

  /** New requests are refused, busy connections close after their last response, idle ones after a grace period. */
  stop() {
    this.#stopping = true
    setTimeout(() => {
      for (const [socket, requests] of this.#requests) if (requests === 0) socket.destroy()
    }, graceMs)
  }
}
