import { type Static, Type } from 'typebox'
import { closed, id } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/**
 * The webhook URL of an app in development, which receives deliveries through a listener
 * (manifest.listen-invalid-accepted). Names under `.invalid` never resolve.
 */
export const listenUrl = 'https://listen.invalid/'

/** The data of an `attempt` event: a request that the listener sends unchanged. */
export const RelayedAttempt = Type.Object(
  {
    attempt_id: id('att'),
    delivery_id: id('dlv'),
    /** The registered webhook URL. */
    url: Type.String(),
    method: Type.Literal('POST'),
    headers: Type.Record(Type.String(), Type.String()),
    /** The signed bytes, in base64. */
    body: Type.String(),
  },
  { ...closed, title: 'RelayedAttempt' },
)
export type RelayedAttempt = Static<typeof RelayedAttempt>

export const AttemptAnswer = Type.Object(
  {
    status: Type.Integer({ minimum: 200, maximum: 599, 'x-message': 'must be an HTTP status from 200 to 599' }),
    body: Type.Optional(Type.String({ maxLength: limits.webhookResponseBytes })),
  },
  closed,
)
export type AttemptAnswer = Static<typeof AttemptAnswer>

export const listening = {
  listenToApp: operation(routes.listenToApp, {
    summary:
      "Receive an app's deliveries with server-sent events, in place of its URL: `ready` at the start, `attempt` for each delivery, `replaced` after another listener took over, `ended` after the app was deleted or got another URL",
    query: Type.Object(
      { workspace_id: Type.Optional(Type.String()), take_over: Type.Optional(Type.Boolean()) },
      closed,
    ),
    returns: { 200: Type.String() },
    produces: 'text/event-stream',
    errors: ['FORBIDDEN', 'A2A_APP'],
  }),
  listenAsApp: operation(routes.listenAsApp, {
    summary: `Receive the calling app's deliveries with server-sent events, with the same events; only for an app with the webhook URL ${listenUrl}. \`ended\` also after it was uninstalled`,
    query: Type.Object({ workspace_id: Type.Optional(Type.String()), catch_up: Type.Optional(Type.Boolean()) }, closed),
    returns: { 200: Type.String() },
    produces: 'text/event-stream',
  }),
  answerAsApp: operation(routes.answerAsApp, {
    summary: 'Answer a relayed attempt of the calling app, within five seconds',
    body: AttemptAnswer,
    returns: { 204: null },
  }),
  answerAttempt: operation(routes.answerAttempt, {
    summary: 'Answer a relayed attempt, within five seconds',
    body: AttemptAnswer,
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
}
