// Stands between the service and its database, and can cut, refuse or silence what goes through it.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export class Middleman {
  #pairs = new Set()
  #refusing = false
  #deaf = false
  #server

  /** To the server of a postgres:// URL. */
  static async start(target) {
    const proxy = new Middleman()
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
    const pair = { client, server, silent: this.#deaf }
    this.#pairs.add(pair)
    const pass = (from, to) => {
      from.on('data', (bytes) => pair.silent || to.write(bytes))
      // Once they are silent, nobody is told that the other one has gone.
      const gone = () => {
        if (pair.silent) return
        from.destroy()
        to.destroy()
        this.#pairs.delete(pair)
      }
      from.on('end', gone).on('close', gone)
    }
    pass(client, server)
    pass(server, client)
  }

  /** Both ends hear of it. */
  cut() {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
    this.#pairs.clear()
  }

  refuse(refusing) {
    this.#refusing = refusing
  }

  /** From now on not a byte passes on the connections that are there, nor on new ones if `also`; nobody hears of it. */
  silence({ also = false } = {}) {
    this.#deaf = also
    for (const pair of this.#pairs) pair.silent = true
  }

  /** For new connections; those that were silenced stay so. */
  hearAgain() {
    this.#deaf = false
  }

  get open() {
    return this.#pairs.size
  }

  stop() {
    this.cut()
    this.#server.close()
  }
}
