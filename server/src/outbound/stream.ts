import type { Dispatcher } from 'undici'
import type { Connection } from './connections.ts'

/** Why a request had no answer, or why its answer broke off. */
export type FailureReason = 'timeout' | 'blocked_destination' | 'network_error' | 'tls_error'

export class OutboundFailure extends Error {
  readonly reason: FailureReason
  /** False if the receiver certainly got nothing. */
  readonly sent: boolean

  constructor(reason: FailureReason, sent: boolean) {
    super(reason)
    this.reason = reason
    this.sent = sent
  }
}

export interface OpenedResponse {
  status: number
  headers: [name: string, value: string][]
  body: ReadableStream<Uint8Array>
}

const bodyless = [204, 205, 304]
/** 1xx responses. An endless series of them would use a whole CPU until the caller gives up. */
const maxInformational = 10

/**
 * One request on a connection of its own, whose answer is read as it arrives. The connection is new and not reused, so
 * a request is never lost because a receiver closed an idle connection.
 */
export class StreamedRequest implements Dispatcher.DispatchHandler {
  readonly #connection: Connection
  readonly #drop: () => void
  readonly #reasonOf: (error: Error) => FailureReason
  #opened: (response: OpenedResponse) => void = () => {}
  #refused: (failure: OutboundFailure) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #body: ReadableStreamDefaultController<Uint8Array> | undefined
  #sent = false
  #ended = false
  #informational = 0

  constructor(connection: Connection, drop: () => void, reasonOf: (error: Error) => FailureReason) {
    this.#connection = connection
    this.#drop = drop
    this.#reasonOf = reasonOf
  }

  /** Rejects with an OutboundFailure. When `signal` aborts, the request and its answer end as a timeout. */
  open(request: Dispatcher.DispatchOptions, signal: AbortSignal): Promise<OpenedResponse> {
    return new Promise((resolve, reject) => {
      this.#opened = resolve
      this.#refused = reject
      if (signal.aborted) return this.#fail('timeout')
      signal.addEventListener('abort', () => this.#fail('timeout'), { once: true })
      this.#connection.dispatch(request, this)
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    if (this.#ended) return controller.abort(new Error('given up'))
    this.#controller = controller
    this.#sent = true
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ) {
    if (status < 200) {
      if (++this.#informational > maxInformational) this.#fail('network_error')
      return
    }
    const body = new ReadableStream<Uint8Array>(
      {
        start: (body) => {
          this.#body = body
        },
        pull: () => controller.resume(),
        cancel: () => this.#finish(),
      },
      { highWaterMark: 64 * 1024, size: (chunk) => chunk?.length ?? 0 },
    )
    const entries = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    )
    this.#opened({ status, headers: entries, body })
    if (bodyless.includes(status)) this.#finish()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    if (this.#ended) return
    this.#body?.enqueue(new Uint8Array(chunk))
    if ((this.#body?.desiredSize ?? 0) <= 0) controller.pause()
  }

  onResponseEnd() {
    if (this.#ended) return
    this.#body?.close()
    this.#finish()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error) {
    this.#fail(this.#reasonOf(error))
  }

  #fail(reason: FailureReason) {
    if (this.#ended) return
    const failure = new OutboundFailure(reason, this.#sent)
    this.#finish()
    this.#refused(failure)
    this.#body?.error(failure)
  }

  #finish() {
    if (this.#ended) return
    this.#ended = true
    this.#controller?.resume()
    this.#drop()
  }
}
