import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** A request may be on its way on a connection that looks idle; it is answered, with 503. */
const graceMs = 500

/**
 * Knows which connections have a request under way, so that stopping need not wait for those that have none: browsers
 * keep connections open, and open some that they never use.
 */
export class Drain {
  readonly #busy = new Map<Socket, number>()
  #leaving = false
  #stopping = false

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#busy.set(socket, 0)
      socket.once('close', () => this.#busy.delete(socket))
    })
    server.on('request', ({ socket }, response) => {
      this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1)
      response.once('close', () => {
        const left = (this.#busy.get(socket) ?? 1) - 1
        if (this.#busy.has(socket)) this.#busy.set(socket, left)
        if (left === 0 && this.#stopping) socket.end()
      })
    })
  }

  /** Answers ask for the end of their connection. */
  get leaving() {
    return this.#leaving
  }

  get stopping() {
    return this.#stopping
  }

  /** From now on a connection ends with its next answer, but requests are still answered as ever. */
  leave() {
    this.#leaving = true
  }

  /** Once it has left: a connection ends with its last answer, and one without a request when none has come for a moment. */
  begin() {
    this.#stopping = true
    setTimeout(() => {
      for (const [socket, requests] of this.#busy) if (requests === 0) socket.destroy()
    }, graceMs)
  }
}
