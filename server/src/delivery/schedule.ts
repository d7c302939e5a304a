import type { DeliveryStatus } from '@baton/protocol'
import { plus } from '../clock.ts'

export interface DeliveryState {
  status: DeliveryStatus
  nextAt: string | null
  settledAt: string | null
}

interface FinishedAttempt {
  kind: 'scheduled' | 'redelivery' | 'replay'
  ok: boolean
  endedAt: Date
  /** Number of scheduled attempts so far, including this one if it was scheduled. */
  scheduled: number
  /** A failure that another attempt would only repeat. */
  isFinal?: boolean
}

/**
 * The state of a delivery after an attempt. Scheduled attempts are separated by the retry delays; after the last one it
 * has failed (delivery.retry-schedule). A failed redelivery changes nothing (delivery.redeliver-rules), nor does a failed
 * replay, except that a delivery it created has failed with its only attempt (replay.one-attempt).
 */
export function afterAttempt(
  before: DeliveryState,
  attempt: FinishedAttempt,
  retryDelaysMs: readonly number[],
): DeliveryState {
  const endedAt = attempt.endedAt.toISOString()
  if (attempt.ok) return { status: 'succeeded', nextAt: null, settledAt: endedAt }
  if (attempt.kind === 'redelivery') return before
  if (attempt.kind === 'replay')
    return before.status === 'pending' ? { status: 'failed', nextAt: null, settledAt: endedAt } : before
  const delayMs = attempt.isFinal ? undefined : retryDelaysMs[attempt.scheduled - 1]
  if (delayMs === undefined) return { status: 'failed', nextAt: null, settledAt: endedAt }
  return { status: 'pending', nextAt: plus(attempt.endedAt, delayMs).toISOString(), settledAt: null }
}
