// What happens to the service during the soak: edits that are delivered to endpoints, open live streams, and housekeeping.
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../faults/api.mjs'
import { dist, percentile } from './setting.mjs'

export const endpoints = 50
const issues = 200
export const people = 10
const streamsEach = 10
const readers = 4
const maxInFlight = 100
const settledWithinMs = 60_000
const day = 86_400_000

const headersOf = ({ workspaceId, tokens }, person) => ({
  authorization: `Bearer ${tokens[person]}`,
  'x-workspace-id': workspaceId,
})

/** Edits issues through the API. Each edit is delivered to all endpoints. */
export class Editor {
  #service
  #headers
  #issueIds = []
  #edits = 0
  #inFlight = new Set()
  #skipped = 0
  #errors = new Map()

  constructor(service, headers) {
    this.#service = service
    this.#headers = headers
  }

  static async create(service, receiver, seeded) {
    const editor = new Editor(service, headersOf(seeded, 0))
    for (let n = 0; n < issues; n++) {
      const { id } = await editor.#call('POST', '/issues', { title: `Issue ${n}`, personal: false })
      editor.#issueIds.push(id)
    }
    for (let n = 0; n < endpoints; n++) {
      const url = `${receiver.url}/hook/${n}`
      await editor.#call('POST', '/webhooks', { label: `Hook ${n}`, url, all_teams: true, resource_types: ['Issue'] })
    }
    return editor
  }

  #call(method, path, body) {
    return send(this.#service, method, path, body, this.#headers)
  }

  get expectedDeliveries() {
    return this.#edits * endpoints
  }

  async edit() {
    if (this.#inFlight.size >= maxInFlight) {
      this.#skipped++
      return
    }
    const id = this.#issueIds[this.#edits % this.#issueIds.length]
    const call = this.#call('PUT', `/issues/${id}`, { title: `Edit ${this.#edits++}` }).catch((error) => {
      this.#errors.set(error.message, (this.#errors.get(error.message) ?? 0) + 1)
    })
    this.#inFlight.add(call)
    await call
    this.#inFlight.delete(call)
  }

  /** Waits for the last deliveries. */
  async problems(receiver) {
    await Promise.all(this.#inFlight)
    const deadline = performance.now() + settledWithinMs
    let count
    do {
      await sleep(50)
      count = await receiver.ask('count')
    } while (count < this.expectedDeliveries && performance.now() < deadline)
    console.log(`${this.#edits} edits, ${count} deliveries`)
    return [
      ...[...this.#errors].map(([message, times]) => `${times} edits failed: ${message}`),
      ...(this.#skipped > 0 ? [`${this.#skipped} edits were skipped, because ${maxInFlight} were in progress`] : []),
      ...(count < this.expectedDeliveries ? [`${this.expectedDeliveries - count} deliveries did not arrive`] : []),
    ]
  }
}

/** Read lists and issues without a pause. */
export class Readers {
  #service
  #headers
  #durations = []
  #running
  #stopped = false
  #errors = new Set()

  constructor(service, seeded) {
    this.#service = service
    this.#headers = Array.from({ length: readers }, (_, person) => headersOf(seeded, person))
  }

  start() {
    this.#running = Promise.all(this.#headers.map((headers) => this.#read(headers)))
  }

  async #read(headers) {
    while (!this.#stopped) {
      const began = performance.now()
      try {
        const { data } = await send(this.#service, 'GET', '/issues?limit=100', undefined, headers)
        await send(this.#service, 'GET', `/issues/${data[0].id}`, undefined, headers)
      } catch (error) {
        this.#errors.add(error.message)
      }
      this.#durations.push((performance.now() - began) / 2)
    }
  }

  /** What was read since the last sample. */
  sample() {
    const durations = this.#durations.splice(0)
    return { reads: durations.length * 2, p99: percentile(durations, 0.99) ?? 0 }
  }

  async stop() {
    this.#stopped = true
    await this.#running
  }

  problems() {
    return [...this.#errors].map((message) => `a read failed: ${message}`)
  }
}

/** Keeps live streams open. */
export function openStreams({ url }, seeded) {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const reached = new Set()
  let [closed, reopened] = [false, 0]
  const open = (index) => {
    const request = get(`${url}/api/v1/live`, { agent, headers: headersOf(seeded, index % people) })
    request.on('response', (response) => {
      response.setEncoding('utf8').on('data', (text) => {
        if (text.includes('event: change')) reached.add(index)
      })
    })
    request.on('error', () => {}) // `close` follows
    request.on('close', () => {
      if (closed) return
      reopened++
      setTimeout(open, 1000, index).unref()
    })
  }
  const count = people * streamsEach
  for (let index = 0; index < count; index++) open(index)
  return {
    problems: () => [
      ...(reached.size < count ? [`${count - reached.size} live streams received no change`] : []),
      ...(reopened > 0 ? [`${reopened} live streams ended and were opened again`] : []),
    ],
    close() {
      closed = true
      agent.destroy()
    },
  }
}

/** Housekeeping with a short retention: its time is ahead by almost as many days as deliveries are kept. */
export async function startSweeping(db, { keptMs, everyMs }) {
  const [{ limits }, { sweepEvents }, { sweepDeliveries }] = await Promise.all([
    import('@baton/protocol'),
    dist('events/retention.js'),
    dist('delivery/retention.js'),
  ])
  const aheadMs = limits.deliveryDays * day - keptMs
  let [running, failed] = []
  const sweep = async () => {
    try {
      await sweepEvents(db, new Date(Date.now() + aheadMs))
      await sweepDeliveries(db, new Date(Date.now() + aheadMs))
    } catch (error) {
      failed ??= error
    }
    running = undefined
  }
  const timer = setInterval(() => {
    running ??= sweep()
  }, everyMs)
  return {
    problems: () => (failed ? [`housekeeping failed: ${failed.message}`] : []),
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
