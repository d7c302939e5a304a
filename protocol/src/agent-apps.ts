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
} from './deliveries.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { type AppScope, appScopes, routes } from './routes.ts'

const Url = (message: string, more: TStringOptions = {}) =>
  Type.String({ minLength: 1, maxLength: limits.url, 'x-message': message, ...more })
const named = (what: string, more: TStringOptions & { not?: object } = {}) =>
  Type.String({
    minLength: limits.appNameMin,
    maxLength: limits.name,
    pattern: '\\S',
    'x-message': `must be ${what} of ${limits.appNameMin} to ${limits.name} characters`,
    ...more,
  })
const scopes: AppScope[] = [...appScopes]

/**
 * 2.2: what a third party registers. This object is served at its address and is what manifests are held against;
 * what a schema cannot say, such as which hosts are public, is checked with it, so that one answer names every bad field.
 */
export const Manifest = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: 'The address of this schema' })),
    schemaVersion: Type.Literal('1.0.0', { 'x-message': 'must be "1.0.0"' }),
    name: named('a name', {
      not: { pattern: '[Bb][Aa][Tt][Oo][Nn]', 'x-message': 'must not contain the name of this service' },
    }),
    description: Type.Optional(Type.String({ maxLength: limits.appDescription })),
    icon_url: Type.Optional(Url('must be the https address of a square picture')),
    developer: Type.Object(
      { name: named('a name'), url: Type.Optional(Url('must be an http or https address')) },
      closed,
    ),
    distribution: Type.Optional(
      Type.Literal('private', { 'x-message': 'must be private; public apps are not possible yet' }),
    ),
    oauth: Type.Object(
      {
        redirect_uris: Type.Array(Url('must be an https address', { pattern: '^[Hh][Tt][Tt][Pp][Ss]://' }), {
          minItems: 1,
          maxItems: limits.redirectUris,
          uniqueItems: true,
          'x-message': `must hold 1 to ${limits.redirectUris} https addresses, each once`,
        }),
        scopes: Type.Array(Type.Enum(scopes, { 'x-message': `must be one of: ${scopes.join(', ')}` }), {
          uniqueItems: true,
          'x-message': 'must hold scopes, each once',
        }),
      },
      closed,
    ),
    webhook: Type.Optional(
      Type.Object(
        {
          url: Url('must be a public https address on port 443 or 8443'),
          enabled: Type.Optional(Type.Boolean({ default: true })),
          resource_types: Type.Optional(
            Type.Array(
              Type.Enum(['Issue', 'Comment', 'Project'], {
                'x-message': 'must be Issue, Comment or Project; the other events are always delivered',
              }),
              {
                uniqueItems: true,
                'x-message': 'must hold Issue, Comment and Project, each once at most',
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
    redirect_uris: Type.Array(Type.String()),
    requested_scopes: Type.Array(Type.Enum(scopes)),
    webhook: Type.Object(
      {
        /** As the manifest says; `state` adds that the service disabled it. */
        enabled: Type.Boolean(),
        url: Type.String(),
        resource_types: Type.Array(ResourceType),
        state: EndpointState,
      },
      closed,
    ),
    /** Who receives its deliveries at the moment, in place of the URL. */
    listener: nullable(
      Type.Object(
        { user: Type.Object({ id: id('usr'), name: Type.String() }, closed), since: Timestamp },
        { ...closed, title: 'Listener' },
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
    /** Null while it is not installed. */
    installed_at: nullable(Timestamp),
    /** When its receiver, or a listener, first answered an event with 2xx. Null: never yet; test pings do not count. */
    first_delivered_at: nullable(Timestamp),
    /** Null: it has posted none yet, nor in the first hundred sessions that it answered. */
    first_thought_at: nullable(Timestamp),
  },
  { ...closed, title: 'AppSetup' },
)
export type AppSetup = Static<typeof AppSetup>

const ClientSecret = Type.String({ pattern: '^svc_sk_' })
const WebhookSecret = Type.String({ pattern: '^pwhsec_' })

/** A verb checks the manifest, because a schema cannot say all of it. */
const manifest = { body: Manifest, bodyCheckedByVerb: true } as const

export const agentApps = {
  getManifestSchema: operation(routes.getManifestSchema, {
    summary: 'The JSON schema that manifests are held against',
    returns: { 200: Type.Unknown() },
  }),
  createAgentApp: operation(routes.createAgentApp, {
    summary: 'Register an agent app from its manifest; the secrets are in the answer, this once',
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
    summary: 'Agent apps of the workspace, newest first',
    query: Page,
    returns: { 200: list(AgentApp) },
  }),
  getAgentApp: operation(routes.getAgentApp, { summary: 'Read an agent app', returns: { 200: AgentApp } }),
  getAppSetup: operation(routes.getAppSetup, {
    summary: 'How far an agent app has come: registered, installed, first delivery taken, first thought',
    returns: { 200: AppSetup },
  }),
  replaceAgentApp: operation(routes.replaceAgentApp, {
    summary: 'Replace the whole manifest of an agent app',
    ...manifest,
    returns: { 200: AgentApp },
  }),
  deleteAgentApp: operation(routes.deleteAgentApp, {
    summary: 'Uninstall an agent app everywhere, then delete it',
    returns: { 204: null },
  }),
  rotateClientSecret: operation(routes.rotateClientSecret, {
    summary: 'Make a new client secret; the old one stops at once',
    returns: { 200: Type.Object({ client_secret: ClientSecret }, closed) },
    errors: ['FORBIDDEN'],
  }),
  rotateAppWebhookSecret: operation(routes.rotateAppWebhookSecret, {
    summary: 'Make a new webhook secret; the old one stops at once, also for retries',
    returns: { 200: Type.Object({ webhook_secret: WebhookSecret }, closed) },
    errors: ['FORBIDDEN'],
  }),
  testAppWebhook: operation(routes.testAppWebhook, {
    summary: 'Send one signed Ping, also while disabled, and say what came of it',
    returns: { 200: PingResult },
    errors: ['FORBIDDEN', 'RATE_LIMIT_EXCEEDED'],
  }),
  enableAppWebhook: operation(routes.enableAppWebhook, {
    summary: 'Enable the webhook of an agent app; what was held is delivered',
    returns: { 200: AgentApp },
    errors: ['FORBIDDEN'],
  }),
  disableAppWebhook: operation(routes.disableAppWebhook, {
    summary: 'Disable the webhook of an agent app; what is pending is held',
    returns: { 200: AgentApp },
    errors: ['FORBIDDEN'],
  }),
  getAppWebhookHealth: operation(routes.getAppWebhookHealth, {
    summary: "How an agent app's webhook has done in the last 14 days, when it failed last, and what waits for it",
    returns: { 200: EndpointHealth },
    errors: ['FORBIDDEN'],
  }),
  listAppDeliveries: operation(routes.listAppDeliveries, {
    summary: 'Deliveries of an agent app with their attempts, newest first',
    query: AppDeliveryQuery,
    returns: { 200: list(Delivery) },
    errors: ['FORBIDDEN'],
  }),
  getAppDelivery: operation(routes.getAppDelivery, {
    summary: 'One delivery, with what was last sent',
    returns: { 200: DeliveryDetail },
    errors: ['FORBIDDEN'],
  }),
  redeliverToApp: operation(routes.redeliverToApp, {
    summary: 'Send a delivery once more, also while disabled',
    returns: { 202: Delivery },
    errors: ['FORBIDDEN', 'DELIVERY_CANCELED', 'REDELIVERY_LIMIT_REACHED'],
  }),
  requestInstall: operation(routes.requestInstall, {
    summary: 'Ask the managers to install an app; they find it in their inbox',
    returns: { 204: null },
  }),
  getAppIcon: operation(routes.getAppIcon, {
    summary: 'The icon of an agent app, or one drawn for it',
    produces: 'image/*',
    returns: { 200: Type.Unknown() },
  }),
}
