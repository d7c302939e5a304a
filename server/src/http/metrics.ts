import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { counters } from '../counters.ts'

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** A value of a gauge with the labels that it belongs to. */
export interface Sample {
  labels?: Record<string, string>
  value: number
}

/** Metrics of one process. Labels are routes, statuses and the like, never ids, so their number is bounded. */
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
    for (const counter of Object.values(counters)) this.#registry.registerMetric(counter as Counter)
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

  /** `read` is called at each scrape. Without samples the gauge is not shown: the value is not known. */
  gauge(name: string, help: string, labelNames: string[], read: () => readonly Sample[] | Promise<readonly Sample[]>) {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        const samples = await read()
        this.reset()
        if (labelNames.length === 0) this.remove()
        for (const { labels = {}, value } of samples) this.set(labels, value)
      },
    })
  }

  text() {
    return this.#registry.metrics()
  }
}
