import type { DeliveryStatus } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import type { Outcome } from '../outbound/client.ts'
import type { Cause, Trace } from '../trace.ts'

/** The stages of one attempt: claimed, prepared, attempted. */

/** Values for the fields that an app's envelope has in addition to the recorded ones. */
export interface AppRecipient {
  installationId: string
  appUserId: string
  eventId: string
  /** The app has been uninstalled since. */
  revoked?: boolean
}

/** The AppRecipient of a delivery of event `v` to installation `i`; null without an installation. */
export const appRecipient = sql`case when i.id is not null then jsonb_build_object(
  'installationId', i.id, 'appUserId', i.app_user_id, 'eventId', v.id, 'revoked', i.revoked_at is not null) end`

/** The Cause of event `v`; null if no request caused it. */
export const causeOfEvent = sql`case when v.request_id is not null and v.traceparent is not null then
  jsonb_build_object('requestId', v.request_id, 'traceparent', v.traceparent) end`

/** The format of a body that is not the event's own. */
export type BodyFormat = 'linear'

/** A delivery that this worker alone may send, because it owns the endpoint until the lease ends. */
export interface Claimed {
  id: string
  /** `replay`: once more for a replay. */
  kind: 'scheduled' | 'redelivery' | 'replay'
  leaseUntil: Date
  endpointId: string
  protocol: 'webhook' | 'a2a'
  url: string
  /** Sealed, like the next one. */
  secret: string
  nextSecret: string | null
  takesOverAt: string | null
  struggling: boolean
  /** The attempt before it failed. */
  hasOutage: boolean
  isTest: boolean
  /** A listener receives attempts in place of the URL (listen.attempts-go-to-listener). */
  hasListener: boolean
  type: string
  /** The envelope as recorded, without the fields of the attempt; in another format the body as recorded. */
  envelope: string
  format: BodyFormat | null
  /** The request that caused the event, if one did. */
  cause: Cause | null
  /** Null for a webhook of the workspace. */
  app: AppRecipient | null
  /** This and the following fields have their values at the time of the claim. */
  status: DeliveryStatus
  attempts: number
  scheduled: number
  /** Requests to send it again. */
  redeliveries: number
  nextAt: string | null
  settledAt: string | null
  replayId: string | null
}

/** The bytes to send, and their signatures. */
export interface Prepared {
  startedAt: Date
  headers: Record<string, string>
  body: Buffer
  signature: string
  standardSignature: string
  /** The span of the attempt, if a request caused the event. */
  trace: Trace | null
}

/** The attempt of a message to an A2A agent. */
export interface SentMessage {
  startedAt: Date
  outcome: Outcome
  /** It is not tried again. */
  isFinal: boolean
}

/** Sends to agents that are not reached by webhook. */
export interface MessageSender {
  /** `held`: nothing was sent, and the delivery is not due any more. `later`: to be tried again when the lease ends. */
  send(claimed: Claimed, startedAt: Date): Promise<SentMessage | 'held' | 'later'>
}

export interface Attempted {
  claimed: Claimed
  prepared: Pick<Prepared, 'startedAt' | 'signature' | 'trace'> & { standardSignature: string | null }
  /** A failure that is not tried again. */
  isFinal?: boolean
  outcome: Outcome
  /** Sent to a listener, so the outcome does not count for the URL. */
  relayed: boolean
  endedAt: Date
}

/** Called at each stage, for the metrics and for tests that kill a worker between two stages. */
export interface WorkerObserver {
  claimed?(deliveries: Claimed[]): void
  attempted?(attempted: Attempted): void
  completing?(attempted: Attempted[]): void
  completed?(attempted: Attempted[]): void
}

/** Delivery `b` has not been sent to its receiver yet. */
export const isUnattempted = sql`b.status = 'pending' and b.attempts = 0`

/** Test deliveries do not count for health (webhook.auto-disable-ignores-pings). The index deliveries_health excludes pings. */
export const isNotTest = sql`type <> 'Ping' and origin <> 'test'`

/** Assignments that release a claim of the version before. */
export const unclaimed = sql`claim_id = null, claim_kind = null, lease_until = null`

/** Assignments that cancel a delivery, even one that is being sent now. */
export const canceled = (now: Date) =>
  sql`status = 'canceled', next_at = null, redeliver_at = null, settled_at = ${now}, replay_id = null,
    ${unclaimed}`
