import type { Socket } from 'node:net'
import { type ErrorCode, limits, type Operation } from '@baton/protocol'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import { admit, type Caller } from './caller.ts'
import { ApiError } from './errors.ts'
import type { Door } from './invoke.ts'
import { parseJson } from './json.ts'
import type { Metrics } from './metrics.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

/** What of a request tells who is calling. */
export interface Credentials {
  authorization: string | undefined
  cookie: string | undefined
  workspaceId: string | undefined
  method: string
  origin: string | undefined
  fetchSite: string | undefined
}

export type ResolveCaller = (credentials: Credentials) => Promise<Caller>

/** Turns the door, or some operations of it, into an HTTP server. Everything that is said about HTTP is said here. */
export async function createHttpServer(
  ctx: Context,
  door: Door,
  operations: readonly Operation[],
  metrics: Metrics,
  resolveCaller: ResolveCaller,
): Promise<FastifyInstance> {
  const { config, log } = ctx
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    genReqId: () => newId('req'),
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: (error, request, reply) => sendError(request, reply, error),
    clientErrorHandler,
    forceCloseConnections: 'idle',
  })

  await app.register(cookie)
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'self'"], frameAncestors: ["'none'"], baseUri: ["'none'"], objectSrc: ["'none'"] },
    },
    strictTransportSecurity: config.rootUrl.startsWith('https:'),
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'same-origin' },
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    body.length > 0 ? parseJson(body) : undefined,
  )

  app.decorateRequest('caller')
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    metrics.request(request.method, route, reply.statusCode, reply.elapsedTime)
    const user = request.caller?.kind === 'person' ? request.caller.id : undefined
    log.info({
      request_id: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      user,
    })
  })
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(request, reply, error))
  app.setNotFoundHandler((request, reply) => sendError(request, reply, new ApiError('ROUTE_NOT_FOUND')))

  for (const operation of operations) mount(operation)
  for (const url of new Set(operations.map(urlOf))) refuseOtherMethods(url)
  return app

  function mount(operation: Operation) {
    app.route({
      method: operation.route.method,
      url: urlOf(operation),
      // Before the body is read: who may not call does not get to send us anything.
      onRequest: async (request) => {
        request.caller =
          operation.route.caller === 'anyone' ? { kind: 'nobody' } : await resolveCaller(credentials(request))
        admit(operation.route, request.caller)
      },
      handler: async (request, reply) => {
        const answer = await door.invoke(operation, request.caller, {
          params: request.params as Record<string, string>,
          query: { ...(request.query as object) },
          body: request.body,
          address: request.ip,
        })
        reply.code(answer.status).headers(answer.headers)
        return answer.body ?? reply.send()
      },
    })
  }

  function refuseOtherMethods(url: string) {
    const here = operations.filter((operation) => urlOf(operation) === url)
    const allowed = new Set<string>(here.map(({ route }) => route.method))
    if (allowed.has('GET')) allowed.add('HEAD')
    const allow = [...allowed].join(', ')
    app.route({
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !allowed.has(method)),
      url,
      onRequest: async () => {
        throw new ApiError('METHOD_NOT_ALLOWED', {}, { headers: { allow } })
      },
      handler: () => {},
    })
  }

  function sendError(request: FastifyRequest, reply: FastifyReply, error: FastifyError | ApiError) {
    const refusal = error instanceof ApiError ? error : fromFramework(error)
    reply.header('x-request-id', request.id)
    if (refusal) return reply.code(refusal.status).headers(refusal.headers).send(refusal.body)
    log.error({
      request_id: request.id,
      method: request.method,
      route: request.routeOptions?.url,
      error: describe(error),
    })
    const failure = new ApiError('INTERNAL_ERROR', { request_id: request.id })
    return reply.code(500).send(failure.body)
  }
}

const urlOf = ({ route }: Operation) => (route.at === 'root' ? '' : '/api/v1') + route.path

const credentials = (request: FastifyRequest): Credentials => ({
  authorization: request.headers.authorization,
  cookie: request.cookies.baton_session,
  workspaceId: header(request, 'x-workspace-id'),
  method: request.method,
  origin: request.headers.origin,
  fetchSite: header(request, 'sec-fetch-site'),
})

function header(request: FastifyRequest, name: string) {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

const frameworkCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'INVALID_REQUEST',
  FST_ERR_BAD_URL: 'ROUTE_NOT_FOUND',
  FST_ERR_MAX_URL_LENGTH: 'URI_TOO_LONG',
  FST_ERR_ASYNC_CONSTRAINT: 'ROUTE_NOT_FOUND',
}

function fromFramework(error: FastifyError): ApiError | undefined {
  const code = frameworkCodes[error.code]
  if (code) return new ApiError(code)
  return error.statusCode && error.statusCode >= 400 && error.statusCode < 500
    ? new ApiError('INVALID_REQUEST')
    : undefined
}

/** A database error's detail and parameters can hold what people wrote, so only these parts are logged. */
const describe = ({ name, message, stack, code }: FastifyError) => ({ name, message, stack, code })

/** What Node could not even read as a request is answered in the common shape too. */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket) {
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
      `X-Request-Id: ${newId('req')}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
