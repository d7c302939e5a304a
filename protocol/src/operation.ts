import type { Static, TObject, TSchema } from 'typebox'
import { type ErrorCode, errors } from './errors.ts'
import {
  inWorkspace,
  isPage,
  isRefusedWhilePendingDeletion,
  type PathParams,
  pathParams,
  type Route,
} from './routes.ts'

/** Input and output of an operation. A status without a schema has no body. */
export interface Shape {
  summary: string
  query?: TObject
  body?: TSchema
  /** A call without a body is as one with an empty object. */
  bodyOptional?: boolean
  /** Mail programs send a form in either encoding, which says nothing (RFC 8058). */
  ignoresBody?: boolean
  /** JSON, form fields as in OAuth, or JSON of which the verb gets the bytes, because they are signed. */
  bodyFormat?: 'json' | 'form' | 'bytes'
  /** Largest body, where it differs from `limits.bodyBytes`; `file`: as BATON_FILE_BYTES says. */
  bodyBytes?: number | 'file'
  /** How long a raw body may take to arrive, as long as it keeps coming. */
  arrivesWithinMinutes?: number
  /**
   * `{code, message, details}`, RFC 6749's `{error, error_description}`, JSON-RPC errors for invalid messages, or
   * GraphQL's `{errors}`.
   */
  errorFormat?: 'ours' | 'oauth' | 'json-rpc' | 'graphql'
  /** Accepts the header Idempotency-Key: a repeated call returns the first response. */
  idempotent?: boolean
  /** The verb validates the body, because some rules cannot be expressed in a schema. */
  bodyCheckedByVerb?: boolean
  /** The query is not validated here: the verb reports errors in its own format or ignores them. */
  anyQuery?: boolean
  /** Fields that apps must not send, with the error code. */
  notFromApps?: { readonly [field: string]: ErrorCode }
  returns: { readonly [status: number]: TSchema | null }
  /** Media type of the response, if not JSON; several are separated by a comma. */
  produces?: string
  /** Its specific errors. `errorsOf` adds those that follow from caller, body and path. */
  errors?: readonly ErrorCode[]
}

/** An operation of the API. The server mounts it, validates with it and derives OpenAPI from it. */
export type Operation<R extends Route = Route, S extends Shape = Shape> = { route: R } & S

export const operation = <const R extends Route, const S extends Shape>(route: R, shape: S): Operation<R, S> => ({
  route,
  ...shape,
})

export type ParamsOf<O extends Operation> = PathParams<O['route']['path']>
export type QueryOf<O extends Operation> = O extends { query: infer Q extends TSchema }
  ? Static<Q>
  : Record<string, never>
export type BodyOf<O extends Operation> = O extends { body: infer B extends TSchema } ? Static<B> : undefined
export type AnswerOf<O extends Operation> = {
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that answers no body returns nothing
  [Status in keyof O['returns']]: O['returns'][Status] extends TSchema ? Static<O['returns'][Status]> : void
}[keyof O['returns']]

/** The lowest declared status: JavaScript sorts integer keys. */
export const successStatus = (operation: Operation) => Number(Object.keys(operation.returns)[0])

/** All error codes that the operation can return, for its description. */
export function errorsOf({ route, query, body, errors: own = [], errorFormat }: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(own)
  codes.add('INTERNAL_ERROR').add('NOT_READY').add('HEADERS_TOO_LARGE')
  if (errorFormat === 'oauth') return [...codes.add('BODY_TOO_LARGE')]
  if (route.caller === 'anyone or person') return [...codes.add('VALIDATION_ERROR')]
  if (route.caller !== 'anyone') codes.add('UNAUTHORIZED').add('INSTALLATION_REVOKED').add('RATE_LIMIT_EXCEEDED')
  if (inWorkspace(route.caller)) codes.add('WORKSPACE_REQUIRED').add('WORKSPACE_ACCESS_DENIED')
  if (route.caller === 'manager' || route.caller === 'app') codes.add('FORBIDDEN')
  if (route.caller === 'person' || route.caller === 'member' || route.caller === 'manager') {
    codes.add('SESSION_ONLY_ROUTE')
  }
  if (route.recent) codes.add('REAUTH_REQUIRED')
  if ('scope' in route && route.scope) codes.add('INSUFFICIENT_SCOPE').add('TEAM_ACCESS_DENIED')
  if ('programScope' in route) codes.add('INSUFFICIENT_SCOPE')
  if (pathParams(route.path).length > 0) codes.add('RESOURCE_NOT_FOUND')
  // Unknown query parameters are refused, except by pages.
  if (!isPage(route) || query) codes.add('VALIDATION_ERROR')
  if (route.stream) codes.add('RATE_LIMIT_EXCEEDED')
  if (route.writes) codes.add('CSRF_REFUSED')
  if (route.method !== 'GET') {
    if (route.caller !== 'anyone') codes.add('CSRF_REFUSED')
    codes
      .add(route.raw ? 'INVALID_REQUEST' : 'INVALID_JSON')
      .add('BODY_TOO_LARGE')
      .add('UNSUPPORTED_MEDIA_TYPE')
  }
  if (route.raw) codes.add('REQUEST_TIMEOUT')
  if (body) codes.add('INVALID_JSON')
  if (isRefusedWhilePendingDeletion(route)) codes.add('WORKSPACE_PENDING_DELETION')
  return [...codes].sort((a, b) => errors[a].status - errors[b].status || a.localeCompare(b))
}
