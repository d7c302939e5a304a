import type { AgentCard } from '@a2a-js/sdk'
import type { Client, RequestOptions } from '@a2a-js/sdk/client'
import { programLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Outcome } from '../outbound/client.ts'
import { type FailureReason, OutboundFailure } from '../outbound/stream.ts'
import type { UsedInterface } from './card.ts'
import { credentialHeader } from './credential.ts'
import { loadClient } from './sdk.ts'

/** An agent as a worker calls it. */
export interface Agent {
  appId: string
  interface: UsedInterface
  streaming: boolean
  /** Sealed. */
  credential: string | null
}

/** The request as sent, with a mask in place of the credential (a2a.credential-sealed). */
export interface SentRequest {
  headers: Record<string, string>
  body: string
}

/** Why a call failed, and so what may follow. */
export type CallFailure =
  /** The agent certainly did not take it: it can be sent again. */
  | { kind: 'not_received'; reason: FailureReason | 'http_error'; status: number | null }
  /** The agent may have taken it. */
  | { kind: 'unknown'; reason: FailureReason | 'http_error'; status: number | null }
  | { kind: 'unauthorized'; status: number }
  /** The agent answered with an error. `about`: its task or context is unknown, ended or does not fit. */
  | { kind: 'refused'; about: 'place' | 'task' | 'other'; status: number | null; message: string }

/** Concurrent calls to one app. */
const callsPerApp = 8
const mask = '***'
const maxExcerpt = 4000

/** Calls agents through the guarded connection, with the limits of a2a.limits. */
export class AgentCalls {
  readonly #ctx: Context
  readonly #waiting = new Map<string, { running: number; queue: (() => void)[] }>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Waits for a free call to the app. The returned function frees it again. */
  async enter({ appId }: Agent): Promise<() => void> {
    const calls = this.#waiting.get(appId) ?? { running: 0, queue: [] }
    this.#waiting.set(appId, calls)
    if (calls.running >= callsPerApp) await new Promise<void>((resolve) => calls.queue.push(resolve))
    else calls.running += 1
    let left = false
    return () => {
      if (left) return
      left = true
      const next = calls.queue.shift()
      if (next) return next()
      calls.running -= 1
      if (calls.running === 0) this.#waiting.delete(appId)
    }
  }

