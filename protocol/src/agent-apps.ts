import { type Static, type TStringOptions, Type } from 'typebox'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import {
  AppDeliveryQuery,
  Delivery,
  DeliveryDetail,
  EndpointHealth,
  EndpointState,
  PingResult,
  ResourceType,
  Rotation,
  TestEvent,
} from './deliveries.ts'
import { limits } from './limits.ts'
import type { NameKind } from './names.ts'
import { operation } from './operation.ts'
import { type AppScope, appScopes, routes } from './routes.ts'

const Url = (message: string, more: TStringOptions = {}) =>
  Type.String({ minLength: 1, maxLength: limits.url, 'x-message': message, ...more })
const shortName = (more: TStringOptions & { not?: object } = {}) =>
  Type.String({
    minLength: limits.appNameMin,
    maxLength: limits.name,
    pattern: '\\S',
    'x-name': 'plain' satisfies NameKind,
    'x-message': `must be a name of ${limits.appNameMin} to ${limits.name} characters`,
    ...more,
  })
const scopes: AppScope[] = [...appScopes]

/** The name of an app, from its manifest or for its A2A card. */
export const AppName = shortName({
  'x-name': 'app' satisfies NameKind,
  not: { pattern: '[Bb][Aa][Tt][Oo][Nn]', 'x-message': 'must not contain the name of this service, Baton' },
})

/**
 * The manifest of an agent app. This schema is served, and manifests are validated with it. Rules that a schema cannot
 * express, such as which hosts are public, are checked at the same time, so that one response names all bad fields.
 */
export const Manifest = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: 'The URL of this schema' })),
    schemaVersion: Type.Literal('1.0.0', { 'x-message': 'must be "1.0.0"' }),
    name: AppName,
    description: Type.Optional(Type.String({ maxLength: limits.appDescription })),
    icon_url: Type.Optional(Url('must be the https URL of a square image')),
    developer: Type.Object({ name: shortName(), url: Type.Optional(Url('must be an http or https URL')) }, closed),
    distribution: Type.Optional(
      Type.Literal('private', { 'x-message': 'must be private; public apps are not supported yet' }),
    ),
    install_page_url: Type.Optional(
      Url('must be an https URL on the host of developer.url or of a redirect URI', {
        description: "The page of the app's own website where a manager installs it; the web app links to it",
      }),
    ),
    oauth: Type.Object(
      {
        redirect_uris: Type.Array(Url('must be an https URL', { pattern: '^[Hh][Tt][Tt][Pp][Ss]://' }), {
          minItems: 1,
          maxItems: limits.redirectUris,
          uniqueItems: true,
          'x-message': `must contain 1 to ${limits.redirectUris} https URLs, each once`,
        }),
        scopes: Type.Array(Type.Enum(scopes, { 'x-message': `must be one of: ${scopes.join(', ')}` }), {
          uniqueItems: true,
          'x-message': 'must contain scopes, each once',
        }),
      },
      closed,
    ),
    compat: Type.Optional(
      Type.Literal('linear', {
        'x-message': 'must be "linear"',
        description:
          "The app was written for Linear: it uses Linear's API at /linear and gets events in Linear's format",
      }),
    ),
    webhook: Type.Optional(
      Type.Object(
        {
          url: Url('must be a public https URL on port 443 or 8443'),
          enabled: Type.Optional(Type.Boolean({ default: true })),
          resource_types: Type.Optional(
            Type.Array(
              Type.Enum(['Issue', 'Comment', 'Project'], {
                'x-message': 'must be Issue, Comment or Project; other events are always delivered',
              }),
              {
                uniqueItems: true,
                'x-message': 'must contain only Issue, Comment and Project, each at most once',
                default: [],
              },
            ),
          ),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: 'AgentAppManifest' },
)
export type Manifest = Static<typeof Manifest>

export const Compat = Type.Literal('linear')
export type Compat = Static<typeof Compat>

const A2aInterface = Type.Object(
  {
    url: Type.String(),
    binding: Type.Enum(['JSONRPC', 'HTTP+JSON']),
    protocol_version: Type.String(),
  },
  { ...closed, title: 'A2aInterface' },
)

/** The parts of an A2A agent's card that Baton uses or shows. */
const A2aCard = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    provider: nullable(Type.Object({ name: Type.String(), url: nullable(Type.String()) }, closed)),
    version: Type.String(),
    streaming: Type.Boolean(),
    /** The ways to authenticate that the card declares. */
    security: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          type: Type.Enum(['api_key', 'http', 'oauth2', 'open_id_connect', 'mtls', 'unknown']),
        },
        closed,
      ),
    ),
    skills: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), description: Type.String() }, closed)),
  },
  { ...closed, title: 'A2aCard' },
)
export type A2aCard = Static<typeof A2aCard>
export type A2aInterface = Static<typeof A2aInterface>

