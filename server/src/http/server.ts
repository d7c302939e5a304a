import { type IncomingMessage, maxHeaderSize } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits, type Operation, type Route, routes } from '@baton/protocol'
import cookie from '@fastify/cookie'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import { startTrace, type Trace, traceparentOf } from '../trace.ts'
import { arriving, hasBody, isMalformed, limitArrival, markMalformed, type Timeouts } from './arrival.ts'
import { admit, type Caller } from './caller.ts'
import { Drain } from './drain.ts'
import { ApiError, OAuthError } from './errors.ts'
import { EventStream } from './event-stream.ts'
import { parseForm } from './form.ts'
import type { Door } from './invoke.ts'
import { parseJson } from './json.ts'
import type { Metrics } from './metrics.ts'
import { isStream, OpenStreams } from './open-streams.ts'
import type { Counted } from './rate-window.ts'
import { sendClientError, sendError } from './refusals.ts'
import { logRequest } from './request-log.ts'
import type { Upload } from './route.ts'
import { securityHeaders } from './security-headers.ts'
import { textProblem } from './validate.ts'
import { type FindPage, type Page, type PageRequest, pageRequest } from './web-page.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    page: Page | undefined
    trace: Trace
  }
  interface FastifyContextConfig {
    takesForm?: boolean
    ignoresBody?: boolean
    /** The handler gets the bytes of a JSON body, because they are signed. */
    takesBytes?: boolean
    isRaw?: boolean
  }
}

/** The parts of a request that identify the caller. */
export interface Credentials {
  authorization: string | undefined
  cookie: string | undefined
  workspaceId: string | undefined
  /** Only a token of Linear's API counts. */
  linear: boolean
  /** The route needs a recent login, so a refusal names the sign-in methods of the person. */
  recent: boolean
  /** The request changes something. */
  writes: boolean
  origin: string | undefined
  fetchSite: string | undefined
}

/** Finds the caller, and headers for the response. `counted` is the route whose rate limit applies, or null to count nothing. */
export type ResolveCaller = (
  credentials: Credentials,
  counted: Counted | null,
) => Promise<{ caller: Caller; headers?: Record<string, string> }>

interface Parts {
  ctx: Context
  door: Door
  /** The operations that this process serves. */
  operations: readonly Operation[]
  metrics: Metrics
  resolveCaller: ResolveCaller
  findPage: FindPage
  /** In place of a 404, for people: without it they would see JSON. */
  findMissingPage: (request: PageRequest) => Promise<Page | undefined>
  timeouts?: Timeouts | undefined
}

/** The HTTP server in front of the door. refusals.ts sends errors. */
export async function createHttpServer(parts: Parts): Promise<FastifyInstance> {
  const { config } = parts.ctx
  const app = newServer(parts.ctx, timeoutsOf(parts).requestMs)
  const drain = new Drain(app.server)
  const streams = new OpenStreams()
  app.addHook('preClose', async () => {
    drain.closeConnections()
    await sleep(config.stopDelayMs)
    drain.stop()
    streams.end()
  })
  await app.register(cookie)
  addParsers(app)
  addHooks(app, parts, drain)
  for (const operation of parts.operations) if (!operation.route.raw) mount(app, parts, streams, operation)
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // The handler reads the body, whatever its type is said to be.
    scope.addContentTypeParser('*', async () => undefined)
    for (const operation of parts.operations) if (operation.route.raw) mount(scope, parts, streams, operation)
  })
  return app
}

const timeoutsOf = ({ timeouts }: Parts): Timeouts => timeouts ?? { requestMs: 30_000 }

