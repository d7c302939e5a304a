import type { DeliveryStatus } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import type { Outcome } from '../outbound/client.ts'

/** The stages of one attempt, each made from the one before: claimed, prepared, attempted. */

export interface ForApp {
  installationId: string
  appUserId: string
  eventId: string
  /** It was uninstalled since. */
  revoked?: boolean
}

/** A delivery that this worker alone may send, until the lease ends. */
export interface Claimed {
  id: string
  /** Fences the completion: whoever lost the claim changes nothing. */
  claimId: string
  kind: 'scheduled' | 'redelivery'
  leaseUntil: Date
  endpointId: string
  url: string
  /** Sealed. */
  secret: string
  struggling: boolean
  /** Somebody listens in place of the URL (decisions 11). */
  listened: boolean
  type: string
  /** The envelope as it was recorded, without what belongs to the attempt. */
  envelope: string
  /** For whom, when it goes to an agent app. */
  app: ForApp | null
  /** As it stood when it was claimed. */
  status: DeliveryStatus
  attempts: number
  scheduled: number
  nextAt: string | null
  settledAt: string | null
}

/** The very bytes to be sent, and their signature. */
export interface Prepared {
  startedAt: Date
  headers: Record<string, string>
  body: Buffer
  signature: string
}

export interface Attempted {
  claimed: Claimed
  prepared: Prepared
  outcome: Outcome
  /** It went to a listener, so it says nothing about the URL. */
  relayed: boolean
  endedAt: Date
}

/** Of a delivery that nobody has claimed any more. */
export const unclaimed = sql`claim_id = null, claim_kind = null, lease_until = null`

/** Of one that is not to be sent any more, also if it is being sent at this moment. */
export const canceled = (now: Date) =>
  sql`status = 'canceled', next_at = null, redeliver_at = null, settled_at = ${now}, ${unclaimed}`
