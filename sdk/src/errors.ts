import type { ErrorCode } from './operations.ts'

/**
 * Codes of the package itself, in addition to those of the service:
 * - `NETWORK_ERROR`     no response
 * - `TIMEOUT`           no response in time
 * - `UNEXPECTED_ANSWER` the response is not Baton's, for example a proxy's error page
 * - `OAUTH_ERROR`       the token endpoint refused the request; the reason is in `details.error`
 * - `REINSTALL_NEEDED`  the tokens of an installation no longer work; a manager has to install the app again
 */
export type ClientErrorCode = 'NETWORK_ERROR' | 'TIMEOUT' | 'UNEXPECTED_ANSWER' | 'OAUTH_ERROR' | 'REINSTALL_NEEDED'

export type BatonErrorCode = ErrorCode | ClientErrorCode

export interface Refusal {
  code: BatonErrorCode
  /** 0 if there was no response. */
  status: number
  message: string
  details?: Record<string, unknown>
  /** X-Request-Id, for the operator of the service. */
  requestId?: string | null
  /** Seconds to wait before a retry, if the service sent Retry-After. */
  retryAfter?: number | null
  cause?: unknown
}

/** Thrown by every call that fails, except if your own AbortSignal ended it. */
export class BatonError extends Error {
  override readonly name = 'BatonError'
  readonly code: BatonErrorCode
  readonly status: number
  readonly details: Record<string, unknown>
  readonly requestId: string | null
  readonly retryAfter: number | null

  constructor({ code, status, message, details = {}, requestId = null, retryAfter = null, cause }: Refusal) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.details = details
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}

/** Whether `error` is a BatonError, and has this code if one is given. */
export const isBatonError = (error: unknown, code?: BatonErrorCode): error is BatonError =>
  error instanceof BatonError && (code === undefined || error.code === code)

/** Converts an error response of the service. */
export function refusalOf(status: number, headers: Headers, text: string, now: Date): BatonError {
  const body = jsonObject(text)
  const about = {
    status,
    requestId: headers.get('x-request-id'),
    retryAfter: secondsToWait(headers.get('retry-after'), now),
  }
  if (typeof body?.code === 'string') {
    const details = typeof body.details === 'object' && body.details !== null ? body.details : {}
    return new BatonError({
      ...about,
      code: body.code as ErrorCode,
      message: typeof body.message === 'string' ? body.message : `The service answered ${status}.`,
      details: details as Record<string, unknown>,
    })
  }
  if (typeof body?.error === 'string') {
    const message = typeof body.error_description === 'string' ? body.error_description : body.error
    return new BatonError({ ...about, code: 'OAUTH_ERROR', message, details: body })
  }
  return new BatonError({ ...about, code: 'UNEXPECTED_ANSWER', message: `The service answered ${status}.` })
}

/** Every JSON response of Baton is an object. Returns null for any other text. */
export function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** Retry-After contains seconds or a date. */
function secondsToWait(header: string | null, now: Date): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now.getTime()) / 1000))
}
