// A receiver that accepts everything at once and remembers all that arrived.
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

export class Ledger {
  forged = []
  #arrivals = []
  #seen = new Map()
  #told = new Map()
  #webhooks = new Map()
  #server = createServer(async (request, response) => {
    const chunks = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return // The worker died while it sent: nothing has arrived.
    }
    this.#enter(request, Buffer.concat(chunks))
    response.writeHead(200).end()
  })

  static async start() {
    const ledger = new Ledger()
    ledger.#server.keepAliveTimeout = 600_000
    await once(ledger.#server.listen(0, '127.0.0.1'), 'listening')
    return ledger
  }

  urlOf(path) {
    return `http://127.0.0.1:${this.#server.address().port}${path}`
  }

  /** False if the address is somebody else's. */
  expect(url, webhook) {
    if (!url.startsWith(this.urlOf('/'))) return false
    this.#webhooks.set(new URL(url).pathname, webhook)
    this.#told.set(webhook.id, new Set())
    this.#seen.set(webhook.id, new Map())
    return true
  }

  #enter({ url, headers }, raw) {
    const { id, secret } = this.#webhooks.get(url)
    const delivery = headers['svc-delivery']
    if (headers['svc-signature'] !== createHmac('sha256', secret).update(raw).digest('hex')) this.forged.push(delivery)
    this.#arrivals.push(performance.now())
    const seen = this.#seen.get(id)
    seen.set(delivery, (seen.get(delivery) ?? 0) + 1)
    this.#told.get(id).add(JSON.parse(raw).data.id)
  }

  arrivedBetween(from, to) {
    let count = 0
    for (let index = this.#arrivals.length - 1; index >= 0 && this.#arrivals[index] >= from; index--) {
      if (this.#arrivals[index] < to) count++
    }
    return count
  }

  get arrived() {
    return this.#arrivals.length
  }

  /** Arrivals beyond the first of each delivery. */
  get repeats() {
    let count = 0
    for (const seen of this.#seen.values()) for (const times of seen.values()) count += times - 1
    return count
  }

  hasSeen(delivery) {
    return [...this.#seen.values()].some((seen) => seen.has(delivery))
  }

  seenAt(webhookId) {
    return this.#seen.get(webhookId).keys()
  }

  issuesToldAt(webhookId) {
    return this.#told.get(webhookId)
  }

  stop() {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
