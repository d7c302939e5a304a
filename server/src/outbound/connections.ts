import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
// The whole of undici, with fetch, WebSocket and caches, takes a fifth of a start and 10 MB of memory.
import Client from 'undici/lib/dispatcher/client.js'
import type { Connector } from './connect.ts'

/**
 * Connections by origin, each for one request at a time, kept open for a few seconds.
 * Not undici's pool: after an aborted request it connects again although there is nothing to send, and it cannot abort a
 * connection that is still being established.
 */
export class Connections {
  readonly #connector: Connector
  readonly #all = new Set<Connection>()
  readonly #idle = new Map<string, Connection[]>()
  #closed = false

  constructor(connector: Connector) {
    this.#connector = connector
  }

  take(origin: string): Connection {
    const idle = this.#idle.get(origin)?.at(-1)
    if (idle) {
      this.#takeIdle(idle)
      return idle
    }
    return this.create(origin)
  }

  /** A connection that no other request has used. */
  create(origin: string): Connection {
    const connection = new Connection(origin, this.#connector, () => {
      // One in use reconnects instead, unless its request was already sent.
      if (this.#takeIdle(connection)) void this.drop(connection)
    })
    this.#all.add(connection)
    if (this.#closed) this.drop(connection)
    return connection
  }

  /** Call after the response was read to its end. */
  release(connection: Connection) {
    const idle = this.#idle.get(connection.origin)
    if (idle) idle.push(connection)
    else this.#idle.set(connection.origin, [connection])
  }

  drop(connection: Connection) {
    this.#all.delete(connection)
    return connection.drop()
  }

  async close() {
    this.#closed = true
    this.#idle.clear()
    this.#connector.close()
    await Promise.all([...this.#all].map((connection) => this.drop(connection)))
  }

  #takeIdle(connection: Connection) {
    const idle = this.#idle.get(connection.origin)
    const index = idle ? idle.lastIndexOf(connection) : -1
    if (!idle || index < 0) return false
    idle.splice(index, 1)
    if (idle.length === 0) this.#idle.delete(connection.origin)
    return true
  }
}

export class Connection {
  readonly origin: string
  readonly #client: Client
  #socket: Socket | undefined

  constructor(origin: string, connector: Connector, onDisconnect: () => void) {
    this.origin = origin
    this.#client = new Client(origin, {
      connect: (options, callback) => {
        this.#socket = connector.connect(options, callback)
      },
      allowH2: false,
      // If the receiver closes an idle connection just as a request is sent, the request is a network error. It is not
      // repeated here, because the receiver may have processed it; the next attempt of the delivery repeats it.
      pipelining: 1,
      keepAliveTimeout: 4000,
      keepAliveMaxTimeout: 4000,
      maxHeaderSize: 16_384,
      // The sender of the request has its own deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.#client.on('disconnect', onDisconnect)
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    this.#client.dispatch(request, handler)
  }

  /** Also while it is being established; nothing is sent on it afterwards. */
  drop() {
    const dropped = this.#client.destroy()
    this.#socket?.destroy()
    return dropped
  }
}
