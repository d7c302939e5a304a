import { maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorCode, limits, type Operation, type Route, routes } from '@baton/protocol'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { isConflict, isDatabaseAway, isTimedOut, isUnwritable } from '../db/database.ts'
import { newId } from '../ids.ts'
import { admit, type Caller } from './caller.ts'
import { Drain } from './drain.ts'
import { ApiError, helpLink, OAuthError } from './errors.ts'
import { EventStream } from './event-stream.ts'
import { parseForm } from './form.ts'
import type { Door } from './invoke.ts'
import { parseJson } from './json.ts'
import type { Metrics } from './metrics.ts'
import { isStream, OpenStreams } from './open-streams.ts'
import { textProblem } from './validate.ts'
import { type FindPage, type Page, pageRequest } from './web-page.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    page: Page | undefined
  }
  interface FastifyContextConfig {
    oauthErrors?: boolean
    takesForm?: boolean
    /** RFC 9728 5.1: where somebody without a token learns how to get one. */
    resourceMetadata?: string
  }
}

/** What of a request tells who is calling. */
export interface Credentials {
  authorization: string | undefined
  cookie: string | undefined
  workspaceId: string | undefined
  /** What is asked for changes something. */
  writes: boolean
  origin: string | undefined
  fetchSite: string | undefined
}

/** Who is calling, and what their answer must carry because of it. `counted` is the route that an app's call is counted on. */
export type ResolveCaller = (
  credentials: Credentials,
  counted: Route | null,
) => Promise<{ caller: Caller; headers?: Record<string, string> }>

/** A body can take its time; whoever was let in before it began is looked at again if it took longer than this. */
const callerTrustedMs = 250

