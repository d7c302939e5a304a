import { type Static, Type } from 'typebox'
import { closed, id, nullable, paging, Timestamp } from './common.ts'
import { limits } from './limits.ts'

// Deliveries of events to the endpoints of workspaces and apps.

export const ResourceType = Type.Enum(['Issue', 'Comment', 'Project'], {
  'x-message': 'must be Issue, Comment or Project',
})
export type ResourceType = Static<typeof ResourceType>

/** Events that every agent app with an enabled webhook receives, in addition to its `resource_types`. */
export const appEventTypes = ['AgentSessionEvent', 'PermissionChange', 'OAuthApp'] as const
export type AppEventType = (typeof appEventTypes)[number]

/** `failing`: disabled by the service after repeated failures. */
export const EndpointState = Type.Enum(['enabled', 'disabled', 'failing'])
export type EndpointState = Static<typeof EndpointState>

export const WebhookUrl = Type.String({
  minLength: 1,
  maxLength: limits.url,
  'x-message': `must be a URL of at most ${limits.url} characters`,
})

/** The body of a rotation. With an overlap, both secrets sign until it ends. */
export const Rotation = Type.Object(
  {
    overlap_hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.rotationOverlapHours,
        'x-message': `must be a whole number from 1 to ${limits.rotationOverlapHours}`,
      }),
    ),
  },
  closed,
)
export type Rotation = Static<typeof Rotation>

export const FailureReason = Type.Enum([
  'timeout',
  'blocked_destination',
  'network_error',
  'tls_error',
  'redirect',
  'http_error',
])
export type FailureReason = Static<typeof FailureReason>

export const Attempt = Type.Object(
  {
    number: Type.Integer(),
    started_at: Timestamp,
    duration_ms: Type.Integer(),
    /** Null if there was no response. */
    http_status: nullable(Type.Integer()),
    /** Null if it succeeded. */
    reason: nullable(FailureReason),
    response_excerpt: nullable(Type.String()),
  },
  { ...closed, title: 'Attempt' },
)
export type Attempt = Static<typeof Attempt>

const statuses = ['pending', 'succeeded', 'failed', 'canceled'] as const
export const DeliveryStatus = Type.Enum(statuses, { 'x-message': `must be one of: ${statuses.join(', ')}` })
export type DeliveryStatus = Static<typeof DeliveryStatus>

const deliveryFields = {
  id: id('dlv'),
  event_id: Type.String(),
  type: Type.String(),
  action: Type.String(),
  status: DeliveryStatus,
  /** Pending, but not sent for now: the endpoint is disabled, or an earlier delivery of the session comes first. */
  held: Type.Boolean(),
  /** Sent by a person as a test: an example of the event, or a Ping. */
  test: Type.Boolean(),
  /** The issue that the event concerns, with its current title; null if there is none or it is private now. */
  issue: nullable(
    Type.Object({ id: id('iss'), code: Type.String(), title: Type.String() }, { ...closed, title: 'DeliveryIssue' }),
  ),
  created_at: Timestamp,
  /** Null if none is scheduled. */
  next_attempt_at: nullable(Timestamp),
  /** The `X-Request-Id` of the request that caused the event; null if none did. */
  request_id: nullable(Type.String()),
  attempts: Type.Array(Attempt),
}
export const Delivery = Type.Object(deliveryFields, { ...closed, title: 'Delivery' })
export type Delivery = Static<typeof Delivery>

export const DeliveryDetail = Type.Object(
  {
    ...deliveryFields,
    /** As last sent; null before the first attempt. */
    request: nullable(Type.Object({ headers: Type.Record(Type.String(), Type.String()), body: Type.String() }, closed)),
  },
  { ...closed, title: 'DeliveryDetail' },
)
export type DeliveryDetail = Static<typeof DeliveryDetail>

const eventTypes = ['Issue', 'Comment', 'Project', ...appEventTypes, 'Ping'] as const
const statusFilters = [...statuses, 'held'] as const
const filters = {
  ...paging,
  /** `held` selects the pending deliveries with `held: true`. */
  status: Type.Optional(Type.Enum(statusFilters, { 'x-message': `must be one of: ${statusFilters.join(', ')}` })),
  type: Type.Optional(Type.Enum([...eventTypes], { 'x-message': `must be one of: ${eventTypes.join(', ')}` })),
}
export const DeliveryQuery = Type.Object(filters, closed)
export type DeliveryQuery = Static<typeof DeliveryQuery>

export const AppDeliveryQuery = Type.Object(
  {
    ...filters,
    /** Only deliveries of events of this session. */
    agent_session_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  closed,
)
export type AppDeliveryQuery = Static<typeof AppDeliveryQuery>

/** Counts attempts, not deliveries; excludes test pings and attempts that a listener answered. */
export const EndpointHealth = Type.Object(
  {
    /** The last 14 days (UTC), oldest first, including days without attempts. */
    days: Type.Array(
      Type.Object(
        { date: Type.String({ format: 'date' }), succeeded: Type.Integer(), failed: Type.Integer() },
        { ...closed, title: 'HealthDay' },
      ),
    ),
    /** From 0 to 1, over all attempts of these days; null if there were none. */
    success_rate: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    /** Within the last 30 days, for which deliveries are kept. */
    last_success_at: nullable(Timestamp),
    last_failure: nullable(
      Type.Object(
        { at: Timestamp, reason: FailureReason, http_status: nullable(Type.Integer()), delivery_id: id('dlv') },
        closed,
      ),
    ),
    /** When the service disabled it; null unless `state` is `failing`. */
    failing_since: nullable(Timestamp),
    /** Deliveries held while it is disabled, counted up to 10,000. */
    held: Type.Integer({ maximum: limits.heldCounted }),
  },
  { ...closed, title: 'EndpointHealth' },
)
export type EndpointHealth = Static<typeof EndpointHealth>

/** The body of a test. Without it a Ping is sent, otherwise the example of that type and action. */
export const TestEvent = Type.Partial(
  Type.Object({
    type: Type.String({ minLength: 1, maxLength: 100 }),
    action: Type.String({ minLength: 1, maxLength: 100 }),
  }),
  closed,
)
export type TestEvent = Static<typeof TestEvent>

/** Result of a test ping. A failing receiver is a result, not an error. */
export const PingResult = Type.Object(
  {
    ok: Type.Boolean(),
    status: nullable(Type.Integer()),
    reason: nullable(FailureReason),
    duration_ms: Type.Integer(),
  },
  { ...closed, title: 'PingResult' },
)
export type PingResult = Static<typeof PingResult>
