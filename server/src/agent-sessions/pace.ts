/**
 * Spec 8: no second, wherever it begins, holds more than so many activities of an agent in one session. `recent` holds
 * when it spoke within the last second, in milliseconds, oldest first.
 */
export function takeTurn(
  recent: readonly number[],
  now: Date,
  perSecond: number,
): { recent: number[] } | { waitMs: number } {
  const nowMs = now.getTime()
  // A clock that was set back must not let anybody speak twice in one second, nor silence them for longer.
  const counted = recent.filter((at) => at > nowMs - 1000 && at < nowMs + 1000)
  if (counted.length < perSecond) return { recent: [...counted, nowMs] }
  const free = counted.sort((a, b) => a - b)[counted.length - perSecond] as number
  return { waitMs: free + 1000 - nowMs }
}
