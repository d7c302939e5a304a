import { type Route, type RouteName, routes } from '@baton/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { acceptedBodies } from './bodies.ts'
import type { Caller } from './callers.ts'
import {
  contentTypes,
  hostileBodies,
  hostileHeaders,
  hostileQueries,
  hostileSegments,
  otherMethods,
} from './hostile.ts'
import { Ref } from './known-ids.ts'
import { redirectUri } from './planting.ts'
import { pathValue, ref, type Schema, sometimes, Values } from './values.ts'
import type { Sent } from './wire.ts'
import { challenge, password, programUri, type World } from './world.ts'

interface Described {
  operationId: RouteName
  parameters: { name: string; in: string; required: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export interface Document {
  paths: Record<string, { servers?: unknown } & Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

type Body = { json: unknown } | { form: Record<string, unknown> } | { raw: Buffer } | null

/** A request whose caller and ids are resolved when it is sent. */
export interface Draft {
  name: RouteName
  route: Route
  method: string
  /** Fixed parts and parameters. */
  path: unknown[]
  query: Record<string, unknown>
  rawQuery: string
  headers: string[]
  body: Body
  contentType: string | undefined
  /** Whether to choose a caller that the route accepts. */
  fitting: boolean
  callerIndex: number
  workspace: 'own' | 'none' | Ref
  address: number
}

/** Generates requests from the service's OpenAPI document. */
export class Requests {
  readonly names: RouteName[]
  readonly #values: Values
  readonly #drafts: Arbitrary<Draft>
  readonly #tools: { name: string; inputSchema: Schema }[]
  readonly #spareEmail: string

  constructor(document: Document, tools: { name: string; inputSchema: Schema }[], hookUrl: string, spareEmail: string) {
    this.#values = new Values(document.components.schemas, hookUrl)
    this.#tools = tools
    this.#spareEmail = spareEmail
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'servers')
        .map(([method, described]) => ({
          path,
          method: method.toUpperCase(),
          described: asNamed(described as Described),
        })),
    )
    this.names = operations.map(({ described }) => described.operationId)
    this.#drafts = fc.oneof(
      ...operations.map(({ path, method, described }) => ({
        weight: weightOf(described.operationId),
        arbitrary: this.#draft(path, method, described),
      })),
    )
  }

