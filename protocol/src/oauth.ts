import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import { appEventTypes, ResourceType } from './deliveries.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Refs } from './tracker.ts'

/** RFC 6749 and its kin: parameters nobody knows are ignored, errors have their own shape. */
const open = { additionalProperties: true } as const
const Parameter = Type.Optional(
  Type.String({
    maxLength: limits.oauthParameter,
    'x-message': `must be sent once, with at most ${limits.oauthParameter} characters`,
  }),
)
const Ignored = Type.Object({}, open)
const OAuthProblem = Type.Object({ error: Type.String(), error_description: Type.String() }, { title: 'OAuthError' })

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
    /** These three for agent apps only. */
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
    /** Null when a program of the person asks, not an agent app. */
    app: nullable(
      Type.Object(
        { id: id('app'), name: Type.String(), description: nullable(Type.String()), icon: Type.String() },
        closed,
      ),
    ),
    client_name: Type.String(),
    developer: nullable(Type.Object({ name: Type.String(), url: nullable(Type.String()) }, closed)),
    scopes: Type.Array(Type.String()),
    /** Of the app's workspace, to choose from; for a program of the person, none. */
    teams: Type.Array(Type.Object({ id: id('team'), key: Type.String(), name: Type.String() }, closed)),
    /** Of the person, to choose from; for an agent app, its own alone. */
    workspaces: Type.Array(Type.Object({ id: id('wsp'), name: Type.String() }, closed)),
    redirect_host: Type.String(),
    /** What an agent app will be told of, and where; null where it will not be: no webhook, or not enabled. */
    webhook: nullable(
      Type.Object(
        {
          host: Type.String(),
          /** What it asked for. */
          resource_types: Type.Array(ResourceType),
          /** What it is told of in any case. */
          always: Type.Array(Type.Enum([...appEventTypes])),
        },
        closed,
      ),
    ),
    /** How an agent app that is installed already is so until now; approving replaces it. */
    installed: nullable(
      Type.Object(
        {
          all_teams: Type.Boolean(),
          /** Empty when `all_teams` is true. */
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

/** For an agent app one of the first two, for a program of the person the third. */
export const Consent = Type.Object(
  {
    all_teams: Type.Optional(Type.Literal(true, { 'x-message': 'must be true, or left out for chosen teams' })),
    team_ids: Type.Optional(Refs),
    workspace_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  closed,
)
export type Consent = Static<typeof Consent>

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

/** A program that a person connected, such as an MCP client: it acts for them in one workspace. */
export const Program = Type.Object(
  {
    id: id('grt'),
    client_name: Type.String(),
    workspace: Type.Object({ id: id('wsp'), name: Type.String() }, closed),
    scopes: Type.Array(Type.String()),
    created_at: Timestamp,
    /** To the minute; null if it never called. */
    last_used_at: nullable(Timestamp),
  },
  { ...closed, title: 'Program' },
)
export type Program = Static<typeof Program>

export const oauth = {
  authorize: operation(routes.authorize, {
    summary: 'Begin an authorization; leads to sign-in, to consent, or back with an error',
    query: AuthorizeQuery,
    queryCheckedByVerb: true,
    produces: 'text/html',
    returns: { 302: null, 400: Type.String() },
  }),
  issueToken: operation(routes.issueToken, {
    summary: 'Exchange a code or a refresh token for tokens',
    query: Ignored,
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
    returns: { 200: TokenResponse, 400: OAuthProblem, 401: OAuthProblem },
  }),
  revokeToken: operation(routes.revokeToken, {
    summary: 'End the grant of a refresh token',
    query: Ignored,
    body: Type.Object(
      { token: Parameter, token_type_hint: Parameter, client_id: Parameter, client_secret: Parameter },
      open,
    ),
    ...form,
    returns: { 200: Type.Object({}, closed), 400: OAuthProblem, 401: OAuthProblem },
  }),
  registerClient: operation(routes.registerClient, {
    summary: 'Register a public client, such as an MCP client',
    query: Ignored,
    body: Type.Object({}, open),
    errorFormat: 'oauth',
    returns: { 201: RegisteredClient, 400: OAuthProblem },
    errors: ['RATE_LIMIT_EXCEEDED'],
  }),
  getServerMetadata: operation(routes.getServerMetadata, {
    summary: 'OAuth metadata of this service (RFC 8414)',
    returns: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }),
  getResourceMetadata: operation(routes.getResourceMetadata, {
    summary: 'OAuth metadata of the API as a protected resource (RFC 9728)',
    returns: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }),
  getMcpResourceMetadata: operation(routes.getMcpResourceMetadata, {
    summary: 'OAuth metadata of the MCP server as a protected resource (RFC 9728)',
    returns: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }),
  getConsentRequest: operation(routes.getConsentRequest, {
    summary: 'What consent is asked for; for the person who began it',
    returns: { 200: ConsentRequest },
  }),
  approveConsent: operation(routes.approveConsent, {
    summary: 'Consent; answers where to send the browser',
    body: Consent,
    returns: { 200: Redirect },
    errors: ['FORBIDDEN'],
  }),
  denyConsent: operation(routes.denyConsent, {
    summary: 'Refuse; answers where to send the browser',
    returns: { 200: Redirect },
  }),
  listPrograms: operation(routes.listPrograms, {
    summary: 'Programs that act for you, such as MCP clients, newest first, in all your workspaces',
    query: Page,
    returns: { 200: list(Program) },
  }),
  endProgram: operation(routes.endProgram, {
    summary: 'Disconnect a program of yours; its tokens stop at once',
    returns: { 204: null },
  }),
}
