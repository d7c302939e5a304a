import type { WebhookEvent } from './events.ts'

/**
 * Decides whether an event's work is begun. `claim` is asked before the service is answered; if it throws, the
 * delivery is answered 500 and comes again. For work that has to survive a crash, keep the event when it is claimed,
 * forget it when it is finished, and give what is left over to `agent.redo(event)` at the next start.
 */
export interface Dedupe {
  /** True exactly once for each id, however many ask. */
  claim(eventId: string, event: WebhookEvent): Promise<boolean>
  /** Its handler has returned, or has failed and that was said in the session. */
  finish?(eventId: string): Promise<void>
}

/** The latest ids in memory: enough for one process. After a restart the service itself is asked about what is old. */
export function memoryDedupe(kept = 10_000): Dedupe {
  const seen = new Set<string>()
  return {
    async claim(eventId) {
      if (seen.has(eventId)) return false
      seen.add(eventId)
      const [oldest] = seen
      if (seen.size > kept && oldest !== undefined) seen.delete(oldest)
      return true
    },
  }
}