function newServer(ctx: Context, requestMs: number): FastifyInstance {
  const { config } = ctx
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    genReqId: () => newId('req'),
    // It would also end a stop after 10 seconds, which BATON_STOP_DELAY can make longer; run.ts limits that.
    pluginTimeout: 0,
    // `limitArrival` limits bodies: Node cannot give uploads more time than others.
    requestTimeout: 0,
    // Closes a connection whose response is not read; streams have a heartbeat.
    connectionTimeout: silentConnectionMs,
    keepAliveTimeout: 72_000,
    // The door answers 404 to an id that is too long. Node accepts no longer URL.
    routerOptions: { maxParamLength: maxHeaderSize },
    // Fastify would answer an undecodable URL without our hooks: no security headers, no log entry.
    rewriteUrl: ({ url = '' }) => (isDecodable(url) ? url : unknownPath),
    frameworkErrors: (error, request, reply) => sendError(ctx, request, reply, error),
    clientErrorHandler: (error, socket) => {
      markMalformed(socket)
      sendClientError(config.rootUrl, error, socket)
    },
    // Node would refuse a missing Host header itself, in another format than ours.
    http: {
      requireHostHeader: false,
      requestTimeout: 0,
      headersTimeout: requestMs,
      connectionsCheckingInterval: Math.ceil(requestMs / 6),
    },
    return503OnClosing: false,
  })
  for (const event of ['checkExpectation', 'checkContinue']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response))
  }
  app.server.on('request', (request, response) => {
    limitArrival(request, requestMs, () => {
      if (response.headersSent) request.socket.destroy()
      else app.server.emit('clientError', Object.assign(new Error('late'), { code: lateCode }), request.socket)
    })
  })
  return app
}

const silentConnectionMs = 60_000
const lateCode = 'ERR_HTTP_REQUEST_TIMEOUT'

/** Neither an operation nor a page has this path. */
const unknownPath = '/api/v1/'

function isDecodable(url: string) {
  try {
    decodeURIComponent(url.split(/[?#]/, 1)[0] as string)
    return true
  } catch {
    return false
  }
}

const formType = 'application/x-www-form-urlencoded'

function addParsers(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const { ignoresBody, takesBytes } = request.routeOptions.config
    if (body.length === 0 || ignoresBody) return undefined
    return takesBytes ? body : parseJson(body)
  })
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, async (request: FastifyRequest) => {
    if (!request.routeOptions.config.ignoresBody) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  })
  app.addContentTypeParser(formType, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (request.routeOptions.config.ignoresBody) return undefined
    if (!request.routeOptions.config.takesForm) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
    return parseForm(body)
  })
}

function addHooks(app: FastifyInstance, parts: Parts, drain: Drain) {
  const { ctx, operations, metrics, findPage, findMissingPage, resolveCaller } = parts
  const known = operations.map((operation) => ({
    pattern: new RegExp(`^${urlOf(operation).replace(/:\w+/g, '[^/]+')}$`),
    methods: methodsOf(operation.route),
  }))
  app.decorateRequest('caller')
  app.decorateRequest('page')
  app.decorateRequest('trace')
  const headers = Object.entries(securityHeaders(ctx.config.rootUrl))
  app.addHook('onRequest', async (request, reply) => {
    request.trace = startTrace(request.headers.traceparent)
    for (const [name, value] of headers) reply.raw.setHeader(name, value)
    reply.header('x-request-id', request.id)
    if (!hasOneHost(request.raw)) throw new ApiError('INVALID_REQUEST')
    if (request.is404) {
      request.page = findPage(pageRequest(request))
      if (!request.page) {
        await countUnknownPath(resolveCaller, request, reply)
        const methods = known.filter(({ pattern }) => pattern.test(pathOf(request))).flatMap(({ methods }) => methods)
        throw noSuchRoute(methods)
      }
    }
    if (drain.stopping) throw new ApiError('NOT_READY')
  })
  // After the caller is identified, before the body is read.
  app.addHook('preParsing', async (request, reply) => {
    refuseEncodedBody(request)
    // An upload asks for its body when it is read.
    if (!request.routeOptions.config.isRaw) sendContinue(request, reply)
  })
  app.addHook('onSend', async (_request, reply) => {
    if (drain.closesConnections) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? (request.page ? 'web' : 'unknown')
    // The duration of a stream is not a response time.
    if (!isStream(reply)) metrics.request(request.method, route, reply.statusCode, reply.elapsedTime)
    logRequest(ctx.log, request, reply, route)
  })
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const isMissing = error instanceof ApiError && error.status === 404
    const page = isMissing ? await findMissingPage(pageRequest(request)) : undefined
    return page ? sendPage(reply, page) : sendError(ctx, request, reply, error)
  })
  // Anything that is not a page was refused in onRequest.
  app.setNotFoundHandler(({ page }, reply) => page && sendPage(reply, page))
}

