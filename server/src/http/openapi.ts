import {
  errors,
  errorsOf,
  inWorkspace,
  limits,
  nounOf,
  nouns,
  type Operation,
  pathParams,
  type Route,
} from '@baton/protocol'
import type { TSchema } from 'typebox'
import type { Config } from '../config.ts'

type Json = { [key: string]: unknown }

/** OpenAPI 3.1 from the operations themselves, so it cannot disagree with what the server checks. */
export function openApi(operations: Record<string, Operation>, config: Config): Json {
  const schemas: Json = {
    Error: {
      type: 'object',
      required: ['code', 'message', 'details'],
      properties: { code: { type: 'string' }, message: { type: 'string' }, details: { type: 'object' } },
      additionalProperties: false,
    },
  }
  const paths: { [path: string]: Json } = {}
  for (const [name, operation] of Object.entries(operations)) {
    const path = operation.route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= operation.route.at === 'root' ? { servers: [{ url: config.rootUrl }] } : {}
    const { method, alsoBy } = operation.route
    paths[path][method.toLowerCase()] = describe(name, operation, schemas)
    if (alsoBy) paths[path][alsoBy.toLowerCase()] = describe(`${name}By${alsoBy}`, operation, schemas)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Baton', version: '1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: config.baseUrl }],
    tags: nouns.map(({ name, line }) => ({ name, description: line })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: "A person's login (psn_…) or an access token" },
        cookie: { type: 'apiKey', in: 'cookie', name: 'baton_session', description: "A person's login in a browser" },
      },
    },
  }
}

function describe(name: string, operation: Operation, schemas: Json): Json {
  const { route, summary, query, body } = operation
  return {
    operationId: name,
    tags: [nounOf(route).name],
    summary,
    description: callers(route),
    ...(route.caller === 'anyone' ? { security: [] } : { security: [{ bearer: [] }, { cookie: [] }] }),
    parameters: [
      ...pathParams(route.path).map((param) => ({
        name: param,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...(inWorkspace(route.caller) && !route.linear
        ? [
            {
              name: 'X-Workspace-ID',
              in: 'header',
              required: !route.stream && !route.mcp && !route.workspaceInQuery,
              schema: { type: 'string' },
            },
          ]
        : []),
      ...(operation.idempotent
        ? [
            {
              name: 'Idempotency-Key',
              in: 'header',
              required: false,
              schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKey },
            },
          ]
        : []),
      ...Object.entries(query?.properties ?? {}).map(([param, schema]) => ({
        name: param,
        in: 'query',
        required: query?.required?.includes(param) ?? false,
        schema: named(schema, schemas),
      })),
    ],
    ...(body
      ? {
          requestBody: {
            required: !operation.bodyOptional,
            content: content(named(body, schemas), mediaTypeOf(operation)),
          },
        }
      : {}),
    ...(route.raw ? { requestBody: { required: true, content: { '*/*': { schema: {} } } } } : {}),
    responses: { ...answers(operation, schemas), ...refusals(operation, schemas) },
  }
}

function callers(route: Route): string {
  return `Who may call it: ${route.caller}${scopesOf(route)}.`
}

function scopesOf(route: Route): string {
  if (!('scope' in route)) return ''
  if (route.scope) return `; tokens need the scope ${route.scope}`
  if (!route.programScope) return '; no scope needed'
  return `; an app's token needs no scope, a token of a person's program needs the scope ${route.programScope}`
}

const requestId = { 'X-Request-Id': { schema: { type: 'string' }, description: 'Identifies this request in the log' } }
const integer = (description: string) => ({ schema: { type: 'integer' }, description })
const rateLimit = {
  'RateLimit-Limit': integer('With an access token: calls allowed per minute'),
  'RateLimit-Remaining': integer('With an access token: calls left'),
  'RateLimit-Reset': integer('With an access token: seconds until another call is allowed'),
}
const help = { Link: { schema: { type: 'string' }, description: 'rel="help": documentation of the error' } }
const retryAfter = { 'Retry-After': integer('Seconds to wait') }
const mediaTypeOf = ({ bodyFormat }: Operation) =>
  bodyFormat === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
/** The formats in which icons are stored, and that of generated ones. */
const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/svg+xml']
const content = (schema: unknown, type = 'application/json') =>
  Object.fromEntries((type === 'image/*' ? imageTypes : type.split(', ')).map((one) => [one, { schema }]))

/** rate.headers-on-every-app-call; a 401 has none, because the caller is unknown. */
const headersOf = ({ route }: Operation, status: number) => ({
  ...requestId,
  ...(route.caller === 'anyone' || route.caller === 'anyone or person' || status === 401 ? {} : rateLimit),
  ...(status === 429 ? retryAfter : {}),
})

function answers(operation: Operation, schemas: Json): Json {
  const { returns, produces } = operation
  return Object.fromEntries(
    Object.entries(returns).map(([status, schema]) => [
      status,
      {
        description: Number(status) < 400 ? 'Success' : 'Refused',
        headers: headersOf(operation, Number(status)),
        ...(schema ? { content: content(named(schema, schemas), produces) } : {}),
      },
    ]),
  )
}

function refusals(operation: Operation, schemas: Json): Json {
  const codes = errorsOf(operation)
  const statuses = [...new Set(codes.map((code) => errors[code].status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const group = codes.filter((code) => errors[code].status === status)
      const description = group.map((code) => `\`${code}\`: ${errors[code].message}`).join('\n\n')
      const ours = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: group } } }] }
      const theirs = operation.returns[status]
      const schema = theirs ? { anyOf: [ours, named(theirs, schemas)] } : ours
      const headers = { ...headersOf(operation, status), ...(operation.errorFormat === 'oauth' ? {} : help) }
      return [status, { description, headers, content: content(schema) }]
    }),
  )
}

/** A schema with a title becomes a component that others refer to. */
function named(schema: TSchema, schemas: Json): unknown {
  const { title } = schema as { title?: string }
  if (!title) return inner(schema, schemas)
  schemas[title] ??= inner(schema, schemas)
  return { $ref: `#/components/schemas/${title}` }
}

function inner(value: unknown, schemas: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => nested(item, schemas))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, nested(item, schemas)]))
}

const nested = (value: unknown, schemas: Json): unknown =>
  value !== null && typeof value === 'object' && 'title' in value && typeof value.title === 'string'
    ? named(value as TSchema, schemas)
    : inner(value, schemas)
