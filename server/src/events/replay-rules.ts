import { type DeliveryStatus, limits, type NewReplay, type SkipReason } from '@baton/protocol'

/** How many deliveries a replay has waiting to be sent. */
const window = 64

export interface Progress {
  succeeded: number
  failed: number
  failedInRow: number
}

/** Adds outcomes in the order in which the attempts ended. */
export function withOutcomes(progress: Progress, outcomes: boolean[]): Progress {
  const result = { ...progress }
  for (const succeeded of outcomes) {
    if (succeeded) result.succeeded++
    else result.failed++
    result.failedInRow = succeeded ? 0 : result.failedInRow + 1
  }
  return result
}

export const hasFailedTooOften = ({ failedInRow }: Progress) => failedInRow >= limits.replayFailures

/**
 * How many deliveries may wait at a time. Until one succeeds, and after a failure, no more than may still fail in a row:
 * a receiver that is down gets 20 and not 64.
 */
export const windowFor = ({ succeeded, failedInRow }: Progress) =>
  succeeded > 0 && failedInRow === 0 ? window : limits.replayFailures - failedInRow

export interface Candidate {
  /** The event was deleted since. */
  isGone: boolean
  isPrivate: boolean
  sessionEnded: boolean
  /** The app was uninstalled since, or lost the event's teams. */
  isOutOfReach: boolean
  /** Null if there is no delivery yet. */
  status: DeliveryStatus | null
  attempts: number
  redeliveries: number
}

/** Why an event that was chosen at the start of a replay is not sent (replay.skips); null if it is. */
export function skipReason(one: Candidate, which: NewReplay['which']): SkipReason | null {
  if (one.isGone) return 'deleted'
  if (one.isPrivate) return 'private'
  if (one.sessionEnded) return 'session_ended'
  if (one.isOutOfReach) return 'no_access'
  if (one.status === null) return which === 'failed' ? 'deleted' : null
  if (one.status === 'pending' || one.status === 'canceled') return one.status
  if (Math.max(one.attempts, one.redeliveries) >= limits.redeliveriesPerDelivery) return 'attempt_limit'
  // Sent meanwhile in another way.
  return which === 'missed' || (which === 'failed' && one.status === 'succeeded') ? 'delivered' : null
}

export type SkippedReasons = Partial<Record<SkipReason, number>>

/** Adds `count` for one reason. */
export const plusSkipped = (reasons: SkippedReasons, reason: SkipReason, count = 1): SkippedReasons =>
  count > 0 ? { ...reasons, [reason]: (reasons[reason] ?? 0) + count } : reasons
