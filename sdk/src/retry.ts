import { type BatonError, isBatonError } from './errors.ts'

export interface RetryRules {
  /** Maximum number of attempts, the first included. */
  attempts: number
  /** The first delay. Each following one is twice as long; half of each is random. */
  firstDelayMs: number
  longestDelayMs: number
  /** A longer Retry-After is not waited for: the call fails. */
  longestRetryAfterMs: number
}

export const defaultRetries: RetryRules = {
  attempts: 4,
  firstDelayMs: 250,
  longestDelayMs: 8000,
  longestRetryAfterMs: 60_000,
}

/**
 * Delay before the next attempt, or null for no further attempt. A call refused with 429 was not executed, so it can
 * always be retried; after other errors only if the call is repeatable.
 */
export function pauseBefore(
  attempt: number,
  error: unknown,
  { repeatable, rules, random }: { repeatable: boolean; rules: RetryRules; random: () => number },
): number | null {
  if (attempt >= rules.attempts || !isBatonError(error)) return null
  if (error.status !== 429 && !(repeatable && isTemporary(error))) return null
  const retryAfterMs = (error.retryAfter ?? 0) * 1000
  if (retryAfterMs > rules.longestRetryAfterMs) return null
  const backoffMs = Math.min(rules.longestDelayMs, rules.firstDelayMs * 2 ** (attempt - 1))
  return retryAfterMs + Math.round(backoffMs * (retryAfterMs > 0 ? random() / 2 : 0.5 + random() / 2))
}

/** No response, or an error of a gateway. */
const isTemporary = ({ code, status }: BatonError) =>
  code === 'NETWORK_ERROR' || code === 'TIMEOUT' || status === 502 || status === 503 || status === 504