  sample(count: number, seed: number): Draft[] {
    return fc.sample(this.#drafts, { numRuns: count, seed })
  }

  #draft(path: string, method: string, described: Described): Arbitrary<Draft> {
    const { operationId: name } = described
    const route: Route = routes[name]
    const parts = `${route.at === 'root' ? '' : '/api/v1'}${path}`.split(/\{(\w+)\}/)
    return fc.record({
      name: fc.constant(name),
      route: fc.constant(route),
      method: sometimes(3, fc.constantFrom(...otherMethods), method),
      path: fc.tuple(...parts.map((part, index) => (index % 2 ? this.#segment(name, part) : fc.constant(part)))),
      query: sometimes(70, this.#query(described), {}),
      rawQuery: sometimes(5, fc.constantFrom(...hostileQueries), ''),
      headers: sometimes(10, fc.constantFrom(...hostileHeaders), []),
      body: this.#body(described),
      contentType: sometimes<string | undefined>(4, fc.constantFrom(...contentTypes), undefined),
      fitting: sometimes(80, fc.constant(true), false),
      callerIndex: fc.nat(100_000),
      workspace: fc.oneof(
        { weight: 27, arbitrary: fc.constant('own' as const) },
        { weight: 1, arbitrary: fc.constant('none' as const) },
        { weight: 2, arbitrary: ref('wsp') },
      ),
      address: fc.nat(2 ** 24 - 1),
    })
  }

  #segment(operation: RouteName, name: string): Arbitrary<unknown> {
    const hostile = fc.constantFrom(...hostileSegments).map((raw) => ({ raw }))
    const state = neededState[`${operation}.${name}`]
    const any = pathValue(name)
    const value = state ? fc.oneof<Arbitrary<unknown>[]>(any, ref(state)) : any
    return fc.oneof({ weight: 95, arbitrary: value }, { weight: 5, arbitrary: hostile })
  }

  #query({ operationId, parameters }: Described): Arbitrary<Record<string, unknown>> {
    if (operationId === 'authorize') return authorizeQuery
    if (operationId === 'listNames') return fc.record({ ids: ref('usr') })
    const known = parameters.filter((parameter) => parameter.in === 'query')
    const schema: Schema = {
      type: 'object',
      properties: Object.fromEntries(known.map(({ name, schema }) => [name, schema])),
      required: known.filter(({ required }) => required).map(({ name }) => name),
    }
    return this.#values.fitting(schema) as Arbitrary<Record<string, unknown>>
  }

  #body({ operationId, requestBody }: Described): Arbitrary<Body> {
    const schema = Object.values(requestBody?.content ?? {})[0]?.schema
    const raw = fc.constantFrom(...hostileBodies).map((bytes) => ({ raw: bytes }))
    if (!schema) return sometimes<Body>(4, raw, null)
    const own = this.#bodyOf(operationId)
    const accepted = acceptedBodies[operationId] ?? this.#values.fitting(schema)
    const fitting: Arbitrary<Body> = own ?? accepted.map((json) => ({ json }))
    const nearly: Arbitrary<Body> = own ? raw : this.#values.nearlyFitting(schema).map((json) => ({ json }))
    return fc.oneof(
      { weight: 70, arbitrary: fitting },
      { weight: 22, arbitrary: nearly },
      { weight: 8, arbitrary: raw },
    )
  }

  /** Bodies for operations whose schema does not describe the accepted values. */
  #bodyOf(name: RouteName): Arbitrary<Body> | undefined {
    const json = (arbitrary: Arbitrary<unknown>) => arbitrary.map((value): Body => ({ json: value }))
    switch (name) {
      case 'signIn':
        return json(
          fc.record({
            email: fc.constantFrom(this.#spareEmail, this.#spareEmail, 'unknown-1@example.com'),
            password: fc.constantFrom(password, 'a guess'),
          }),
        )
      case 'changePassword':
        return json(
          fc.record({ current_password: fc.constantFrom(password, 'a guess'), new_password: fc.constant(password) }),
        )
      case 'setPassword':
        return json(fc.constant({ new_password: password }))
      case 'reauthenticate':
        return json(fc.record({ password: fc.constantFrom(password, 'a guess') }))
      case 'createCliLogin':
        return json(
          fc.record({
            challenge: fc.constantFrom(challenge.challenge, 'x'),
            name: fc.constantFrom('baton', '<script>', '\u202e'),
            port: fc.constantFrom(1, 4000, 65_535, 0, -1, 65_536, '4000', 'evil.invalid'),
          }),
        )
      case 'updateInstallation':
        return json(fc.oneof(fc.constant({ all_teams: true }), fc.record({ team_ids: fc.tuple(ref('team')) })))
      case 'approveConsent':
        return json(
          fc.oneof(
            fc.constant({ all_teams: true }),
            fc.record({ team_ids: fc.tuple(ref('team')) }),
            fc.record({ workspace_id: ref('wsp') }),
          ),
        )
      case 'openAgentSession':
        return json(fc.oneof(fc.record({ issue_id: ref('iss') }), fc.record({ comment_id: ref('cmt') })))
      case 'registerClient':
        return json(
          fc.record({
            client_name: fc.constantFrom('Editor', '<script>', 'x'.repeat(300)),
            redirect_uris: fc.constantFrom([programUri], ['https://a.example.com/'], ['javascript:1'], [], 'x'),
          }),
        )
      case 'issueToken':
      case 'revokeToken':
        return tokenForm
      case 'callMcp':
        return json(this.#message())
      default:
        return undefined
    }
  }

  #message(): Arbitrary<unknown> {
    const call = fc.oneof(
      ...this.#tools.map(({ name, inputSchema }) => {
        const input = fc.oneof(
          { weight: 4, arbitrary: this.#values.fitting(inputSchema) },
          { weight: 1, arbitrary: this.#values.nearlyFitting(inputSchema) },
        )
        return input.map((args) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }))
      }),
    )
    const other = fc.constantFrom<unknown>(
      { jsonrpc: '2.0', id: 'a', method: 'tools/list' },
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: null, method: 'ping' },
      { jsonrpc: '2.0', id: 1, method: '__proto__' },
      [{ jsonrpc: '2.0', id: 1, method: 'ping' }],
      {},
    )
    return fc.oneof({ weight: 9, arbitrary: call }, { weight: 1, arbitrary: other })
  }
}

/** Parameters whose item must be in a certain state, or else the operation is refused: half of them get one that was. */
const neededState: Record<string, string> = {
  'assignPlaceholder.placeholder_id': 'placeholder',
  'decideSuggestions.issue_id': 'issue with suggestions',
  'deletePersonalAgent.agent_id': 'personal agent',
  'finishAppRotation.app_id': 'app in rotation',
  'getAppReplay.app_id': 'app in rotation',
  'getSessionChanges.session_id': 'open session',
  'openFileLink.token': 'file link',
  'removeMember.user_id': 'free member',
  'setSessionChanges.session_id': 'open session',
  'startAppReplay.app_id': 'app in rotation',
  'startImport.import_id': 'ready import',
  'stopAppReplay.app_id': 'app in rotation',
  'suggestChanges.session_id': 'open session',
  'updateInboxThread.subject_id': 'subject in inbox',
}

/** An operation with a second method has the same id followed by that method. */
const asNamed = (described: Described): Described => ({
  ...described,
  operationId: described.operationId.replace(/By[A-Z]+$/, '') as RouteName,
})

/** Creating is more frequent than deleting, and each tool is as frequent as an operation. */
function weightOf(name: RouteName) {
  const { method, path }: Route = routes[name]
  if (name === 'callMcp') return 40
  return method === 'DELETE' || !path.match(/^\/(?!docs|oauth-|\.well|healthz|readyz|metrics|llms|openapi|instance)\w/)
    ? 1
    : 3
}

