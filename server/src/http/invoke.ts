import { isPage, type Operation, successStatus } from '@baton/protocol'
import { Type } from 'typebox'
import type { Context } from '../context.ts'
import type { Cause } from '../trace.ts'
import { admit, type Caller } from './caller.ts'
import { ApiError, notFound } from './errors.ts'
import { type Alias, type Headers, type Mounted, Reply, type Upload } from './route.ts'
import { bodyCheck, type Check, queryCheck, textProblem } from './validate.ts'

export interface Input {
  params: Record<string, string>
  query: Record<string, unknown>
  /** Undefined if none was sent. */
  body: unknown
  /** By lower-case name. */
  headers: Headers
  address: string
  alias?: Alias
  upload?: Upload | undefined
  /** The HTTP request that the call belongs to. Absent for calls from inside. */
  cause?: Cause | undefined
}

export interface Answer {
  status: number
  headers: Record<string, string>
  body: unknown
}

const Nothing = Type.Object({}, { additionalProperties: false })

/**
 * The one door. Every call, over HTTP or from inside, goes through `invoke`: it checks caller and input against what the
 * operation declares before it runs the handler, so that every entry point makes the same checks.
 */
export class Door {
  readonly #ctx: Context
  readonly #mounted: Map<Operation, { handler: Mounted['handler']; checkQuery: Check; checkBody: Check }>

  constructor(ctx: Context, declared: Record<string, Operation>, mounted: readonly Mounted[]) {
    refuseMismatch(declared, mounted)
    this.#ctx = ctx
    this.#mounted = new Map(
      mounted.map(({ operation, handler }) => [
        operation,
        {
          handler,
          checkQuery: operation.anyQuery ? () => {} : queryCheck(operation.query ?? Nothing),
          checkBody: operation.bodyCheckedByVerb ? () => {} : bodyCheck(operation.body ?? Nothing),
        },
      ]),
    )
  }

  /** Throws unless this caller may use the operation: for lists that are read in another way than by its handler. */
  admit({ route }: Operation, caller: Caller) {
    admit(route, caller)
  }

  async invoke(operation: Operation, caller: Caller, input: Input): Promise<Answer> {
    const { params, query } = input
    const body = input.body === undefined && operation.bodyOptional ? {} : input.body
    const mounted = this.#mounted.get(operation)
    if (!mounted) throw new Error(`not mounted: ${operation.route.method} ${operation.route.path}`)
    admit(operation.route, caller)
    if (!Object.values(params).every(isPlausibleId)) throw notFound()
    if (isPage(operation.route)) dropUnknown(query, operation)
    mounted.checkQuery(query)
    if (body === undefined && operation.body) {
      throw new ApiError('INVALID_JSON', {}, { message: 'The request needs a JSON body.' })
    }
    if (caller.kind === 'app') refuseForApps(operation, body)
    mounted.checkBody(body === undefined ? {} : body)
    const ctx = input.cause ? { ...this.#ctx, cause: input.cause } : this.#ctx
    const call = { ctx, caller, ...input, body } as never
    const result = await mounted.handler(call)
    const { body: answer, headers, status } = result instanceof Reply ? result : new Reply(result, {})
    return { status: status ?? successStatus(operation), headers, body: answer }
  }
}

/** Links to a page may have parameters of others, such as `utm_source`. */
function dropUnknown(query: Record<string, unknown>, { query: known }: Operation) {
  for (const name of Object.keys(query)) if (!known || !Object.hasOwn(known.properties, name)) delete query[name]
}

/** Checked before validation: a field that apps may not send is refused whatever its value. */
function refuseForApps({ notFromApps = {} }: Operation, body: unknown) {
  if (typeof body !== 'object' || body === null) return
  for (const [field, code] of Object.entries(notFromApps)) {
    if (Object.hasOwn(body, field)) throw new ApiError(code, { reason: 'app_actor' })
  }
}

/** Whether an id can exist: ids are short, and the database stores neither NUL nor lone surrogates. */
const isPlausibleId = (id: unknown) => typeof id === 'string' && id.length <= 200 && !textProblem(id)

/** Stops the start when an operation is mounted but not declared, or declared but not mounted. */
function refuseMismatch(declared: Record<string, Operation>, mounted: readonly Mounted[]) {
  const declaredOperations = new Set(Object.values(declared))
  const mountedOperations = new Set(mounted.map(({ operation }) => operation))
  const name = ({ route }: Operation) => `${route.method} ${route.path}`
  const problems = [
    ...[...mountedOperations].filter((it) => !declaredOperations.has(it)).map((it) => `not declared: ${name(it)}`),
    ...[...declaredOperations].filter((it) => !mountedOperations.has(it)).map((it) => `not mounted: ${name(it)}`),
  ]
  if (mountedOperations.size < mounted.length) problems.push('an operation is mounted twice')
  if (problems.length > 0) throw new Error(`routes do not match the protocol: ${problems.join('; ')}`)
}
