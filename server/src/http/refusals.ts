import type { Socket } from 'node:net'
import type { ErrorCode } from '@baton/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { isConflict, isDatabaseAway, isTimedOut, isUnwritable } from '../db/database.ts'
import { newId } from '../ids.ts'
import { ApiError, helpLink, OAuthError } from './errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    oauthErrors?: boolean
    /** RFC 9728 5.1: where somebody without a token learns how to get one. */
    resourceMetadata?: string
  }
}

/** Answers whatever was thrown: a refusal as it is, what the framework or the database could not do, or a failure of ours. */
export function sendError(
  { config, log }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  error: FastifyError | ApiError | OAuthError,
) {
  const refusal = isRefusal(error) ? error : fromFramework(error)
  reply.header('x-request-id', request.id)
  if (refusal && !isRefusal(error) && refusal.status === 503) {
    log.warn({ request_id: request.id, message: error.message }, 'the database could not do it')
  }
  if (refusal) return sendRefusal(config.rootUrl, request, reply, refusal)
  log.error({
    request_id: request.id,
    method: request.method,
    route: request.routeOptions?.url,
    error: describe(error as FastifyError),
  })
  return sendRefusal(config.rootUrl, request, reply, new ApiError('INTERNAL_ERROR', { request_id: request.id }))
}

const isRefusal = (error: FastifyError | ApiError | OAuthError): error is ApiError | OAuthError =>
  error instanceof ApiError || error instanceof OAuthError

/** Where RFC 6749 speaks, what is wrong with a request is said in its words. */
function sendRefusal(rootUrl: string, request: FastifyRequest, reply: FastifyReply, refusal: ApiError | OAuthError) {
  const { oauthErrors, resourceMetadata } = request.routeOptions?.config ?? {}
  const inItsWords =
    oauthErrors && refusal instanceof ApiError && [400, 415, 422].includes(refusal.status)
      ? new OAuthError('invalid_request', refusal.message)
      : refusal
  if (inItsWords instanceof ApiError) reply.header('link', helpLink(rootUrl, inItsWords.code))
  reply.code(inItsWords.status).headers(inItsWords.headers)
  if (inItsWords.status === 401 && resourceMetadata) {
    const challenge = inItsWords.headers['www-authenticate']
    reply.header('www-authenticate', `${challenge}, resource_metadata="${resourceMetadata}"`)
  }
  return reply.send(inItsWords.body)
}

const frameworkCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'INVALID_REQUEST',
  FST_ERR_BAD_URL: 'ROUTE_NOT_FOUND',
  FST_ERR_MAX_URL_LENGTH: 'URI_TOO_LONG',
  FST_ERR_ASYNC_CONSTRAINT: 'ROUTE_NOT_FOUND',
}

const tookTooLong = 'The database was too long busy with something else, so nothing was done; try again.'
const unwritable =
  'The database takes no changes now: its disk is full, or it is read-only. What is there can be read; its operator has to see to it.'

function fromFramework(error: FastifyError): ApiError | undefined {
  const code = frameworkCodes[error.code]
  if (code) return new ApiError(code)
  // Nothing is wrong with the request; it can be made again.
  if (isDatabaseAway(error) || isConflict(error)) return new ApiError('NOT_READY')
  if (isTimedOut(error)) return new ApiError('NOT_READY', {}, { message: tookTooLong })
  if (isUnwritable(error)) return new ApiError('NOT_READY', {}, { message: unwritable })
  return error.statusCode && error.statusCode >= 400 && error.statusCode < 500
    ? new ApiError('INVALID_REQUEST')
    : undefined
}

/** A database error's detail and parameters can hold what people wrote, so only these parts are logged. */
const describe = ({ name, message, stack, code }: FastifyError) => ({ name, message, stack, code })

/** What Node could not even read as a request is answered in the common shape too. */
export function sendClientError(rootUrl: string, error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const code: ErrorCode =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'HEADERS_TOO_LARGE'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'REQUEST_TIMEOUT'
        : 'INVALID_REQUEST'
  const refusal = new ApiError(code)
  const body = JSON.stringify(refusal.body)
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${code}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'X-Content-Type-Options: nosniff',
      `X-Request-Id: ${newId('req')}`,
      `Link: ${helpLink(rootUrl, code)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
