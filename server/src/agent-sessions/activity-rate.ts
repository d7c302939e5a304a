import { maxLagMs } from './state.ts'

/**
 * rate.session-activities-10-per-second: no interval of one second has more than `perSecond` activities of the agent in
 * one session. `recent` has the times of its activities within the last second, in milliseconds. Returns the times to
 * store with a new activity, or how long the agent has to wait.
 */
export function admitActivity(
  recent: readonly number[],
  { now, lastChange }: { now: Date; lastChange: Date },
  perSecond: number,
): { recent: number[] } | { waitMs: number } {
  const nowMs = now.getTime()
  const believable = (times: readonly number[]) => times.filter((time) => time < nowMs + maxLagMs)
  // The new activity is not earlier than the last change (`Lifecycle.updatedAt`), and neither is its window.
  const at = Math.max(nowMs, ...believable([...recent, lastChange.getTime()]))
  const counted = believable(recent)
    .filter((time) => time > at - 1000)
    .sort((a, b) => a - b)
  const oldest = counted[counted.length - perSecond]
  return oldest === undefined ? { recent: [...counted, at] } : { waitMs: oldest + 1000 - nowMs }
}
