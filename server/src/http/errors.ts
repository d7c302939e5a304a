import { type ErrorCode, errors } from '@baton/protocol'

/** A refusal, with what it looks like on the wire; refusals.ts sends it. */
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

/** Leads from a refusal to what is written about it, without a word in the body. */
export const helpLink = (rootUrl: string, code: ErrorCode) => `<${rootUrl}/docs/errors#${code}>; rel="help"`

/** A refusal as RFC 6749 has it. 401 asks for the client's credentials, whatever else is wrong is 400. */
export class OAuthError extends Error {
  readonly error: string
  readonly status: 400 | 401
  readonly headers: Record<string, string>

  constructor(error: string, description: string, status: 400 | 401 = 400) {
    super(description)
    this.error = error
    this.status = status
    this.headers = {
      'cache-control': 'no-store',
      ...(status === 401 ? { 'www-authenticate': 'Basic realm="oauth"' } : {}),
    }
  }

  get body() {
    return { error: this.error, error_description: this.message }
  }
}

const challenge = (message: string) => `Bearer error="invalid_token", error_description="${message}"`

/** One message for each bad field, by its dotted path. */
export const invalid = (fields: Record<string, string>) => new ApiError('VALIDATION_ERROR', fields)

export const notFound = () => new ApiError('RESOURCE_NOT_FOUND')

/** The row that was asked for, or 404. */
export function found<T>(row: T | undefined): T {
  if (row === undefined) throw notFound()
  return row
}
