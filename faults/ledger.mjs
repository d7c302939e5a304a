// A receiver that accepts everything immediately and records it.
import { createHmac } from 'node:crypto'
import { Receiver } from './receiver.mjs'

export class Ledger extends Receiver {
  forged = []
  #arrivals = []
  #received = new Map()
  #issueIds = new Map()

  /** Returns false if the URL is not of this receiver. */
  expect(url, webhook) {
    if (!url.startsWith(this.urlOf('/'))) return false
    this.webhooks.set(new URL(url).pathname, webhook)
    this.#issueIds.set(webhook.id, new Set())
    this.#received.set(webhook.id, new Map())
    return true
  }

  receive({ url, headers }, raw, response) {
    const { id, secret } = this.webhooks.get(url)
    const delivery = headers['svc-delivery']
    if (headers['svc-signature'] !== createHmac('sha256', secret).update(raw).digest('hex')) this.forged.push(delivery)
    this.#arrivals.push(performance.now())
    const counts = this.#received.get(id)
    counts.set(delivery, (counts.get(delivery) ?? 0) + 1)
    this.#issueIds.get(id).add(JSON.parse(raw).data.id)
    response.writeHead(200).end()
  }

  arrivedBetween(from, to) {
    let count = 0
    for (let index = this.#arrivals.length - 1; index >= 0 && this.#arrivals[index] >= from; index--) {
      if (this.#arrivals[index] < to) count++
    }
    return count
  }

  /** When deliveries arrived (performance.now). */
  get arrivals() {
    return this.#arrivals
  }

  get arrived() {
    return this.#arrivals.length
  }

  /** Arrivals beyond the first of each delivery. */
  get repeats() {
    let count = 0
    for (const counts of this.#received.values()) for (const times of counts.values()) count += times - 1
    return count
  }

  hasReceived(delivery) {
    return [...this.#received.values()].some((counts) => counts.has(delivery))
  }

  receivedAt(webhookId) {
    return this.#received.get(webhookId).keys()
  }

  issuesReceivedAt(webhookId) {
    return this.#issueIds.get(webhookId)
  }
}
