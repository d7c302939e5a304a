// A receiver that accepts everything at once and remembers all that arrived.
import { createHmac } from 'node:crypto'
import { Receiver } from './receiver.mjs'

export class Ledger extends Receiver {
  forged = []
  #arrivals = []
  #seen = new Map()
  #told = new Map()

  /** False if the address is somebody else's. */
  expect(url, webhook) {
    if (!url.startsWith(this.urlOf('/'))) return false
    this.webhooks.set(new URL(url).pathname, webhook)
    this.#told.set(webhook.id, new Set())
    this.#seen.set(webhook.id, new Map())
    return true
  }

  receive({ url, headers }, raw, response) {
    const { id, secret } = this.webhooks.get(url)
    const delivery = headers['svc-delivery']
    if (headers['svc-signature'] !== createHmac('sha256', secret).update(raw).digest('hex')) this.forged.push(delivery)
    this.#arrivals.push(performance.now())
    const seen = this.#seen.get(id)
    seen.set(delivery, (seen.get(delivery) ?? 0) + 1)
    this.#told.get(id).add(JSON.parse(raw).data.id)
    response.writeHead(200).end()
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
}
