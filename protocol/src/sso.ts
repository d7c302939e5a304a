import { type Static, Type } from 'typebox'
import { closed, text } from './common.ts'
import { accountLimits, limits } from './limits.ts'
import { OAuthError, Parameter } from './oauth.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const ssoPurposes = ['sign_in', 'link', 'reauth'] as const

/** Why a sign-in with a provider failed, in the query of the page that it returns to. */
export const ssoProblems = [
  'sso_failed',
  'sso_denied',
  'sso_expired',
  'sso_email_unverified',
  'sso_not_allowed',
  'sso_no_account',
  'sso_link_first',
  'sso_in_use',
] as const
export type SsoProblem = (typeof ssoProblems)[number]

export const SsoStart = Type.Object(
  {
    purpose: Type.Optional(
      Type.Enum([...ssoPurposes], { 'x-message': `must be one of: ${ssoPurposes.join(', ')}`, default: 'sign_in' }),
    ),
    /** Another address than a path of this instance is ignored. */
    next: Type.Optional(text(0, limits.url)),
  },
  closed,
)
export type SsoStart = Static<typeof SsoStart>

export const sso = {
  startSso: operation(routes.startSso, {
    summary: 'Start single sign-on; returns where to redirect the browser',
    body: SsoStart,
    bodyOptional: true,
    returns: { 200: Type.Object({ redirect_to: Type.String() }, closed) },
    errors: [
      'UNAUTHORIZED',
      'CSRF_REFUSED',
      'REAUTH_REQUIRED',
      'RESOURCE_NOT_FOUND',
      'RATE_LIMIT_EXCEEDED',
      'INVALID_JSON',
      'BODY_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
    ],
  }),
  ssoCallback: operation(routes.ssoCallback, {
    summary: 'End single sign-on: the provider redirects the browser here, and it is redirected into the web app',
    // As in RFC 6749, a malformed or unknown parameter is no reason for an error: the page explains what is wrong.
    query: Type.Object(
      {
        state: Parameter,
        code: Parameter,
        iss: Parameter,
        error: Parameter,
        error_description: Parameter,
        error_uri: Parameter,
      },
      { additionalProperties: true },
    ),
    anyQuery: true,
    produces: 'text/html',
    returns: { 303: null },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  ssoBackChannel: operation(routes.ssoBackChannel, {
    summary: 'Receive a sign-out from a provider (OpenID Connect Back-Channel Logout)',
    anyQuery: true,
    body: Type.Object(
      { logout_token: Type.Optional(Type.String({ maxLength: accountLimits.logoutToken })) },
      { additionalProperties: true },
    ),
    bodyFormat: 'form',
    errorFormat: 'oauth',
    returns: { 200: Type.Object({}, closed), 400: OAuthError },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  deleteIdentity: operation(routes.deleteIdentity, {
    summary: 'Remove an identity: its provider no longer signs you in',
    returns: { 204: null },
    errors: ['LAST_SIGN_IN_METHOD'],
  }),
}