  /** One call that ends within `deadlineMs`. */
  async run<T>(agent: Agent, deadlineMs: number, work: (client: Client, options: RequestOptions) => Promise<T>) {
    const leave = await this.enter(agent)
    const call = new Call(this.#ctx, agent)
    const cancel = this.#ctx.clock.after(deadlineMs, () => call.abort())
    try {
      return { ok: true as const, value: await work(await call.client(), call.options), call }
    } catch (error) {
      return { ok: false as const, failure: call.failureOf(error), call }
    } finally {
      cancel()
      leave()
    }
  }

  /** A call whose answer is a stream. The caller limits its time with `abort`. */
  open(agent: Agent): Call {
    return new Call(this.#ctx, agent)
  }
}

/** One call, with what was sent and received, which the library's errors do not tell. */
export class Call {
  request: SentRequest | null = null
  status: number | null = null
  /** The start of the answer. */
  excerpt = ''
  /** The answer was longer than permitted. */
  isTooLarge = false
  readonly #ctx: Context
  readonly #agent: Agent
  readonly #abort = new AbortController()
  #failure: OutboundFailure | null = null

  constructor(ctx: Context, agent: Agent) {
    this.#ctx = ctx
    this.#agent = agent
  }

  get options(): RequestOptions {
    return { signal: this.#abort.signal }
  }

  abort() {
    this.#abort.abort()
  }

  async client(): Promise<Client> {
    const sdk = await loadClient()
    const { url, binding, tenant } = this.#agent.interface
    const card = cardFor(this.#agent)
    const options = { fetchImpl: this.#fetch as typeof fetch, legacyCompat: { enabled: true } }
    const factory =
      binding === 'JSONRPC' ? new sdk.JsonRpcTransportFactory(options) : new sdk.RestTransportFactory(options)
    const transport = await factory.create(url, card)
    return new sdk.Client(tenant ? new sdk.TenantTransportDecorator(transport, tenant) : transport, card)
  }

  failureOf(error: unknown): CallFailure {
    const { status } = this
    const failed = this.#failure ?? (error instanceof OutboundFailure ? error : null)
    if (failed && !failed.sent) return { kind: 'not_received', reason: failed.reason, status: null }
    if (status === 429 || status === 503) return { kind: 'not_received', reason: 'http_error', status }
    if (status === 401 || status === 403) return { kind: 'unauthorized', status }
    const reason = reasonOf(error)
    const message = error instanceof Error ? error.message : String(error)
    if (reason !== undefined && reason !== 'INTERNAL_ERROR') {
      const about = reason === 'TASK_NOT_FOUND' ? 'task' : placeErrors.includes(reason) ? 'place' : 'other'
      return { kind: 'refused', about, status, message }
    }
    if (failed || this.isTooLarge || status === null)
      return { kind: 'unknown', reason: failed?.reason ?? 'network_error', status: null }
    if (status >= 500) return { kind: 'unknown', reason: 'http_error', status }
    return { kind: 'refused', about: 'other', status, message }
  }

  /** The outcome of a delivery's attempt. */
  outcome(startedAt: Date, failure?: CallFailure): Outcome {
    const durationMs = this.#ctx.clock.now().getTime() - startedAt.getTime()
    const rest = { durationMs, body: Buffer.from(this.excerpt), whole: true }
    if (!failure) return { ok: true, status: this.status ?? 200, ...rest }
    const status = failure.status ?? this.status
    if ('reason' in failure && failure.reason !== 'http_error')
      return { ok: false, reason: failure.reason, status: null, ...rest }
    if (status === null) return { ok: false, reason: 'network_error', status, ...rest }
    return { ok: false, reason: status >= 300 && status < 400 ? 'redirect' : 'http_error', status, ...rest }
  }

  readonly #fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { keys, outbound } = this.#ctx
    // The credential goes to the approved origin alone, whatever the library does.
    if (new URL(input).origin !== new URL(this.#agent.interface.url).origin)
      throw new OutboundFailure('blocked_destination', false)
    const headers = Object.fromEntries(new Headers(init.headers).entries())
    const credential = credentialHeader(keys, this.#agent.appId, this.#agent.credential)
    const body = typeof init.body === 'string' ? init.body : ''
    const own = { ...headers, 'user-agent': 'Baton-A2A/1', 'accept-encoding': 'identity' }
    this.request ??= { headers: { ...own, ...masked(credential) }, body }
    try {
      const opened = await outbound.open(
        {
          method: (init.method ?? 'GET') as 'GET' | 'POST' | 'DELETE',
          url: String(input),
          headers: { ...own, ...credential },
          ...(body ? { body: Buffer.from(body) } : {}),
        },
        this.#abort.signal,
      )
      this.status = opened.status
      const isStream = opened.headers.some(
        ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
      )
      const limited = opened.body.pipeThrough(this.#limit(isStream))
      return new Response(hasBody(opened.status) ? limited : null, { status: opened.status, headers: opened.headers })
    } catch (error) {
      if (error instanceof OutboundFailure) this.#failure = error
      throw error
    }
  }

  /** Ends an answer that is too long, and keeps its start. */
  #limit(isStream: boolean) {
    let [total, inEvent, isLineEmpty] = [0, 0, true]
    const max = isStream ? programLimits.a2aStreamBytes : programLimits.a2aEventBytes
    return new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (this.excerpt.length < maxExcerpt)
          this.excerpt += Buffer.from(chunk.subarray(0, maxExcerpt)).toString('utf8')
        total += chunk.length
        for (const byte of isStream ? chunk : []) {
          inEvent = byte === lineFeed && isLineEmpty ? 0 : inEvent + 1
          isLineEmpty = byte === lineFeed || (isLineEmpty && byte === carriageReturn)
          if (inEvent > programLimits.a2aEventBytes) break
        }
        if (total <= max && inEvent <= programLimits.a2aEventBytes) return controller.enqueue(chunk)
        this.isTooLarge = true
        this.abort()
        controller.error(new OutboundFailure('network_error', true))
      },
    })
  }
}

const [lineFeed, carriageReturn] = [10, 13]
const hasBody = (status: number) => ![204, 205, 304].includes(status)

const masked = (credential: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(credential).map(([name, value]) => [name, value.startsWith('Bearer ') ? `Bearer ${mask}` : mask]),
  )

/** Errors of the protocol that can mean that a task or context is unknown, ended or does not fit. */
const placeErrors = ['UNSUPPORTED_OPERATION', 'INVALID_PARAMS']

/** The protocol's own name of an error, which events of a stream have as the cause. */
function reasonOf(error: unknown): string | undefined {
  const { reason, cause } = (error ?? {}) as { reason?: unknown; cause?: unknown }
  if (typeof reason === 'string' && /^[A-Z_]+$/.test(reason)) return reason
  return cause ? reasonOf(cause) : undefined
}

/** The library chooses transport and protocol version by the card. */
const cardFor = ({ interface: used, streaming }: Agent): AgentCard => ({
  name: '',
  description: '',
  supportedInterfaces: [
    { url: used.url, protocolBinding: used.binding, protocolVersion: used.protocol_version, tenant: used.tenant },
  ],
  provider: undefined,
  version: '',
  capabilities: { streaming, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  signatures: [],
})
