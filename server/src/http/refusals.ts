import type { Socket } from 'node:net'
import type { ErrorCode } from '@baton/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { isConflict, isDatabaseUnavailable, isTimedOut, isUnwritable } from '../db/database.ts'
import { newId } from '../ids.ts'
import { StorageUnavailable } from '../storage/storage.ts'
import { ApiError, helpLink, OAuthError } from './errors.ts'
import { graphqlError, graphqlStatus } from './graphql-error.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    oauthErrors?: boolean
    graphqlErrors?: boolean
    /** RFC 9728 5.1: address that describes how to get a token. */
    resourceMetadata?: string
  }
}

/** Responds to any error: a refusal, an error of the framework or the database, or an internal error. */
export function sendError(
  { config, log }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  error: FastifyError | ApiError | OAuthError,
) {
  // The client closed the connection while it sent the body. The error has the code of a lost database connection.
  const isAborted = error === request.raw.errored
  const refusal = isRefusal(error) ? error : isAborted ? new ApiError('INVALID_REQUEST') : fromFramework(error)
  if (isAborted) {
    // There is no response, so there is no other entry.
    const { method, routeOptions } = request
    log.info({ request_id: request.id, method, route: routeOptions?.url }, 'the client disconnected within the body')
  }
  reply.header('x-request-id', request.id)
  if (refusal && !isRefusal(error) && refusal.status === 503) {
    log.warn(
      { request_id: request.id, message: error.message },
      'the database or the storage of files was unavailable or busy',
    )
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

/** On OAuth routes, errors of the request have the format of RFC 6749; on Linear's API that of GraphQL. */
function sendRefusal(rootUrl: string, request: FastifyRequest, reply: FastifyReply, refusal: ApiError | OAuthError) {
  const { oauthErrors, graphqlErrors, resourceMetadata } = request.routeOptions?.config ?? {}
  if (graphqlErrors && refusal instanceof ApiError) {
    return reply
      .code(graphqlStatus(refusal))
      .headers(refusal.headers)
      .send({ errors: [graphqlError(refusal)] })
  }
  const sent = oauthErrors && refusal instanceof ApiError ? asOAuthError(refusal) : refusal
  if (sent instanceof ApiError) reply.header('link', helpLink(rootUrl, sent.code))
  reply.code(sent.status).headers(sent.headers)
  if (sent.status === 401 && resourceMetadata) {
    const challenge = sent.headers['www-authenticate']
    reply.header('www-authenticate', `${challenge}, resource_metadata="${resourceMetadata}"`)
  }
  return reply.send(sent.body)
}

function asOAuthError(refusal: ApiError): ApiError | OAuthError {
  const { status, message, headers } = refusal
  // RFC 6749 has no error for this; clients know it as a reason to try again later.
  if (status === 429) return new OAuthError('temporarily_unavailable', message, 429, headers)
  return [400, 415, 422].includes(status) ? new OAuthError('invalid_request', message) : refusal
}

const frameworkCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'INVALID_REQUEST',
  FST_ERR_BAD_URL: 'ROUTE_NOT_FOUND',
  FST_ERR_MAX_URL_LENGTH: 'URI_TOO_LONG',
  FST_ERR_ASYNC_CONSTRAINT: 'ROUTE_NOT_FOUND',
}

const tookTooLong = 'The database was busy for too long. Nothing was changed; try again.'
const unwritable =
  'The database accepts no changes: its disk is full, or it is read-only. Reading still works; tell the operator of this instance.'

const noStorage = 'Files cannot be stored or read at the moment. Nothing was changed; try again later.'

function fromFramework(error: FastifyError): ApiError | undefined {
  const code = frameworkCodes[error.code]
  if (code) return new ApiError(code)
  // The request is fine and can be repeated.
  if (isDatabaseUnavailable(error) || isConflict(error)) return new ApiError('NOT_READY')
  if (error instanceof StorageUnavailable) return new ApiError('NOT_READY', {}, { message: noStorage })
  if (isTimedOut(error)) return new ApiError('NOT_READY', {}, { message: tookTooLong })
  if (isUnwritable(error)) return new ApiError('NOT_READY', {}, { message: unwritable })
  return error.statusCode && error.statusCode >= 400 && error.statusCode < 500
    ? new ApiError('INVALID_REQUEST')
    : undefined
}

/** Detail and parameters of a database error can contain user data, so only these parts are logged. */
const describe = ({ name, message, stack, code }: FastifyError) => ({ name, message, stack, code })

/** Responds to bytes that Node could not parse as a request, in the common error format. */
export function sendClientError(
  rootUrl: string,
  error: NodeJS.ErrnoException & { rawPacket?: unknown },
  socket: Socket,
) {
  // A response would keep a connection half open whose client sent nothing, and may never read or close it.
  const isSilent = socket.bytesRead === 0
  if (error.code === 'ECONNRESET' || !socket.writable || isSilent) return void socket.destroy()
  const code: ErrorCode =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'HEADERS_TOO_LARGE'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'REQUEST_TIMEOUT'
        : 'INVALID_REQUEST'
  const refusal = new ApiError(code)
  const body = JSON.stringify(refusal.body)
  // Node has not parsed the method. If the head came in several packets, this is not the first, and the body is sent.
  const isHead = Buffer.isBuffer(error.rawPacket) && error.rawPacket.toString('latin1', 0, 5) === 'HEAD '
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
      isHead ? '' : body,
    ].join('\r\n'),
  )
}
