// The receiver of all webhooks. It keeps a ledger of what arrived, and answers each delivery after a fate of its own.
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** In a thousand deliveries. The rest are accepted at once. */
const fates = [
  { share: 30, refusals: Number.POSITIVE_INFINITY },
  { share: 50, refusals: 1 },
  { share: 30, refusals: 2 },
  { share: 30, refusals: 3 },
  { share: 20, refusals: 1, by: 'cut' },
  { share: 5, refusals: 1, by: 'late' },
  { share: 20, refusals: 0, afterMs: 1500 },
]
const accepted = { refusals: 0 }
/** Longer than a worker waits for an answer. */
const lateMs = 6000

function fateOf(deliveryId) {
  let left = createHash('sha256').update(deliveryId).digest().readUInt32BE() % 1000
  for (const fate of fates) {
    left -= fate.share
    if (left < 0) return fate
  }
  return accepted
}

export class Sink {
  requests = []
  /** By the path that it is told on. */
  #webhooks = new Map()
  #timesArrived = new Map()
  #server = createServer(async (request, response) => {
    const chunks = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return // The worker died while it sent: nothing has arrived.
    }
    await this.#answer(this.#enter(request, Buffer.concat(chunks)), response)
  })

  static async start() {
    const sink = new Sink()
    // A worker's connection must not be closed under the request that it is about to send.
    sink.#server.keepAliveTimeout = 600_000
    await once(sink.#server.listen(0, '127.0.0.1'), 'listening')
    return sink
  }

  urlOf(path) {
    return `http://127.0.0.1:${this.#server.address().port}${path}`
  }

  expect(path, webhook) {
    this.#webhooks.set(path, webhook)
  }

  stop() {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #enter({ url, headers }, raw) {
    const { id: webhookId, secret } = this.#webhooks.get(url)
    const { data, webhook_id, webhook_timestamp } = JSON.parse(raw)
    const deliveryId = headers['svc-delivery']
    const times = (this.#timesArrived.get(deliveryId) ?? 0) + 1
    this.#timesArrived.set(deliveryId, times)
    const { refusals, by = 500 } = fateOf(deliveryId)
    const request = {
      webhookId,
      deliveryId,
      issueId: data.id,
      timestamp: webhook_timestamp,
      signed:
        webhook_id === webhookId && headers['svc-signature'] === createHmac('sha256', secret).update(raw).digest('hex'),
      answer: times <= refusals ? by : 200,
    }
    this.requests.push(request)
    return request
  }

  async #answer({ deliveryId, answer }, response) {
    if (answer === 'cut') return response.destroy()
    const { afterMs = 0 } = fateOf(deliveryId)
    const waitMs = answer === 'late' ? lateMs : afterMs
    if (waitMs > 0) await sleep(waitMs)
    response.writeHead(answer === 'late' ? 200 : answer).end()
  }
}
