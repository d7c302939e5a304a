import type { ErrorCode } from './operations.ts'

/**
 * What the package itself reports, beside the service's own codes:
 * - `NETWORK_ERROR`     nothing was answered
 * - `TIMEOUT`           nothing was answered in time
 * - `UNEXPECTED_ANSWER` something was answered that is not Baton's, such as a proxy's page
 * - `OAUTH_ERROR`       the token endpoint refused; `details.error` says why
 * - `REINSTALL_NEEDED`  the tokens of an installation are gone for good; a manager has to install the app again
 */
export type ClientErrorCode = 'NETWORK_ERROR' | 'TIMEOUT' | 'UNEXPECTED_ANSWER' | 'OAUTH_ERROR' | 'REINSTALL_NEEDED'

export type BatonErrorCode = ErrorCode | ClientErrorCode

export interface Refusal {
  code: BatonErrorCode
  /** 0 when nothing was answered. */
  status: number
  message: string
  details?: Record<string, unknown>
  /** X-Request-Id, for whoever runs the service. */
  requestId?: string | null
  /** Seconds to wait before another try, if the service said so. */
  retryAfter?: number | null
  cause?: unknown
}

/** Every call that does not succeed throws one of these, except when your own AbortSignal ended it. */
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

/** Whether it is a BatonError, with this code if one is named. */
export const isBatonError = (error: unknown, code?: BatonErrorCode): error is BatonError =>
  error instanceof BatonError && (code === undefined || error.code === code)

/** The error that an answer of the service stands for. */
export function refusalOf(status: number, headers: Headers, text: string, now: Date): BatonError {
  const said = jsonObject(text)
  const about = {
    status,
    requestId: headers.get('x-request-id'),
    retryAfter: secondsToWait(headers.get('retry-after'), now),
  }
  if (typeof said?.code === 'string') {
    const details = typeof said.details === 'object' && said.details !== null ? said.details : {}
    return new BatonError({
      ...about,
      code: said.code as ErrorCode,
      message: typeof said.message === 'string' ? said.message : `The service answered ${status}.`,
      details: details as Record<string, unknown>,
    })
  }
  if (typeof said?.error === 'string') {
    const message = typeof said.error_description === 'string' ? said.error_description : said.error
    return new BatonError({ ...about, code: 'OAUTH_ERROR', message, details: said })
  }
  return new BatonError({ ...about, code: 'UNEXPECTED_ANSWER', message: `The service answered ${status}.` })
}

/** Everything that Baton answers in JSON is an object. */
export function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** Retry-After is a number of seconds or a date. */
function secondsToWait(header: string | null, now: Date): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now.getTime()) / 1000))
}