function sendContinue({ headers }: FastifyRequest, reply: FastifyReply) {
  if (headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue()
}

const sendPage = (reply: FastifyReply, { status = 200, headers, body }: Page) =>
  reply.code(status).headers(headers).send(body)

/** Two hosts are refused, because a proxy in front may have checked the other one. */
function hasOneHost({ headers, rawHeaders }: IncomingMessage) {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  return hosts.length === 1 && Boolean(headers.host)
}

/** Bodies are read as they are sent, so an encoded one would not be understood. */
function refuseEncodedBody({ headers, method, raw }: FastifyRequest) {
  const encoding = headers['content-encoding'] ?? ''
  if (encoding === '' || encoding.toLowerCase() === 'identity') return
  if (!hasBody(raw) || method === 'GET' || method === 'HEAD') return
  throw new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    {},
    { message: 'Send the body without Content-Encoding.', headers: { 'accept-encoding': 'identity' } },
  )
}

const methodsOf = ({ method, alsoBy }: Route) => (alsoBy ? [method, alsoBy] : [method])

const pathOf = ({ url }: FastifyRequest) => url.split('?')[0] as string

/** rate.headers-on-every-app-call: calls to unknown paths count and get the headers too. */
async function countUnknownPath(resolveCaller: ResolveCaller, request: FastifyRequest, reply: FastifyReply) {
  if (!request.headers.authorization) return
  const counted: Counted = { path: `/${pathOf(request).replace(/^\/(api\/v1\/)?/, '')}` }
  const { caller, headers = {} } = await resolveCaller(credentials({}, request), counted).catch((error) => {
    if (!(error instanceof ApiError) || error.code === 'RATE_LIMIT_EXCEEDED') throw error
    return { caller: request.caller, headers: {} }
  })
  request.caller = caller
  reply.headers({ 'cache-control': 'no-store', ...headers })
}

/** 405 with the methods that the path has, or 404. */
function noSuchRoute(methods: readonly string[]): ApiError {
  if (methods.length === 0) return new ApiError('ROUTE_NOT_FOUND')
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  return new ApiError('METHOD_NOT_ALLOWED', {}, { headers: { allow } })
}

const urlOf = ({ route }: Operation) => (route.at === 'root' ? '' : '/api/v1') + route.path

/** If receiving the body took longer, the caller is checked again: access may have been revoked meanwhile. */
const callerTrustedMs = 250

function mount(app: FastifyInstance, parts: Parts, streams: OpenStreams, operation: Operation) {
  const { ctx, door, resolveCaller } = parts
  const { route, bodyFormat } = operation
  const bodyLimit = operation.bodyBytes === 'file' ? ctx.config.fileBytes : (operation.bodyBytes ?? limits.bodyBytes)
  app.route({
    method: methodsOf(route),
    url: urlOf(operation),
    bodyLimit,
    config: {
      oauthErrors: operation.errorFormat === 'oauth',
      graphqlErrors: operation.errorFormat === 'graphql',
      takesForm: bodyFormat === 'form',
      ignoresBody: Boolean(operation.ignoresBody),
      takesBytes: bodyFormat === 'bytes',
      isRaw: Boolean(route.raw),
      ...(route.mcp ? { resourceMetadata: `${ctx.config.rootUrl}${routes.getMcpResourceMetadata.path}` } : {}),
    },
    // Before the body is read: callers without access cannot make us receive one.
    onRequest: async (request, reply) => {
      await identify(resolveCaller, route, request, reply, route)
      if (route.raw) checkLength(request, bodyLimit)
    },
    handler: async (request, reply) => {
      if (!route.raw) refuseOtherFormat(operation, request)
      const upload = route.raw ? uploadOf(parts, operation, request, reply) : undefined
      if (request.body !== undefined && reply.elapsedTime > callerTrustedMs) {
        await identify(resolveCaller, route, request, reply, null)
      }
      const answer = await door
        .invoke(operation, request.caller, {
          params: request.params as Record<string, string>,
          query: { ...(request.query as object) },
          // An empty form counts as sent; for JSON, null is not the same as no body.
          body: request.body === undefined && bodyFormat === 'form' ? {} : request.body,
          headers: request.headers,
          address: request.ip,
          upload,
          cause: { requestId: request.id, traceparent: traceparentOf(request.trace) },
        })
        .finally(() => upload?.body.destroy())
      reply.code(answer.status).headers(answer.headers)
      if (answer.body instanceof EventStream) return streams.send(request, reply, answer.body)
      return answer.body ?? reply.send()
    },
  })
}

