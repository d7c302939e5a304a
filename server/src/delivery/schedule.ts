import type { DeliveryStatus } from '@baton/protocol'
import { plus } from '../clock.ts'

export interface Standing {
  status: DeliveryStatus
  nextAt: string | null
  settledAt: string | null
}

interface Made {
  kind: 'scheduled' | 'redelivery'
  ok: boolean
  endedAt: Date
  /** Scheduled attempts, with this one if it was one. */
  scheduled: number
}

/**
 * 3.3: where a delivery stands after an attempt. Between scheduled attempts lie the retry delays; when they are used up
 * it has failed. A redelivery that a person asked for can only improve matters: its failure leaves things as they were.
 */
export function afterAttempt(before: Standing, made: Made, retryDelaysMs: readonly number[]): Standing {
  const endedAt = made.endedAt.toISOString()
  if (made.ok) return { status: 'succeeded', nextAt: null, settledAt: endedAt }
  if (made.kind === 'redelivery') return before
  const delayMs = retryDelaysMs[made.scheduled - 1]
  if (delayMs === undefined) return { status: 'failed', nextAt: null, settledAt: endedAt }
  return { status: 'pending', nextAt: plus(made.endedAt, delayMs).toISOString(), settledAt: null }
}
