import { type Static, Type } from 'typebox'
import { AgentApp, AppName } from './agent-apps.ts'
import { closed, id, list, Page, Timestamp } from './common.ts'
import { Coverage } from './installations.ts'
import { programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

const CardUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  'x-message': 'must be the public https URL of an agent card, or of the host that serves one',
})
const card = { card_url: CardUrl }

/** One line without spaces, as a header needs it. */
const Secret = Type.String({
  minLength: 1,
  maxLength: programLimits.a2aCredential,
  pattern: '^[\\x21-\\x7e]+$',
  'x-message': `must have 1 to ${programLimits.a2aCredential} ASCII characters without spaces`,
})

export const A2aCredential = Type.Union(
  [
    Type.Object({ type: Type.Literal('bearer'), token: Secret }, { ...closed, title: 'A2aBearer' }),
    Type.Object(
      {
        type: Type.Literal('api_key'),
        header: Type.String({
          maxLength: 64,
          pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
          'x-message': 'must be the name of a header',
        }),
        value: Secret,
      },
      { ...closed, title: 'A2aApiKey' },
    ),
    Type.Null(),
  ],
  { 'x-message': 'must be {type: "bearer", token}, {type: "api_key", header, value} or null' },
)
export type A2aCredential = Static<typeof A2aCredential>

const Scopes = Type.Array(
  Type.Enum(['app:assignable', 'app:mentionable'], { 'x-message': 'must be app:assignable or app:mentionable' }),
  { minItems: 1, uniqueItems: true, 'x-message': 'must contain app:assignable, app:mentionable or both' },
)

export const NewA2aApp = Type.Object(
  {
    ...card,
    /** The card's name if absent. */
    name: Type.Optional(AppName),
    scopes: Scopes,
    ...Coverage.properties,
    credential: Type.Optional(A2aCredential),
  },
  closed,
)
export type NewA2aApp = Static<typeof NewA2aApp>

const A2aTask = Type.Object(
  {
    session_id: id('sess'),
    task_id: Type.String(),
    context_id: Type.String(),
    state: Type.Enum([
      'submitted',
      'working',
      'input_required',
      'auth_required',
      'completed',
      'failed',
      'canceled',
      'rejected',
      'unknown',
    ]),
    updated_at: Timestamp,
  },
  { ...closed, title: 'A2aTask' },
)
export type A2aTask = Static<typeof A2aTask>

const InspectedCard = Type.Object(
  {
    ...AgentApp.properties.a2a.anyOf[0].properties.card.properties,
    interface: AgentApp.properties.a2a.anyOf[0].properties.interface,
    warnings: Type.Array(Type.String()),
  },
  { ...closed, title: 'InspectedCard' },
)
export type InspectedCard = Static<typeof InspectedCard>

export const a2a = {
  inspectA2aCard: operation(routes.inspectA2aCard, {
    summary: 'Read the card of an A2A agent and return what a registration would use; nothing is stored',
    body: Type.Object(card, closed),
    returns: { 200: InspectedCard },
    errors: ['A2A_CARD_UNUSABLE', 'RATE_LIMIT_EXCEEDED'],
  }),
  createA2aApp: operation(routes.createA2aApp, {
    summary: 'Register and install an A2A agent from its card',
    body: NewA2aApp,
    returns: {
      201: Type.Object({ app: AgentApp, installation_id: id('ins') }, { ...closed, title: 'RegisteredA2aApp' }),
    },
    errors: ['A2A_CARD_UNUSABLE', 'RATE_LIMIT_EXCEEDED'],
  }),
  refreshA2aCard: operation(routes.refreshA2aCard, {
    summary: 'Read the card of an A2A app again; with `accept`, approve the origin that it names now',
    body: Type.Object({ accept: Type.Optional(Type.Boolean()) }, closed),
    bodyOptional: true,
    returns: { 200: AgentApp },
    errors: ['A2A_CARD_UNUSABLE', 'RATE_LIMIT_EXCEEDED'],
  }),
  setA2aCredential: operation(routes.setA2aCredential, {
    summary: 'Replace the credential of an A2A app; null removes it',
    body: Type.Object({ credential: A2aCredential }, closed),
    returns: { 200: AgentApp },
  }),
  listA2aTasks: operation(routes.listA2aTasks, {
    summary: 'List the tasks of an A2A app, newest first',
    query: Page,
    returns: { 200: list(A2aTask) },
    errors: ['FORBIDDEN'],
  }),
}