/** Before the body is read. */
function checkLength({ headers }: FastifyRequest, limit: number) {
  if (headers['content-length'] === undefined || headers['transfer-encoding'] !== undefined) {
    throw new ApiError('INVALID_REQUEST', {}, { message: 'Send the size of the body in the header Content-Length.' })
  }
  if (Number(headers['content-length']) > limit) throw new ApiError('BODY_TOO_LARGE')
}

const uploadMinutes = 15

function uploadOf(
  parts: Parts,
  { route, ...operation }: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Upload {
  const { requestMs, uploadMs } = timeoutsOf(parts)
  const { socket } = request.raw
  // The storage may need longer than this, after the last byte arrived.
  socket.setTimeout(0)
  reply.raw.once('close', () => socket.setTimeout(silentConnectionMs))
  return {
    body: arriving(request.raw, {
      pauseMs: requestMs,
      totalMs: uploadMs ?? (operation.arrivesWithinMinutes ?? uploadMinutes) * 60_000,
      onStart: () => sendContinue(request, reply),
    }),
    bytes: Number(request.headers['content-length']),
    async confirm() {
      if (isMalformed(request.raw)) throw new ApiError('INVALID_REQUEST')
      if (reply.elapsedTime > callerTrustedMs) await identify(parts.resolveCaller, route, request, reply, null)
    },
  }
}

async function identify(
  resolveCaller: ResolveCaller,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  counted: Route | null,
) {
  request.caller = { kind: 'anonymous' }
  if (route.caller === 'anyone') return
  // Responses depend on the caller. Handlers can set another value.
  reply.header('cache-control', 'no-store')
  const isOpen = route.caller === 'anyone or person'
  const { caller, headers = {} } = await resolveCaller(credentials(route, request), isOpen ? null : counted).catch(
    (error) => {
      // An expired login counts as none here, because this route leads to sign-in.
      if (isOpen && error instanceof ApiError) return { caller: request.caller, headers: {} }
      throw error
    },
  )
  request.caller = caller
  reply.headers(headers)
  admit(route, caller)
}

/** The server parses JSON and forms; each operation accepts one of them. */
function refuseOtherFormat({ bodyFormat, body }: Operation, request: FastifyRequest) {
  const isForm = request.headers['content-type']?.startsWith(formType) ?? false
  if (bodyFormat === 'form' && !isForm) throw new OAuthError('invalid_request', `Send the body as ${formType}.`)
  if (bodyFormat !== 'form' && isForm && (body || request.body !== undefined)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  }
}

const credentials = (
  route: Pick<Route, 'stream' | 'workspaceInQuery' | 'writes' | 'linear' | 'recent'>,
  request: FastifyRequest,
): Credentials => ({
  authorization: request.headers.authorization,
  cookie: request.cookies.baton_session,
  workspaceId:
    header(request, 'x-workspace-id') ?? ((route.stream || route.workspaceInQuery) && workspaceInQuery(request)),
  linear: Boolean(route.linear),
  recent: Boolean(route.recent),
  writes: Boolean(route.writes) || !['GET', 'HEAD'].includes(request.method),
  origin: request.headers.origin,
  fetchSite: header(request, 'sec-fetch-site'),
})

function header(request: FastifyRequest, name: string) {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** EventSource cannot send headers. Unlike a header, a query can contain text that the database cannot store. */
function workspaceInQuery(request: FastifyRequest) {
  const { workspace_id: value } = request.query as { workspace_id?: unknown }
  return typeof value === 'string' && value !== '' && !textProblem(value) ? value : undefined
}
