import { type BatonError, isBatonError } from './errors.ts'

export interface RetryRules {
  /** How often a call is made at most. */
  attempts: number
  /** The first pause; each one after is twice as long, and half of each is left to chance. */
  firstDelayMs: number
  longestDelayMs: number
  /** A service that asks for more patience than this is not waited for. */
  longestRetryAfterMs: number
}

export const defaultRetries: RetryRules = {
  attempts: 4,
  firstDelayMs: 250,
  longestDelayMs: 8000,
  longestRetryAfterMs: 60_000,
}

/**
 * How long to wait before the next attempt, or null if there is none. What was refused for its rate was not done, so
 * it may always be said again; whatever else went wrong, only if saying it twice does no harm.
 */
export function pauseBefore(
  attempt: number,
  error: unknown,
  { repeatable, rules, random }: { repeatable: boolean; rules: RetryRules; random: () => number },
): number | null {
  if (attempt >= rules.attempts || !isBatonError(error)) return null
  if (error.status !== 429 && !(repeatable && isPassing(error))) return null
  const askedForMs = (error.retryAfter ?? 0) * 1000
  if (askedForMs > rules.longestRetryAfterMs) return null
  const backoffMs = Math.min(rules.longestDelayMs, rules.firstDelayMs * 2 ** (attempt - 1))
  return askedForMs + Math.round(backoffMs * (askedForMs > 0 ? random() / 2 : 0.5 + random() / 2))
}

/** It may well work the next time: nothing was answered, or somebody on the way could not. */
const isPassing = ({ code, status }: BatonError) =>
  code === 'NETWORK_ERROR' || code === 'TIMEOUT' || status === 502 || status === 503 || status === 504
