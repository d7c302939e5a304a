import { limits, listenUrl } from '@baton/protocol'
import type { Dispatcher } from 'undici'
import type { Clock } from '../clock.ts'
import type { AllowedTarget } from '../config.ts'
import { BlockedDestination, Connector, TlsFailure } from './connect.ts'
import { type Connection, Connections } from './connections.ts'
import { type FailureReason, type OpenedResponse, OutboundFailure, StreamedRequest } from './stream.ts'
import { judgeUrl, type Refusal, type Target } from './target.ts'

export interface OutboundRequest {
  method: 'POST' | 'GET' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: Buffer
}

/** `status` is null without a response; `body` has the bytes read, not decoded; `whole` is false if there were more. */
export type Outcome = { durationMs: number; body: Buffer; whole: boolean } & Verdict

type Verdict =
  | { ok: true; status: number }
  | { ok: false; reason: FailureReason; status: null }
  | { ok: false; reason: 'redirect' | 'http_error'; status: number }

export interface GuardedClientOptions {
  allow: readonly AllowedTarget[]
  clock: Clock
  /** For DNS, TCP, TLS and headers together. */
  deadlineMs?: number
  dnsServers?: string[]
  /** Certificate authorities to trust instead of the default ones. */
  ca?: string
}

const maxCachedTargets = 1000
/** 1xx responses. An endless series of them would use a whole CPU until the deadline. */
const maxInformational = 10
const nothing = Buffer.alloc(0)
export const notSent = (reason: FailureReason): Outcome => ({
  ok: false,
  reason,
  status: null,
  durationMs: 0,
  body: nothing,
  whole: false,
})

/**
 * Sends requests to addresses from users and apps: only to public or allowed ones, without following redirects, within
 * the deadline, and reading at most `maxBodyBytes`.
 */
export class GuardedClient {
  readonly #allow: readonly AllowedTarget[]
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #connections: Connections
  readonly #targets = new Map<string, Target>()

  constructor({ allow, clock, deadlineMs = limits.webhookDeadlineMs, dnsServers, ca }: GuardedClientOptions) {
    this.#allow = allow
    this.#clock = clock
    this.#deadlineMs = deadlineMs
    this.#connections = new Connections(new Connector({ allow, dnsServers, ca }))
  }

  /** Never rejects. */
  send(request: OutboundRequest, maxBodyBytes: number = limits.webhookResponseBytes): Promise<Outcome> {
    // manifest.listen-invalid-accepted: this URL has no receiver; skip the DNS lookup.
    if (request.url === listenUrl) return Promise.resolve(notSent('network_error'))
    const target = this.#judge(request.url)
    if ('refused' in target) return Promise.resolve(notSent('blocked_destination'))
    const { method, headers, body = null } = request
    return new Promise((settle) => {
      const attempt = new Attempt(this.#connections, target.origin, this.#clock, maxBodyBytes, settle)
      attempt.start({ path: target.path, method, headers, body }, this.#deadlineMs)
    })
  }

  /**
   * Opens a request whose answer is read as it arrives. The caller limits time and size, with `signal`. Rejects with an
   * OutboundFailure.
   */
  open({ method, url, headers, body }: OutboundRequest, signal: AbortSignal): Promise<OpenedResponse> {
    const target = this.#judge(url)
    if ('refused' in target) return Promise.reject(new OutboundFailure('blocked_destination', false))
    const connection = this.#connections.create(target.origin)
    const request = new StreamedRequest(connection, () => void this.#connections.drop(connection), reasonOf)
    return request.open({ path: target.path, method, headers, body: body ?? null }, signal)
  }

  /** Requests in progress, and later ones, end as network errors. */
  close(): Promise<void> {
    return this.#connections.close()
  }

  /** Cached, because the same few URLs repeat and the result for a URL does not change. */
  #judge(url: string): Target | Refusal {
    const known = this.#targets.get(url)
    if (known) return known
    const verdict = judgeUrl(url, this.#allow)
    if ('refused' in verdict) return verdict
    if (this.#targets.size >= maxCachedTargets) this.#targets.clear()
    this.#targets.set(url, verdict)
    return verdict
  }
}

/** One request, from dispatch to outcome. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #connections: Connections
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #maxBodyBytes: number
  readonly #settle: (outcome: Outcome) => void
  #cancelDeadline: (() => void) | undefined
  #status: number | undefined
  #informational = 0
  #buffer = nothing
  #bytes = 0
  #settled = false

  constructor(
    connections: Connections,
    origin: string,
    clock: Clock,
    maxBodyBytes: number,
    settle: (outcome: Outcome) => void,
  ) {
    this.#connections = connections
    this.#connection = connections.take(origin)
    this.#clock = clock
    this.#startedAt = clock.now().getTime()
    this.#maxBodyBytes = maxBodyBytes
    this.#settle = settle
  }

  start(request: Dispatcher.DispatchOptions, deadlineMs: number) {
    this.#cancelDeadline = this.#clock.after(deadlineMs, () => this.#giveUp('timeout'))
    this.#connection.dispatch(request, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    // The connection is already closed; this makes sure that nothing is sent for an attempt that was given up.
    if (this.#settled) controller.abort(new Error('given up'))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number) {
    if (status >= 200) this.#status = status
    else if (++this.#informational > maxInformational) this.#giveUp('network_error')
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer) {
    if (this.#settled) return
    const room = this.#maxBodyBytes - this.#bytes
    this.#append(chunk.length > room ? chunk.subarray(0, room) : chunk)
    if (chunk.length > room) this.#giveUp('network_error')
  }

  onResponseEnd() {
    if (this.#settled) return
    this.#connections.release(this.#connection)
    this.#end('network_error', true)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error) {
    this.#giveUp(reasonOf(error))
  }

  #giveUp(reason: FailureReason) {
    if (this.#settled) return
    this.#end(reason)
    void this.#connections.drop(this.#connection)
  }

  /** The status decides: after the headers it does not matter how the body ends. */
  #end(reason: FailureReason, whole = false) {
    this.#settled = true
    this.#cancelDeadline?.()
    const verdict: Verdict = this.#status ? verdictOf(this.#status) : { ok: false, reason, status: null }
    const durationMs = this.#clock.now().getTime() - this.#startedAt
    this.#settle({ ...verdict, durationMs, body: this.#buffer.subarray(0, this.#bytes), whole })
  }

  /** Copies, because many small chunks take far more memory than their bytes. */
  #append(chunk: Buffer) {
    const bytes = this.#bytes + chunk.length
    if (bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#maxBodyBytes, Math.max(bytes, 2 * this.#buffer.length)))
      this.#buffer.copy(larger, 0, 0, this.#bytes)
      this.#buffer = larger
    }
    chunk.copy(this.#buffer, this.#bytes)
    this.#bytes = bytes
  }
}

/** What a status means for an attempt, whether it came from a URL or a listener. */
export function verdictOf(status: number): Verdict {
  if (status < 300) return { ok: true, status }
  return { ok: false, reason: status < 400 ? 'redirect' : 'http_error', status }
}

function reasonOf(error: NodeJS.ErrnoException): FailureReason {
  if (error instanceof BlockedDestination) return 'blocked_destination'
  if (error instanceof TlsFailure || /^(?:EPROTO$|ERR_SSL_)/.test(error.code ?? '')) return 'tls_error'
  if (error.code === 'ETIMEOUT' || error.code === 'ETIMEDOUT') return 'timeout'
  return 'network_error'
}
