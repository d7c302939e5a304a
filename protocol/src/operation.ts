import type { Static, TObject, TSchema } from 'typebox'
import { type ErrorCode, errors } from './errors.ts'
import { inWorkspace, type PathParams, pathParams, type Route } from './routes.ts'

/** What a call takes and answers. A status without a schema answers no body. */
export interface Shape {
  summary: string
  query?: TObject
  body?: TSchema
  /** How the body comes: JSON, or the fields of a form as OAuth has it. */
  bodyFormat?: 'json' | 'form'
  /**
   * What refusals look like: `{code, message, details}`, RFC 6749's `{error, error_description}`, or for a message that
   * cannot be understood JSON-RPC's.
   */
  errorFormat?: 'ours' | 'oauth' | 'json-rpc'
  /** Takes the header Idempotency-Key: the same call again answers what it answered. */
  idempotent?: boolean
  /** Its verb holds the body against the schema, together with what a schema cannot say. */
  bodyCheckedByVerb?: boolean
  /** Its verb reads the query: what is wrong with it is told in a way of its own. */
  queryCheckedByVerb?: boolean
  /** What an app may not send at all, whatever its value, and how it is refused. */
  notFromApps?: { readonly [field: string]: ErrorCode }
  returns: { readonly [status: number]: TSchema | null }
  /** Media type of the answer where it is not JSON. */
  produces?: string
  /** Refusals of its own; those that follow from its caller, body and path are added by `errorsOf`. */
  errors?: readonly ErrorCode[]
}

/** One operation of the API as a value: the server mounts it, checks with it and describes it. */
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

/** The status of an ordinary answer: the lowest one declared. */
export const successStatus = (operation: Operation) => Number(Object.keys(operation.returns)[0])

/** Every error the operation can answer, so that its description is complete. */
export function errorsOf({ route, body, errors: own = [], errorFormat }: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(own)
  codes.add('INTERNAL_ERROR').add('NOT_READY')
  if (errorFormat === 'oauth') return [...codes.add('BODY_TOO_LARGE')]
  if (route.caller === 'anyone or person') return [...codes.add('VALIDATION_ERROR')]
  if (route.caller !== 'anyone') codes.add('UNAUTHORIZED').add('INSTALLATION_REVOKED').add('RATE_LIMIT_EXCEEDED')
  if (inWorkspace(route.caller)) codes.add('WORKSPACE_REQUIRED').add('WORKSPACE_ACCESS_DENIED')
  if (route.caller === 'manager' || route.caller === 'app') codes.add('FORBIDDEN')
  if (route.caller === 'person' || route.caller === 'member' || route.caller === 'manager') {
    codes.add('SESSION_ONLY_ROUTE')
  }
  if ('scope' in route && route.scope) codes.add('INSUFFICIENT_SCOPE').add('TEAM_ACCESS_DENIED')
  if ('programScope' in route) codes.add('INSUFFICIENT_SCOPE')
  if (pathParams(route.path).length > 0) codes.add('RESOURCE_NOT_FOUND')
  // A query parameter that is not known is refused everywhere.
  codes.add('VALIDATION_ERROR')
  if (route.stream) codes.add('RATE_LIMIT_EXCEEDED')
  if (route.writes) codes.add('CSRF_REFUSED')
  if (route.method !== 'GET') {
    if (route.caller !== 'anyone') codes.add('CSRF_REFUSED')
    codes.add('INVALID_JSON').add('BODY_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE')
  }
  if (body) codes.add('INVALID_JSON')
  return [...codes].sort((a, b) => errors[a].status - errors[b].status || a.localeCompare(b))
}
