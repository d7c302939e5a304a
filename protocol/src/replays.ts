import { type Static, type TSchema, Type } from 'typebox'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import { appEventTypes, ResourceType } from './deliveries.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref, Time } from './tracker.ts'

const count = Type.Optional(Type.Integer({ minimum: 1 }))

/** How many events a replay did not send, by reason; without those of 0. */
const SkippedReasons = Type.Object(
  {
    /** The event or its delivery is no longer stored. */
    deleted: count,
    /** The issue or project is private now. */
    private: count,
    /** The agent session has ended. */
    session_ended: count,
    /** The app was uninstalled or lost the team. */
    no_access: count,
    /** The delivery is still to be sent in the normal way. */
    pending: count,
    canceled: count,
    /** The delivery reached the limit of attempts. */
    attempt_limit: count,
    /** Delivered in another way since. */
    delivered: count,
  },
  { ...closed, title: 'SkippedReasons' },
)
export type SkipReason = keyof Static<typeof SkippedReasons>

export const Replay = Type.Object(
  {
    id: id('rpl'),
    /** `stopped`: by a person, because the webhook was disabled, or after 20 failures in a row. */
    state: Type.Enum(['running', 'done', 'stopped']),
    /** Events to send. Those neither sent nor skipped are still to come, or the replay was stopped. */
    matched: Type.Integer(),
    sent: Type.Integer(),
    succeeded: Type.Integer(),
    failed: Type.Integer(),
    /** Not sent: pending, canceled, private now, sent too often, of an ended agent session, or of a team that the app lost. */
    skipped: Type.Integer(),
    skipped_reasons: SkippedReasons,
    /** The last event that was taken up; null before the first. */
    last_event_id: nullable(Type.String()),
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { ...closed, title: 'Replay' },
)
export type Replay = Static<typeof Replay>

const body = <Which extends TSchema, EventType extends TSchema>(which: Which, eventType: EventType) =>
  Type.Object(
    {
      /** Either this or `after_event_id`. */
      since: Type.Optional(Time),
      after_event_id: Type.Optional(Ref),
      until: Type.Optional(Time),
      types: Type.Optional(Type.Array(eventType, { minItems: 1, uniqueItems: true })),
      which: Type.Optional(which),
      dry_run: Type.Optional(Type.Boolean()),
    },
    closed,
  )

/** `missed`: events that the webhook would receive now and that it has no delivery of. */
export const WebhookReplay = body(
  Type.Enum(['failed', 'missed', 'all'], { default: 'failed', 'x-message': 'must be failed, missed or all' }),
  ResourceType,
)
const appTypes = ['Issue', 'Comment', 'Project', ...appEventTypes] as const
export const AppReplay = body(
  Type.Enum(['failed'], { default: 'failed', 'x-message': 'must be failed' }),
  Type.Enum([...appTypes], { 'x-message': `must be one of: ${appTypes.join(', ')}` }),
)
export type NewReplay = Omit<Static<typeof WebhookReplay>, 'types'> & { types?: string[] }

const returns = {
  200: Type.Object(
    { matched: Type.Integer({ maximum: limits.replayedEvents }) },
    { ...closed, title: 'ReplayPreview' },
  ),
  202: Replay,
}
const errors = ['REPLAY_UNDER_WAY', 'WEBHOOK_NOT_ENABLED', 'REPLAY_TOO_LARGE'] as const

export const replays = {
  startWebhookReplay: operation(routes.startWebhookReplay, {
    summary: 'Send past events again, each once, or count them with dry_run',
    body: WebhookReplay,
    returns,
    errors,
  }),
  listWebhookReplays: operation(routes.listWebhookReplays, {
    summary: 'List replays of a webhook, newest first',
    query: Page,
    returns: { 200: list(Replay) },
  }),
  getWebhookReplay: operation(routes.getWebhookReplay, {
    summary: 'Get the progress of a replay',
    returns: { 200: Replay },
  }),
  stopWebhookReplay: operation(routes.stopWebhookReplay, {
    summary: 'Stop a replay; what was sent stays sent',
    returns: { 204: null },
  }),
  startAppReplay: operation(routes.startAppReplay, {
    summary: 'Send failed deliveries of an agent app again, each once, or count them with dry_run',
    body: AppReplay,
    returns,
    errors: ['FORBIDDEN', ...errors],
  }),
  listAppReplays: operation(routes.listAppReplays, {
    summary: 'List replays of an agent app, newest first',
    query: Page,
    returns: { 200: list(Replay) },
    errors: ['FORBIDDEN'],
  }),
  getAppReplay: operation(routes.getAppReplay, {
    summary: 'Get the progress of a replay',
    returns: { 200: Replay },
    errors: ['FORBIDDEN'],
  }),
  stopAppReplay: operation(routes.stopAppReplay, {
    summary: 'Stop a replay; what was sent stays sent',
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
}
