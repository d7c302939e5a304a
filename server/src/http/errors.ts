import { type ErrorCode, errors } from '@baton/protocol'

/** A refusal, with its status, body and headers; refusals.ts sends it. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown>
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    details: Record<string, unknown> = {},
    { message = errors[code].message as string, headers = {} as Record<string, string> } = {},
  ) {
    super(message)
    this.code = code
    this.details = details
    this.headers = errors[code].status === 401 ? { 'www-authenticate': challenge(message), ...headers } : headers
  }

  get status() {
    return errors[this.code].status
  }

  get body() {
    return { code: this.code, message: this.message, details: this.details }
  }
}

/** A Link header to the documentation of the error code. */
export const helpLink = (rootUrl: string, code: ErrorCode) => `<${rootUrl}/docs/errors#${code}>; rel="help"`

/** A refusal in the format of RFC 6749: 401 for bad client credentials, 429 for too many requests, else 400. */
export class OAuthError extends Error {
  readonly error: string
  readonly status: 400 | 401 | 429
  readonly headers: Record<string, string>

  constructor(error: string, description: string, status: 400 | 401 | 429 = 400, headers: Record<string, string> = {}) {
    super(description)
    this.error = error
    this.status = status
    this.headers = {
      'cache-control': 'no-store',
      ...(status === 401 ? { 'www-authenticate': 'Basic realm="oauth"' } : {}),
      ...headers,
    }
  }

  get body() {
    return { error: this.error, error_description: this.message }
  }
}

const challenge = (message: string) => `Bearer error="invalid_token", error_description="${message}"`

/** One message per invalid field, by dotted path. */
export const invalid = (fields: Record<string, string>) => new ApiError('VALIDATION_ERROR', fields)

export const notFound = () => new ApiError('RESOURCE_NOT_FOUND')

/** Returns the row, or throws 404. */
export function found<T>(row: T | undefined): T {
  if (row === undefined) throw notFound()
  return row
}
