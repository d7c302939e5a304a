import { type Static, Type } from 'typebox'
import { closed, id } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/** decisions 11: the webhook of an app that is developed on somebody's machine. No name under `.invalid` ever exists. */
export const listenUrl = 'https://listen.invalid/'

/** The data of an `attempt`: one request, to be made as it stands. */
export const RelayedAttempt = Type.Object(
  {
    attempt_id: id('att'),
    delivery_id: id('dlv'),
    /** Where it would have gone. */
    url: Type.String(),
    method: Type.Literal('POST'),
    headers: Type.Record(Type.String(), Type.String()),
    /** The very bytes that were signed, in base64. */
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
      "Receive an app's deliveries by server-sent events, in place of its URL: `ready` at the start, `attempt` for each one, `replaced` or `ended` when somebody else or nobody gets them from now on",
    query: Type.Object(
      { workspace_id: Type.Optional(Type.String()), take_over: Type.Optional(Type.Boolean()) },
      closed,
    ),
    returns: { 200: Type.String() },
    produces: 'text/event-stream',
    errors: ['FORBIDDEN'],
  }),
  answerAttempt: operation(routes.answerAttempt, {
    summary: 'Answer an attempt that was listened to, within five seconds',
    body: AttemptAnswer,
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
}
