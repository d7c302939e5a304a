// The receiver of the storm. It records every request, and answers each delivery according to a plan derived from its id.
import { createHash, createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Receiver } from './receiver.mjs'

/** Shares of a thousand deliveries. The rest are accepted immediately. */
const answerPlans = [
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

function answerPlanOf(deliveryId) {
  let left = createHash('sha256').update(deliveryId).digest().readUInt32BE() % 1000
  for (const plan of answerPlans) {
    left -= plan.share
    if (left < 0) return plan
  }
  return accepted
}

export class Sink extends Receiver {
  requests = []
  #timesArrived = new Map()

  receive(request, raw, response) {
    return this.#answer(this.#enter(request, raw), response)
  }

  expect(path, webhook) {
    this.webhooks.set(path, webhook)
  }

  #enter({ url, headers }, raw) {
    const { id: webhookId, secret } = this.webhooks.get(url)
    const { data, webhook_id, webhook_timestamp } = JSON.parse(raw)
    const deliveryId = headers['svc-delivery']
    const times = (this.#timesArrived.get(deliveryId) ?? 0) + 1
    this.#timesArrived.set(deliveryId, times)
    const { refusals, by = 500 } = answerPlanOf(deliveryId)
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
    const { afterMs = 0 } = answerPlanOf(deliveryId)
    const waitMs = answer === 'late' ? lateMs : afterMs
    if (waitMs > 0) await sleep(waitMs)
    response.writeHead(answer === 'late' ? 200 : answer).end()
  }
}
