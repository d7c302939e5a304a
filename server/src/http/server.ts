import { maxHeaderSize } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits, type Operation, type Route, routes } from '@baton/protocol'
import cookie from '@fastify/cookie'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
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
import { securityHeaders } from './security-headers.ts'
import { textProblem } from './validate.ts'
import { type FindPage, type Page, pageRequest } from './web-page.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    page: Page | undefined
  }
  interface FastifyContextConfig {
    takesForm?: boolean
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
  counted: Counted | null,
) => Promise<{ caller: Caller; headers?: Record<string, string> }>

/** What a server is made of. */
interface Parts {
  ctx: Context
  door: Door
  /** All of the door's, or those that this process serves. */
  operations: readonly Operation[]
  metrics: Metrics
  resolveCaller: ResolveCaller
  findPage: FindPage
}

/** Turns the door into an HTTP server: how it listens and answers. How it refuses stands in refusals.ts. */
export async function createHttpServer(parts: Parts): Promise<FastifyInstance> {
  const { config } = parts.ctx
  const app = newServer(parts.ctx)
  const drain = new Drain(app.server)
  const streams = new OpenStreams()
  app.addHook('preClose', async () => {
    drain.leave()
    await sleep(config.stopDelayMs)
    drain.begin()
    streams.end()
  })
  await app.register(cookie)
  addParsers(app)
  addHooks(app, parts, drain)
  for (const operation of parts.operations) mount(app, parts, streams, operation)
  return app
}

function newServer(ctx: Context): FastifyInstance {
  const { config } = ctx
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
    frameworkErrors: (error, request, reply) => sendError(ctx, request, reply, error),
    clientErrorHandler: (error, socket) => sendClientError(config.rootUrl, error, socket),
    // Node would answer these by itself, in another shape than ours.
    http: { requireHostHeader: false },
    return503OnClosing: false,
  })
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  return app
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

const formType = 'application/x-www-form-urlencoded'

function addParsers(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    body.length > 0 ? parseJson(body) : undefined,
  )
  app.addContentTypeParser(formType, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (!request.routeOptions.config.takesForm) throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
    return parseForm(body)
  })
}

function addHooks(app: FastifyInstance, { ctx, operations, metrics, findPage, resolveCaller }: Parts, drain: Drain) {
  const known = operations.map((operation) => ({
    pattern: new RegExp(`^${urlOf(operation).replace(/:\w+/g, '[^/]+')}$`),
    methods: methodsOf(operation.route),
  }))
  app.decorateRequest('caller')
  app.decorateRequest('page')
  const headers = Object.entries(securityHeaders(ctx.config.rootUrl))
  app.addHook('onRequest', async (request, reply) => {
    for (const [name, value] of headers) reply.raw.setHeader(name, value)
    reply.header('x-request-id', request.id)
    if (!request.headers.host) throw new ApiError('INVALID_REQUEST')
    if (request.is404) {
      request.page = findPage(pageRequest(request))
      if (!request.page) {
        await countInVain(resolveCaller, request, reply)
        const methods = known.filter(({ pattern }) => pattern.test(pathOf(request))).flatMap(({ methods }) => methods)
        throw notThere(methods)
      }
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
    ctx.log.info({
      request_id: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      ...callerIds(request.caller),
    })
  })
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(ctx, request, reply, error))
  // What is not a page was refused when it came.
  app.setNotFoundHandler(({ page }, reply) => page && reply.code(200).headers(page.headers).send(page.body))
}

/** Ids for the log of requests: of the person, or of the app's user, the app and its installation. */
function callerIds(caller: Caller | undefined) {
  if (!caller || caller.kind === 'anonymous') return {}
  if (caller.kind === 'person') return { user: caller.id }
  return { user: caller.id, app: caller.appId, installation: caller.installationId }
}

const methodsOf = ({ method, alsoBy }: Route) => (alsoBy ? [method, alsoBy] : [method])

const pathOf = ({ url }: FastifyRequest) => url.split('?')[0] as string

/** Every answer to an app tells how it stands with its limit, also one to a call that leads nowhere. */
async function countInVain(resolveCaller: ResolveCaller, request: FastifyRequest, reply: FastifyReply) {
  if (!request.headers.authorization) return
  const counted: Counted = { path: `/${pathOf(request).replace(/^\/(api\/v1\/)?/, '')}` }
  const { caller, headers = {} } = await resolveCaller(credentials({}, request), counted).catch((error) => {
    if (!(error instanceof ApiError) || error.code === 'RATE_LIMIT_EXCEEDED') throw error
    return { caller: request.caller, headers: {} }
  })
  request.caller = caller
  reply.headers(headers)
}

/** A path that we know under other methods, or do not know at all. */
function notThere(methods: readonly string[]): ApiError {
  if (methods.length === 0) return new ApiError('ROUTE_NOT_FOUND')
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  return new ApiError('METHOD_NOT_ALLOWED', {}, { headers: { allow } })
}

const urlOf = ({ route }: Operation) => (route.at === 'root' ? '' : '/api/v1') + route.path

/** A body can take its time; whoever was let in before it began is looked at again if it took longer than this. */
const callerTrustedMs = 250

function mount(app: FastifyInstance, { ctx, door, resolveCaller }: Parts, streams: OpenStreams, operation: Operation) {
  const { route, bodyFormat } = operation
  app.route({
    method: methodsOf(route),
    url: urlOf(operation),
    config: {
      oauthErrors: operation.errorFormat === 'oauth',
      takesForm: bodyFormat === 'form',
      ...(route.mcp ? { resourceMetadata: `${ctx.config.rootUrl}${routes.getMcpResourceMetadata.path}` } : {}),
    },
    // Before the body is read: who may not call does not get to send us anything.
    onRequest: (request, reply) => identify(resolveCaller, route, request, reply, route),
    handler: async (request, reply) => {
      refuseOtherFormat(operation, request)
      if (request.body !== undefined && reply.elapsedTime > callerTrustedMs) {
        await identify(resolveCaller, route, request, reply, null)
      }
      const answer = await door.invoke(operation, request.caller, {
        params: request.params as Record<string, string>,
        query: { ...(request.query as object) },
        // An empty form is a form; JSON's null is not nothing.
        body: request.body === undefined && bodyFormat === 'form' ? {} : request.body,
        headers: request.headers,
        address: request.ip,
      })
      reply.code(answer.status).headers(answer.headers)
      if (answer.body instanceof EventStream) return streams.send(request, reply, answer.body)
      return answer.body ?? reply.send()
    },
  })
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

/** Both kinds of body can be read; each operation takes one. */
function refuseOtherFormat({ bodyFormat, body }: Operation, request: FastifyRequest) {
  const isForm = request.headers['content-type']?.startsWith(formType) ?? false
  if (bodyFormat === 'form' && !isForm) throw new OAuthError('invalid_request', `Send the body as ${formType}.`)
  if (bodyFormat !== 'form' && isForm && (body || request.body !== undefined)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE')
  }
}

const credentials = (route: Pick<Route, 'stream' | 'writes'>, request: FastifyRequest): Credentials => ({
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