export const AgentApp = Type.Object(
  {
    id: id('app'),
    client_id: Type.String(),
    developer_workspace_id: id('wsp'),
    owner_user_id: nullable(id('usr')),
    name: Type.String(),
    description: nullable(Type.String()),
    icon_url: nullable(Type.String()),
    developer: Type.Object({ name: Type.String(), url: nullable(Type.String()) }, closed),
    distribution: Type.Literal('private'),
    /** The page where a manager installs it; null if it is installed from its page in the web app. */
    install_page_url: nullable(Type.String()),
    /** The API that the app uses, if it was written for another service. */
    compat: nullable(Compat),
    redirect_uris: Type.Array(Type.String()),
    requested_scopes: Type.Array(Type.Enum(scopes)),
    webhook: Type.Object(
      {
        /** The value in the manifest; `state` also shows if the service disabled it. */
        enabled: Type.Boolean(),
        url: Type.String(),
        resource_types: Type.Array(ResourceType),
        state: EndpointState,
      },
      closed,
    ),
    /** The user who currently receives its deliveries in place of the URL. */
    listener: nullable(
      Type.Object(
        { user: Type.Object({ id: id('usr'), name: Type.String() }, closed), since: Timestamp },
        { ...closed, title: 'Listener' },
      ),
    ),
    /** How Baton reaches the agent: signed webhooks, or the A2A protocol. */
    protocol: Type.Enum(['webhook', 'a2a']),
    /** Null for a webhook app. */
    a2a: nullable(
      Type.Object(
        {
          card_url: Type.String(),
          card: A2aCard,
          interface: A2aInterface,
          credential_type: nullable(Type.Enum(['bearer', 'api_key'])),
          fetched_at: Timestamp,
          /** The origin that the card names now, if a manager has to accept it first. */
          new_origin: nullable(Type.String()),
        },
        { ...closed, title: 'A2aApp' },
      ),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'AgentApp' },
)
export type AgentApp = Static<typeof AgentApp>

export const AppSetup = Type.Object(
  {
    registered_at: Timestamp,
    /** Null if it is not installed. */
    installed_at: nullable(Timestamp),
    /** When the app got the tokens of its current approval; null if it has not, or has revoked them. */
    tokens_fetched_at: nullable(Timestamp),
    /** First 2xx answer of the receiver or a listener to an event; null if none. Test pings do not count. */
    first_delivered_at: nullable(Timestamp),
    /** Null if it has posted none; only its first hundred answered sessions are searched. */
    first_thought_at: nullable(Timestamp),
  },
  { ...closed, title: 'AppSetup' },
)
export type AppSetup = Static<typeof AppSetup>

const ClientSecret = Type.String({ pattern: '^svc_sk_' })
const WebhookSecret = Type.String({ pattern: '^pwhsec_' })

/** The verb validates the manifest, because a schema cannot express all rules. */
const manifest = { body: Manifest, bodyCheckedByVerb: true } as const

export const agentApps = {
  getManifestSchema: operation(routes.getManifestSchema, {
    summary: 'Get the JSON schema of manifests',
    returns: { 200: Type.Unknown() },
  }),
  createAgentApp: operation(routes.createAgentApp, {
    summary: 'Register an agent app from its manifest; the secrets are returned only once',
    ...manifest,
    returns: {
      201: Type.Object(
        {
          app: AgentApp,
          client_id: Type.String(),
          client_secret: ClientSecret,
          webhook_secret: WebhookSecret,
          install_url: Type.String(),
        },
        { ...closed, title: 'RegisteredApp' },
      ),
    },
  }),
  listAgentApps: operation(routes.listAgentApps, {
    summary: 'List agent apps of the workspace, newest first',
    query: Page,
    returns: { 200: list(AgentApp) },
  }),
  getAgentApp: operation(routes.getAgentApp, { summary: 'Get an agent app', returns: { 200: AgentApp } }),
  getAppSetup: operation(routes.getAppSetup, {
    summary:
      'Get the setup progress of an agent app: registered, installed, tokens fetched, first delivery, first thought',
    returns: { 200: AppSetup },
  }),
  replaceAgentApp: operation(routes.replaceAgentApp, {
    summary: 'Replace the whole manifest of an agent app',
    ...manifest,
    returns: { 200: AgentApp },
    errors: ['A2A_APP'],
  }),
  deleteAgentApp: operation(routes.deleteAgentApp, {
    summary: 'Delete an agent app after uninstalling it',
    returns: { 204: null },
  }),
  rotateClientSecret: operation(routes.rotateClientSecret, {
    summary: 'Rotate the client secret; the old one stops working at once',
    returns: { 200: Type.Object({ client_secret: ClientSecret }, closed) },
    errors: ['FORBIDDEN', 'A2A_APP'],
  }),
  rotateAppWebhookSecret: operation(routes.rotateAppWebhookSecret, {
    summary: 'Rotate the webhook secret; the old one stops working at once, also for retries, or after an overlap',
    body: Rotation,
    bodyOptional: true,
    returns: {
      200: Type.Object(
        {
          webhook_secret: WebhookSecret,
          /** With an overlap only. */
          takes_over_at: Type.Optional(Timestamp),
        },
        { ...closed, title: 'RotatedAppWebhookSecret' },
      ),
    },
    errors: ['FORBIDDEN', 'ROTATION_UNDER_WAY', 'A2A_APP'],
  }),
  finishAppRotation: operation(routes.finishAppRotation, {
    summary: 'End the overlap of a rotation: the next webhook secret becomes the only one at once',
    returns: { 200: Type.Object({ webhook_secret: WebhookSecret }, closed) },
    errors: ['FORBIDDEN', 'A2A_APP'],
  }),
  testAppWebhook: operation(routes.testAppWebhook, {
    summary:
      'Send one signed Ping or the example of an event, even while disabled, and return the result; for an A2A app, read its card',
    body: TestEvent,
    bodyOptional: true,
    returns: { 200: PingResult },
    errors: ['FORBIDDEN', 'RATE_LIMIT_EXCEEDED'],
  }),
  enableAppWebhook: operation(routes.enableAppWebhook, {
    summary: 'Enable the webhook of an agent app and send its held deliveries',
    returns: { 200: AgentApp },
    errors: ['FORBIDDEN', 'A2A_CARD_UNUSABLE'],
  }),
  disableAppWebhook: operation(routes.disableAppWebhook, {
    summary: 'Disable the webhook of an agent app and hold its pending deliveries',
    returns: { 200: AgentApp },
    errors: ['FORBIDDEN'],
  }),
  getAppWebhookHealth: operation(routes.getAppWebhookHealth, {
    summary: "Get the health of an agent app's webhook: attempts of the last 14 days, last failure, held deliveries",
    returns: { 200: EndpointHealth },
    errors: ['FORBIDDEN'],
  }),
  listAppDeliveries: operation(routes.listAppDeliveries, {
    summary: 'List deliveries of an agent app with their attempts, newest first',
    query: AppDeliveryQuery,
    returns: { 200: list(Delivery) },
    errors: ['FORBIDDEN'],
  }),
  getAppDelivery: operation(routes.getAppDelivery, {
    summary: 'Get a delivery and its last request',
    returns: { 200: DeliveryDetail },
    errors: ['FORBIDDEN'],
  }),
  redeliverToApp: operation(routes.redeliverToApp, {
    summary: 'Redeliver, even while disabled',
    returns: { 202: Delivery },
    errors: ['FORBIDDEN', 'DELIVERY_CANCELED', 'REDELIVERY_LIMIT_REACHED'],
  }),
  requestInstall: operation(routes.requestInstall, {
    summary: 'Request installation of an app; managers are notified in their inbox',
    returns: { 204: null },
  }),
  getAppIcon: operation(routes.getAppIcon, {
    summary: 'Get the icon of an agent app, or a generated one',
    produces: 'image/*',
    returns: { 200: Type.Unknown() },
  }),
}
