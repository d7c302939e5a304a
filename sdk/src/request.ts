import { type CallName, type RouteName, routes } from './routes.ts'

/** Operations that accept an Idempotency-Key, take a form, or do not return JSON. A test compares them with the protocol. */
export const acceptsIdempotencyKey: ReadonlySet<RouteName> = new Set<CallName>(['postActivity', 'suggestChanges'])
export const takesForm: ReadonlySet<RouteName> = new Set<CallName>([
  'ssoBackChannel',
  'issueToken',
  'revokeToken',
  'linearToken',
  'linearRevoke',
])
export const returnsOtherThanJson: ReadonlySet<RouteName> = new Set<CallName>([
  'getHome',
  'getMetrics',
  'getPackage',
  'getDocs',
  'getDocsStyle',
  'getDocsScript',
  'searchDocs',
  'getDocsPage',
  'getDocsPicture',
  'getReferencePage',
  'getLlmsText',
  'getAppIcon',
  'authorize',
  'linearAuthorize',
  'ssoCallback',
  'exportAuditEntries',
  'exportIssues',
  'exportAgentInsights',
  'exportFlowInsights',
  'downloadExport',
  'getFileContent',
  'openFileLink',
])
export interface UntypedInput {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

interface RequestOptions {
  headers?: Record<string, string>
  idempotencyKey?: string
}

export interface PreparedRequest {
  name: RouteName
  method: string
  path: string
  atRoot: boolean
  headers: Record<string, string>
  body?: string | Uint8Array | Blob
  idempotent: boolean
}

export function requestOf(
  name: RouteName,
  { params = {}, query = {}, body }: UntypedInput,
  options: RequestOptions,
): PreparedRequest {
  const route = routes[name]
  const path = route.path.replace(/:(\w+)/g, (_, key: string) => {
    const value = params[key]
    // A dot segment would address another operation.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
      throw new TypeError(`${name} needs the parameter ${key}, a non-empty string`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)] as [string, string]],
    ),
  ).toString()
  const idempotent = acceptsIdempotencyKey.has(name)
  const form = takesForm.has(name)
  return {
    name,
    method: route.method,
    path: search === '' ? path : `${path}?${search}`,
    atRoot: 'at' in route,
    idempotent,
    headers: {
      ...(body === undefined
        ? {}
        : { 'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json' }),
      ...(idempotent ? { 'idempotency-key': options.idempotencyKey ?? crypto.randomUUID() } : {}),
      ...options.headers,
    },
    ...(body === undefined
      ? {}
      : { body: form ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body) }),
  }
}

/** Keys named in the path become parameters; the others the query of a GET or DELETE, or else the body. */
export function unflatten(name: CallName, input: Record<string, unknown>): UntypedInput {
  const { path, method } = routes[name]
  const params: Record<string, string> = {}
  const rest = { ...input }
  for (const [, key = ''] of path.matchAll(/:(\w+)/g)) {
    params[key] = rest[key] as string
    delete rest[key]
  }
  if (Object.keys(rest).length === 0) return { params }
  return method === 'GET' || method === 'DELETE' ? { params, query: rest } : { params, body: rest }
}
