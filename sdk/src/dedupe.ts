import type { WebhookEvent } from './events.ts'

/**
 * Ensures that each event is processed once. `claim` is called before the service is answered; if it throws, the
 * answer is 500 and the service retries. For work that has to survive a crash, store the event when it is claimed,
 * delete it when it is finished, and pass the remaining ones to `agent.redo(event)` at the next start.
 */
export interface Dedupe {
  /** Resolves to true exactly once for each id, even with concurrent calls. */
  claim(eventId: string, event: WebhookEvent): Promise<boolean>
  /** The handler has returned, or has failed and the error was posted in the session. */
  finish?(eventId: string): Promise<void>
}

/**
 * Keeps the latest ids in memory, which is enough for one process. After a restart, the agent asks the service whether
 * an old event has been processed.
 */
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
