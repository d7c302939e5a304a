import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Metrics of one process. Labels are routes and statuses, never ids, so their number is bounded. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests = new Histogram({
    name: 'baton_http_request_duration_seconds',
    help: 'Time to answer a request',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.#registry],
  })
  readonly #failures = new Counter({
    name: 'baton_internal_errors_total',
    help: 'Requests that ended in 500',
    registers: [this.#registry],
  })
  readonly #attempts = new Histogram({
    name: 'baton_delivery_attempt_duration_seconds',
    help: 'Time of attempts to deliver a webhook, by outcome',
    labelNames: ['outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.#registry],
  })

  readonly #mails = new Counter({
    name: 'baton_mail_attempts_total',
    help: 'Attempts to send a mail, by outcome',
    labelNames: ['outcome'],
    registers: [this.#registry],
  })

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
  }

  request(method: string, route: string, status: number, durationMs: number) {
    this.#requests.observe({ method, route, status }, durationMs / 1000)
    if (status === 500) this.#failures.inc()
  }

  attempt(outcome: string, durationMs: number) {
    this.#attempts.observe({ outcome }, durationMs / 1000)
  }

  mail(outcome: string) {
    this.#mails.inc({ outcome })
  }

  /** `count` is called at each scrape. */
  watching(count: () => number) {
    new Gauge({
      name: 'baton_live_watchers',
      help: 'Browsers connected to the live stream of a workspace',
      registers: [this.#registry],
      collect() {
        this.set(count())
      },
    })
  }

  text() {
    return this.#registry.metrics()
  }
}
