import { type Static, Type } from 'typebox'
import { Compat } from './agent-apps.ts'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import { appEventTypes, ResourceType } from './deliveries.ts'
import { Coverage } from './installations.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { appScopes, routes } from './routes.ts'
import { Refs } from './tracker.ts'

/** RFC 6749: unknown parameters are ignored. */
const open = { additionalProperties: true } as const
export const Parameter = Type.Optional(
  Type.String({
    maxLength: limits.oauthParameter,
    'x-message': `must be sent once, with at most ${limits.oauthParameter} characters`,
  }),
)
export const OAuthError = Type.Object(
  { error: Type.String(), error_description: Type.String() },
  { title: 'OAuthError' },
)

export const AuthorizeQuery = Type.Object(
  {
    client_id: Parameter,
    redirect_uri: Parameter,
    response_type: Parameter,
    scope: Parameter,
    state: Parameter,
    actor: Parameter,
    code_challenge: Parameter,
    code_challenge_method: Parameter,
  },
  open,
)
export type AuthorizeQuery = Static<typeof AuthorizeQuery>

export const TokenResponse = Type.Object(
  {
    access_token: Type.String({ pattern: '^svc_at_' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Literal(limits.accessTokenSeconds),
    refresh_token: Type.String({ pattern: '^prt_' }),
    scope: Type.String(),
    workspace_id: id('wsp'),
    /** For agent apps only, like the next two. */
    actor: Type.Optional(Type.Literal('app')),
    installation_id: Type.Optional(id('ins')),
    app_user_id: Type.Optional(id('usr')),
  },
  { ...closed, title: 'TokenResponse' },
)
export type TokenResponse = Static<typeof TokenResponse>

export const ConsentRequest = Type.Object(
  {
    id: Type.String(),
    /** Null if the client is a program, not an agent app. */
    app: nullable(
      Type.Object(
        { id: id('app'), name: Type.String(), description: nullable(Type.String()), icon: Type.String() },
        closed,
      ),
    ),
    client_name: Type.String(),
    developer: nullable(Type.Object({ name: Type.String(), url: nullable(Type.String()) }, closed)),
    scopes: Type.Array(Type.String()),
    /** For an agent app, the teams of its workspace; for a program, empty. */
    teams: Type.Array(Type.Object({ id: id('team'), key: Type.String(), name: Type.String() }, closed)),
    /** For a program, the person's workspaces; for an agent app, only its own. */
    workspaces: Type.Array(Type.Object({ id: id('wsp'), name: Type.String() }, closed)),
    redirect_host: Type.String(),
    /** As in AgentApp; null for a program. */
    compat: nullable(Compat),
    /** The events that an agent app will receive; null without an enabled webhook. */
    webhook: nullable(
      Type.Object(
        {
          host: Type.String(),
          /** Requested by the app. */
          resource_types: Type.Array(ResourceType),
          /** Sent to every app. */
          always: Type.Array(Type.Enum([...appEventTypes])),
        },
        closed,
      ),
    ),
    /** The current installation of an agent app, which approval replaces. */
    installed: nullable(
      Type.Object(
        {
          all_teams: Type.Boolean(),
          /** Empty if `all_teams` is true. */
          team_ids: Type.Array(id('team')),
          scopes: Type.Array(Type.String()),
        },
        closed,
      ),
    ),
    can_approve: Type.Boolean(),
  },
  { ...closed, title: 'ConsentRequest' },
)
export type ConsentRequest = Static<typeof ConsentRequest>

/** For an agent app one of the first two, for a program the third. */
export const Consent = Type.Object(
  {
    all_teams: Type.Optional(
      Type.Literal(true, { 'x-message': 'must be true; omit it to choose teams with team_ids' }),
    ),
    team_ids: Type.Optional(Refs),
    workspace_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  closed,
)
export type Consent = Static<typeof Consent>

/** Teams as in Coverage. */
export const InstallApproval = Type.Object(
  {
    ...Coverage.properties,
    /** Some scopes of the manifest; default: all of them. An empty list grants `read`, as in an approved consent. */
    scopes: Type.Optional(
      Type.Array(Type.Enum([...appScopes], { 'x-message': `must be one of: ${appScopes.join(', ')}` }), {
        uniqueItems: true,
        'x-message': 'must contain scopes, each once',
      }),
    ),
  },
  closed,
)
export type InstallApproval = Static<typeof InstallApproval>

const Redirect = Type.Object({ redirect_to: Type.String() }, closed)
const form = { bodyFormat: 'form', errorFormat: 'oauth' } as const

const RegisteredClient = Type.Object(
  {
    client_id: Type.String(),
    client_id_issued_at: Type.Integer(),
    client_name: Type.String(),
    redirect_uris: Type.Array(Type.String()),
    token_endpoint_auth_method: Type.Literal('none'),
    grant_types: Type.Array(Type.String()),
    response_types: Type.Array(Type.String()),
  },
  { ...closed, title: 'RegisteredClient' },
)

/** A program that a person connected, such as an MCP client. It acts for them in one workspace. */
export const Program = Type.Object(
  {
    id: id('grt'),
    client_name: Type.String(),
    workspace: Type.Object({ id: id('wsp'), name: Type.String() }, closed),
    scopes: Type.Array(Type.String()),
    created_at: Timestamp,
    /** Accurate to the minute; null if it was never used. */
    last_used_at: nullable(Timestamp),
  },
  { ...closed, title: 'Program' },
)
export type Program = Static<typeof Program>

export const oauth = {
  authorize: operation(routes.authorize, {
    summary: 'Start an authorization; redirects to sign-in, to consent, or back with an error',
    query: AuthorizeQuery,
    anyQuery: true,
    produces: 'text/html',
    returns: { 302: null, 400: Type.String() },
  }),
  issueToken: operation(routes.issueToken, {
    summary: 'Exchange a code or a refresh token for tokens',
    anyQuery: true,
    body: Type.Object(
      {
        grant_type: Parameter,
        code: Parameter,
        redirect_uri: Parameter,
        code_verifier: Parameter,
        refresh_token: Parameter,
        client_id: Parameter,
        client_secret: Parameter,
      },
      open,
    ),
    ...form,
    returns: { 200: TokenResponse, 400: OAuthError, 401: OAuthError },
  }),
  revokeToken: operation(routes.revokeToken, {
    summary: 'Revoke the grant of a refresh token',
    anyQuery: true,
    body: Type.Object(
      { token: Parameter, token_type_hint: Parameter, client_id: Parameter, client_secret: Parameter },
      open,
    ),
    ...form,
    returns: { 200: Type.Object({}, closed), 400: OAuthError, 401: OAuthError },
  }),
  registerClient: operation(routes.registerClient, {
    summary: 'Register a public client, such as an MCP client',
    anyQuery: true,
    body: Type.Object({}, open),
    errorFormat: 'oauth',
    returns: { 201: RegisteredClient, 400: OAuthError, 429: OAuthError },
  }),
  getServerMetadata: operation(routes.getServerMetadata, {
    summary: 'Get the OAuth metadata of this service (RFC 8414)',
    returns: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }),
  getResourceMetadata: operation(routes.getResourceMetadata, {
    summary: 'Get the OAuth metadata of the API as a protected resource (RFC 9728)',
    returns: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }),
  getMcpResourceMetadata: operation(routes.getMcpResourceMetadata, {
    summary: 'Get the OAuth metadata of the MCP server as a protected resource (RFC 9728)',
    returns: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }),
  getConsentRequest: operation(routes.getConsentRequest, {
    summary: 'Get a consent request, as the person who started it',
    returns: { 200: ConsentRequest },
  }),
  approveConsent: operation(routes.approveConsent, {
    summary: 'Approve a consent request; returns where to redirect the browser',
    body: Consent,
    returns: { 200: Redirect },
    errors: ['FORBIDDEN', 'WORKSPACE_PENDING_DELETION'],
  }),
  denyConsent: operation(routes.denyConsent, {
    summary: 'Deny a consent request; returns where to redirect the browser',
    returns: { 200: Redirect },
  }),
  installApp: operation(routes.installApp, {
    summary: 'Install an agent app as after an approved consent; the tokens are returned only once',
    body: InstallApproval,
    returns: { 201: TokenResponse },
    errors: ['ALREADY_INSTALLED', 'A2A_APP'],
  }),
  listPrograms: operation(routes.listPrograms, {
    summary: 'List your connected programs, such as MCP clients, in all workspaces, newest first',
    query: Page,
    returns: { 200: list(Program) },
  }),
  endProgram: operation(routes.endProgram, {
    summary: 'Disconnect a program and revoke its tokens',
    returns: { 204: null },
  }),
}
