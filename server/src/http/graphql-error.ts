import type { GraphqlError } from '@baton/protocol'
import type { ApiError } from './errors.ts'

/** The categories by which Linear's clients tell errors apart. */
export type GraphqlErrorType =
  | 'authentication error'
  | 'forbidden'
  | 'ratelimited'
  | 'invalid input'
  | 'graphql error'
  | 'feature not accessible'
  | 'internal error'

const codes: Record<GraphqlErrorType, string> = {
  'authentication error': 'AUTHENTICATION_ERROR',
  forbidden: 'FORBIDDEN',
  ratelimited: 'RATELIMITED',
  'invalid input': 'INPUT_ERROR',
  'graphql error': 'GRAPHQL_VALIDATION_FAILED',
  'feature not accessible': 'FEATURE_NOT_ACCESSIBLE',
  'internal error': 'INTERNAL_SERVER_ERROR',
}

/** Problems of the request itself, before an operation was called. */
const requestCodes = ['INVALID_JSON', 'INVALID_REQUEST', 'UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE']

export function graphqlTypeOf({ code, status }: ApiError): GraphqlErrorType {
  if (status === 401) return 'authentication error'
  if (status === 429) return 'ratelimited'
  if (status >= 500) return 'internal error'
  if (status === 403 || code === 'INVALID_DELEGATE') return 'forbidden'
  return requestCodes.includes(code) ? 'graphql error' : 'invalid input'
}

/** The status of a request that was refused as a whole. */
export const graphqlStatus = ({ status }: ApiError) =>
  status < 500 && ![401, 403, 429].includes(status) ? 400 : status

/** An error in the format of Linear's API. Internal errors show no details. */
export function graphqlError(
  error: ApiError,
  { path, type = graphqlTypeOf(error) }: { path?: string[]; type?: GraphqlErrorType } = {},
): GraphqlError {
  const isInternal = type === 'internal error'
  return {
    message: messageOf(error),
    ...(path ? { path } : {}),
    extensions: {
      type,
      code: codes[type],
      userError: !isInternal,
      userPresentableMessage: messageOf(error),
      baton: { code: error.code, details: isInternal ? {} : error.details },
    },
  }
}

/** Clients of Linear show the message only, so the fields that are wrong are part of it. */
function messageOf({ code, message, details }: ApiError): string {
  if (code !== 'VALIDATION_ERROR') return message
  const fields = Object.entries(details).map(([field, problem]) => `${field} ${problem}`)
  return fields.length > 0 ? `${fields.join('; ')}.` : message
}