// Never the callers' own apps and programs: approving one again would end their tokens.
const ownRef = (kind: string) => fc.nat(1000).map((index) => new Ref(kind, 'own', index))
const asApp = { client_id: ownRef('client'), redirect_uri: fc.constant(redirectUri) }
const asProgram = { client_id: ownRef('program'), redirect_uri: fc.constant(programUri) }

const authorizeFields = {
  response_type: sometimes<string>(5, fc.constantFrom('token', '<b>'), 'code'),
  state: fc.constantFrom('a state', '"\r\nx: y', '<script>'),
  code_challenge: fc.constant(challenge.challenge),
  code_challenge_method: sometimes<string>(5, fc.constant('plain'), 'S256'),
}
const authorizeQuery: Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record({
    ...asApp,
    ...authorizeFields,
    actor: fc.constant('app'),
    scope: fc.constantFrom('read', 'app:assignable', ''),
  }),
  fc.record({ ...asProgram, ...authorizeFields, scope: fc.constantFrom('read', 'read write') }),
  fc.record({
    ...authorizeFields,
    client_id: fc.oneof(ownRef('client'), fc.constantFrom('unknown', '<script>')),
    redirect_uri: fc.constantFrom(redirectUri, 'https://evil.invalid/', '"><script>', 'x'),
    scope: fc.constantFrom('admin', '<i>', 'read'),
    actor: fc.constantFrom('app', 'user', '', undefined),
  }),
)

const proof = { code: ownRef('code of a grant'), code_verifier: fc.constant(challenge.verifier) }
const tokenForm: Arbitrary<Body> = fc
  .oneof(
    fc.record({
      ...asApp,
      ...proof,
      grant_type: fc.constant('authorization_code'),
      client_secret: ownRef('client_secret'),
    }),
    fc.record({ ...asProgram, ...proof, grant_type: fc.constant('authorization_code') }),
    fc.record({ ...asProgram, grant_type: fc.constant('refresh_token'), refresh_token: ownRef('refresh') }),
    fc.record({ ...asProgram, token: ownRef('refresh') }),
    fc.record({
      ...asApp,
      grant_type: fc.constantFrom('password', '__proto__', 'refresh_token', 'authorization_code'),
      client_secret: fc.constantFrom('svc_sk_guess', 'x', '%'),
      refresh_token: ownRef('refresh'),
    }),
  )
  .map((form) => ({ form }))

/** Resolves a draft for a caller. */
export function addressed(draft: Draft, caller: Caller, world: World): { sent: Sent; about: string | undefined } {
  const writes = draft.route.method !== 'GET'
  const find = (value: Ref, about?: string) => world.knownIds.find(value, caller.mayRead, writes, about)
  let about: string | undefined
  const path = draft.path.map((part) => {
    if (typeof part === 'string') return part
    if (!(part instanceof Ref)) return (part as { raw: string }).raw
    const id = find(part, about)
    about ??= id
    return encodeURIComponent(id)
  })
  // A reference to a user does not change that user.
  const named = (value: Ref) => {
    if (value.kind === 'usr') return world.knownIds.find(value, caller.mayRead, false)
    // A suggestion is decided together with its issue.
    return find(value, value.kind === 'sug' ? about : undefined)
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(draft.query)) {
    if (value !== undefined)
      query.append(name, String(value instanceof Ref ? named(value) : value).replaceAll(/\p{Surrogate}/gu, '?'))
  }
  const body = withOwnHookPath(bytesOf(draft.body, named), caller)
  const workspaceId =
    draft.workspace === 'own' ? caller.workspaceId : draft.workspace === 'none' ? '' : find(draft.workspace)
  const type =
    draft.contentType ?? (draft.body && 'form' in draft.body ? 'application/x-www-form-urlencoded' : 'application/json')
  const search = [query.toString(), draft.rawQuery].filter(Boolean).join('&')
  return {
    about,
    sent: {
      method: draft.method,
      path: path.join('') + (search ? `?${search}` : ''),
      headers: [
        ...Object.entries(caller.headers).flat(),
        ...(workspaceId ? ['x-workspace-id', workspaceId] : []),
        ...(body ? ['content-type', type] : []),
        // A new address each time, because limits per address are not tested here.
        ...['x-forwarded-for', `10.${draft.address >> 16}.${(draft.address >> 8) & 255}.${draft.address & 255}`],
        ...draft.headers,
      ],
      body,
    },
  }
}

/** Webhooks of the other workspace go to the path whose readers may read them. */
const withOwnHookPath = (body: Buffer | undefined, { mayRead }: Caller) =>
  body && mayRead.has('there')
    ? Buffer.from(body.toString('latin1').replaceAll('/hook/free', '/hook/there'), 'latin1')
    : body

function bytesOf(body: Body, named: (value: Ref) => string): Buffer | undefined {
  if (!body) return undefined
  if ('raw' in body) return body.raw
  const resolve = (_: string, value: unknown) => (value instanceof Ref ? named(value) : value)
  if ('json' in body) return Buffer.from(JSON.stringify(body.json, resolve) ?? '')
  const fields = JSON.parse(JSON.stringify(body.form, resolve)) as Record<string, string>
  return Buffer.from(new URLSearchParams(fields).toString())
}
