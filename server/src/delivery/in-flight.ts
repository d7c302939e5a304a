import type { Claimed } from './stages.ts'

interface Flight {
  id: string
  endpointId: string
  /** Set if it could not be sent: when to try again. */
  until?: Date
}

/** The deliveries that a worker sends, until their outcomes are written. */
export class InFlight {
  readonly #flights = new Map<string, Flight>()
  readonly #perEndpoint = new Map<string, number>()

  all(): Flight[] {
    return [...this.#flights.values()]
  }

  /** Whether any are in flight to this endpoint. */
  has(endpointId: string): boolean {
    return this.#perEndpoint.has(endpointId)
  }

  add(claimed: Claimed[]) {
    for (const { id, endpointId } of claimed) {
      this.#flights.set(id, { id, endpointId })
      this.#perEndpoint.set(endpointId, (this.#perEndpoint.get(endpointId) ?? 0) + 1)
    }
  }

  delete(id: string) {
    const flight = this.#flights.get(id)
    if (!flight) return
    this.#flights.delete(id)
    const left = (this.#perEndpoint.get(flight.endpointId) ?? 0) - 1
    if (left > 0) this.#perEndpoint.set(flight.endpointId, left)
    else this.#perEndpoint.delete(flight.endpointId)
  }

  keepUntil(id: string, until: Date) {
    const flight = this.#flights.get(id)
    if (flight) flight.until = until
  }

  /** Removes those kept until now or earlier, and returns their endpoints. */
  expire(now: Date): string[] {
    const expired = this.all().filter(({ until }) => until && until <= now)
    for (const { id } of expired) this.delete(id)
    return expired.map(({ endpointId }) => endpointId)
  }
}
