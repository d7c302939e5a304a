import { type DeliveryStatus, limits, type NewReplay } from '@baton/protocol'

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

/** Events that were chosen at the start of a replay but are not sent (replay.skips). */
export function isSkipped(one: Candidate, which: NewReplay['which']): boolean {
  if (one.isGone || one.isPrivate || one.sessionEnded || one.isOutOfReach) return true
  if (one.status === null) return which === 'failed'
  if (one.status === 'pending' || one.status === 'canceled') return true
  if (Math.max(one.attempts, one.redeliveries) >= limits.redeliveriesPerDelivery) return true
  // Sent meanwhile in another way.
  return which === 'missed' || (which === 'failed' && one.status === 'succeeded')
}
