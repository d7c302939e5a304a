import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const checkEveryMs = 50
/** RFC 9110 7.6.1: a proxy does not forward these. */
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding'])

interface Node {
  url: string
  ready: boolean
}

/**
 * A simple proxy in front of several nodes: each request goes to the next node whose `/readyz` succeeded at the last
 * check. It keeps connections to nodes open, as proxies do, and never retries.
 */
export class RoundRobin {
  readonly #nodes: Node[] = []
  readonly #agent = new Agent({ keepAlive: true })
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing))
  #turn = 0
  #stopped = false

  static async start(): Promise<RoundRobin> {
    const proxy = new RoundRobin()
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** Resolves when the node is ready for requests. */
  async add(url: string) {
    const node = { url, ready: false }
    this.#nodes.push(node)
    void this.#watch(node)
    await this.until(() => node.ready)
  }

  get url() {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The nodes that get requests now. */
  get ready() {
    return this.#nodes.filter(({ ready }) => ready).map(({ url }) => url)
  }

  async until(reached: () => boolean) {
    while (!reached()) await sleep(checkEveryMs / 2)
  }

  stop() {
    this.#stopped = true
    this.#server.closeAllConnections()
    this.#server.close()
    this.#agent.destroy()
  }

  async #watch(node: Node) {
    while (!this.#stopped) {
      node.ready = await fetch(`${node.url}/readyz`, { headers: { connection: 'close' } }).then(
        ({ ok }) => ok,
        () => false,
      )
      await sleep(checkEveryMs)
    }
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { ready } = this
    const url = ready[this.#turn++ % ready.length]
    if (!url) return void outgoing.writeHead(502).end('no node is ready')
    const { method, headers } = incoming
    const asked = request(url + incoming.url, { method, headers: forwarded(headers), agent: this.#agent })
    asked.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, forwarded(answer.headers))
      answer.on('error', () => outgoing.destroy())
      answer.pipe(outgoing)
    })
    asked.on('error', (error) => {
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end(`${url}: ${error.message}`)
    })
    outgoing.on('close', () => asked.destroy())
    incoming.pipe(asked)
  }
}

const forwarded = <Value>(headers: Record<string, Value>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name))) as Record<
    string,
    NonNullable<Value>
  >