/** Turns the door, or some operations of it, into an HTTP server. Everything that is said about HTTP is said here. */
export async function createHttpServer(
  ctx: Context,
  door: Door,
  operations: readonly Operation[],
  metrics: Metrics,
  resolveCaller: ResolveCaller,
  findPage: FindPage = () => undefined,
): Promise<FastifyInstance> {
  const { config, log } = ctx
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    genReqId: () => newId('req'),
    requestTimeout: 30_000,
    // Nothing moves for so long on a connection whose answer is not read; streams have a heartbeat.
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    // An id that is too long is an id we do not know; the door says so. Node takes no longer address.
    routerOptions: { maxParamLength: maxHeaderSize },
    // The framework would answer it without our hooks: no headers against harm, no line in the log.
    rewriteUrl: ({ url = '' }) => (isDecodable(url) ? url : unknownPath),
    frameworkErrors: (error, request, reply) => sendError(request, reply, error),
    clientErrorHandler: (error, socket) => sendClientError(config.rootUrl, error, socket),
    // Node would answer these by itself, in another shape than ours.
    http: { requireHostHeader: false },
    return503OnClosing: false,
  })
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  const drain = new Drain(app.server)
  const streams = new OpenStreams()
  app.addHook('preClose', async () => {
    drain.leave()
    await sleep(config.stopDelayMs)
    drain.begin()
    streams.end()
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

  app.addContentTypeParser(formType, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (!request.routeOptions.config.takesForm) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
    return parseForm(body)
  })

  app.decorateRequest('caller')
  app.decorateRequest('page')
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    if (!request.headers.host) throw new ApiError('INVALID_REQUEST')
    if (request.is404) {
      request.page = findPage(pageRequest(request))
      if (!request.page) throw notThere(request)
    }
    if (drain.stopping) throw new ApiError('NOT_READY')
  })
  app.addHook('onSend', async (_request, reply) => {
    if (drain.leaving) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? (request.page ? 'web' : 'unknown')
    // How long somebody watched says nothing about how fast we answer.
    if (!isStream(reply)) metrics.request(request.method, route, reply.statusCode, reply.elapsedTime)
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
  app.setNotFoundHandler((request, reply) =>
    request.page
      ? reply.code(200).headers(request.page.headers).send(request.page.body)
      : sendError(request, reply, notThere(request)),
  )

  for (const operation of operations) mount(operation)
  return app

  function mount(operation: Operation) {
    app.route({
      method: operation.route.method,
      url: urlOf(operation),
      config: {
        oauthErrors: operation.errorFormat === 'oauth',
        takesForm: operation.bodyFormat === 'form',
        ...(operation.route.mcp ? { resourceMetadata: `${config.rootUrl}${routes.getMcpResourceMetadata.path}` } : {}),
      },
      // Before the body is read: who may not call does not get to send us anything.
      onRequest: (request, reply) => identify(operation, request, reply, operation.route),
      handler: async (request, reply) => {
        refuseOtherFormat(operation, request)
        if (request.body !== undefined && reply.elapsedTime > callerTrustedMs) {
          await identify(operation, request, reply, null)
        }
        const answer = await door.invoke(operation, request.caller, {
          params: request.params as Record<string, string>,
          query: { ...(request.query as object) },
          // An empty form is a form; JSON's null is not nothing.
          body: request.body === undefined && operation.bodyFormat === 'form' ? {} : request.body,
          headers: request.headers,
          address: request.ip,
        })
        reply.code(answer.status).headers(answer.headers)
        if (answer.body instanceof EventStream) return streams.send(request, reply, answer.body)
        return answer.body ?? reply.send()
      },
    })
  }

  async function identify({ route }: Operation, request: FastifyRequest, reply: FastifyReply, counted: Route | null) {
    request.caller = { kind: 'nobody' }
    if (route.caller === 'anyone') return
    const isOpen = route.caller === 'anyone or person'
    const { caller, headers = {} } = await resolveCaller(credentials(route, request), isOpen ? null : counted).catch(
      (error) => {
        // A login that is over is no login; this route leads to signing in.
        if (isOpen && error instanceof ApiError) return { caller: request.caller, headers: {} }
        throw error
      },
    )
    request.caller = caller
    reply.headers(headers)
    admit(route, caller)
  }

  /** A path that we know under another method, or do not know at all. */
  function notThere(request: FastifyRequest): ApiError {
    const path = request.url.split('?')[0] as string
    const methods = operations
      .filter((operation) => new RegExp(`^${urlOf(operation).replace(/:\w+/g, '[^/]+')}$`).test(path))
      .map(({ route }) => route.method)
    if (methods.length === 0) return new ApiError('ROUTE_NOT_FOUND')
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
    return new ApiError('METHOD_NOT_ALLOWED', {}, { headers: { allow } })
  }

  function sendError(request: FastifyRequest, reply: FastifyReply, error: FastifyError | ApiError | OAuthError) {
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
}

/** No operation has it, nor is it a page's. */
const unknownPath = '/api/v1/'

function isDecodable(url: string) {
  try {
    decodeURIComponent(url.split(/[?#]/, 1)[0] as string)
    return true
  } catch {
    return false
  }
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

const formType = 'application/x-www-form-urlencoded'

/** Both kinds of body can be read; each operation takes one. */
function refuseOtherFormat({ bodyFormat, body }: Operation, request: FastifyRequest) {
  const isForm = request.headers['content-type']?.startsWith(formType) ?? false
  if (bodyFormat === 'form' && !isForm) throw new OAuthError('invalid_request', `Send the body as ${formType}.`)
  if (bodyFormat !== 'form' && isForm && (body || request.body !== undefined)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  }
}

const urlOf = ({ route }: Operation) => (route.at === 'root' ? '' : '/api/v1') + route.path

const credentials = (route: Route, request: FastifyRequest): Credentials => ({
  authorization: request.headers.authorization,
  cookie: request.cookies.baton_session,
  workspaceId: header(request, 'x-workspace-id') ?? (route.stream && workspaceInQuery(request)),
  writes: Boolean(route.writes) || !['GET', 'HEAD'].includes(request.method),
  origin: request.headers.origin,
  fetchSite: header(request, 'sec-fetch-site'),
})

function header(request: FastifyRequest, name: string) {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A browser's EventSource sends no headers of ours. Unlike a header, a query can hold what the database cannot. */
function workspaceInQuery(request: FastifyRequest) {
  const { workspace_id: value } = request.query as { workspace_id?: unknown }
  return typeof value === 'string' && value !== '' && !textProblem(value) ? value : undefined
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
function sendClientError(rootUrl: string, error: NodeJS.ErrnoException, socket: Socket) {
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
