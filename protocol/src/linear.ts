import { type Static, Type } from 'typebox'
import { limits } from './limits.ts'
import { AuthorizeQuery, OAuthError, Parameter } from './oauth.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

// Linear's API, for agents that were written for Linear (docs/decisions/0034).

const open = { additionalProperties: true } as const

const GraphqlError = Type.Object(
  {
    message: Type.String(),
    path: Type.Optional(Type.Array(Type.String())),
    extensions: Type.Object(
      {
        type: Type.String(),
        code: Type.String(),
        userError: Type.Boolean(),
        userPresentableMessage: Type.String(),
        /** The code and details that the REST API would answer. */
        baton: Type.Object({ code: Type.String(), details: Type.Record(Type.String(), Type.Unknown()) }, open),
      },
      open,
    ),
  },
  open,
)
export type GraphqlError = Static<typeof GraphqlError>

const GraphqlAnswer = Type.Object(
  {
    data: Type.Optional(Type.Unknown()),
    errors: Type.Optional(Type.Array(GraphqlError)),
    extensions: Type.Optional(Type.Object({ baton: Type.Object({ ignored: Type.Array(Type.String()) }, open) }, open)),
  },
  { ...open, title: 'GraphqlAnswer' },
)
export type GraphqlAnswer = Static<typeof GraphqlAnswer>

export const LinearTokenResponse = Type.Object(
  {
    access_token: Type.String({ pattern: '^lin_oauth_' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Literal(limits.linearTokenSeconds),
    /** The granted scopes, separated by spaces. */
    scope: Type.String(),
    /** Not for `client_credentials`. */
    refresh_token: Type.Optional(Type.String({ pattern: '^prt_' })),
  },
  { additionalProperties: false, title: 'LinearTokenResponse' },
)
export type LinearTokenResponse = Static<typeof LinearTokenResponse>

const form = { anyQuery: true, bodyFormat: 'form', errorFormat: 'oauth' } as const
const client = { client_id: Parameter, client_secret: Parameter }

export const linear = {
  linearGraphql: operation(routes.linearGraphql, {
    summary: "Query or change data with a GraphQL document of Linear's API",
    body: Type.Unknown({ title: 'GraphqlRequest' }),
    bodyCheckedByVerb: true,
    anyQuery: true,
    errorFormat: 'graphql',
    returns: {
      200: GraphqlAnswer,
      400: GraphqlAnswer,
      401: GraphqlAnswer,
      403: GraphqlAnswer,
      429: GraphqlAnswer,
      500: GraphqlAnswer,
      503: GraphqlAnswer,
    },
  }),
  linearAuthorize: operation(routes.linearAuthorize, {
    summary: 'Start an authorization as an app does at Linear; redirects to sign-in, to consent, or back with an error',
    query: AuthorizeQuery,
    anyQuery: true,
    produces: 'text/html',
    returns: { 302: null, 400: Type.String() },
  }),
  linearToken: operation(routes.linearToken, {
    summary: "Exchange a code, a refresh token or the client's secret for a token of Linear's API",
    body: Type.Object(
      {
        grant_type: Parameter,
        code: Parameter,
        redirect_uri: Parameter,
        code_verifier: Parameter,
        refresh_token: Parameter,
        scope: Parameter,
        ...client,
      },
      open,
    ),
    ...form,
    returns: { 200: LinearTokenResponse, 400: OAuthError, 401: OAuthError, 429: OAuthError },
  }),
  linearRevoke: operation(routes.linearRevoke, {
    summary: "Revoke a token of Linear's API, or the grant of a refresh token",
    body: Type.Object({ token: Parameter, token_type_hint: Parameter, ...client }, open),
    ...form,
    returns: { 200: Type.Object({}, { additionalProperties: false }), 400: OAuthError, 401: OAuthError },
  }),
}
