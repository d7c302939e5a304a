// A proxy between the service and its database that can cut, refuse or silence connections.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** The first byte of the message with which a client closes its connection. */
const terminate = 0x58

export class DatabaseProxy {
  #pairs = new Set()
  #refusing = false
  #silencing = false
  #cutAt = null
  #server
  /** Messages that clients sent on silenced connections; not counted: that they close. */
  ignored = 0

  /** `target` is a postgres:// URL. */
  static async start(target) {
    const proxy = new DatabaseProxy()
    const { hostname, port } = new URL(target)
    proxy.#server = createServer({ allowHalfOpen: true }, (client) =>
      proxy.#join(client, { host: hostname, port: Number(port) }),
    )
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening')
    return proxy
  }

  urlOf(target) {
    const url = new URL(target)
    url.port = String(this.#server.address().port)
    return url.href
  }

  #join(client, target) {
    client.on('error', () => {})
    if (this.#refusing) return client.resetAndDestroy()
    const server = connect({ ...target, allowHalfOpen: true })
    server.on('error', () => {})
    const pair = { client, server, silent: this.#silencing }
    this.#pairs.add(pair)
    const pass = (from, to) => {
      from.on('data', (bytes) => {
        if (this.#cutAt !== null && bytes.includes(this.#cutAt)) return this.cut()
        if (!pair.silent) to.write(bytes)
        else if (from === client && bytes[0] !== terminate) this.ignored++
      })
      // On a silenced pair, neither end notices that the other has closed.
      const closed = () => {
        if (pair.silent) return
        from.destroy()
        to.destroy()
        this.#pairs.delete(pair)
      }
      from.on('end', closed).on('close', closed)
    }
    pass(client, server)
    pass(server, client)
  }

  /** Resets the connections at both ends. */
  cut() {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
    this.#pairs.clear()
  }

  /** Cuts as soon as a message contains this text; null ends this. */
  cutAt(text) {
    this.#cutAt = text
  }

  refuse(refusing) {
    this.#refusing = refusing
  }

  /** Drops all bytes on open connections, and on new ones if `includingNew`, without closing them. */
  silence({ includingNew = false } = {}) {
    this.#silencing = includingNew
    for (const pair of this.#pairs) pair.silent = true
  }

  /** Passes bytes on new connections again; silenced ones stay silent. */
  resume() {
    this.#silencing = false
  }

  get open() {
    return this.#pairs.size
  }

  stop() {
    this.cut()
    this.#server.close()
  }
}
