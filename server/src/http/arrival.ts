import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { ApiError } from './errors.ts'

/** Node's limits end a whole request; uploads may take longer than others. So only headers are left to Node. */
export interface Timeouts {
  /** For the headers, for an ordinary body, and for each pause within an upload. */
  requestMs: number
  /** For a whole upload, in place of what its operation says. */
  uploadMs?: number | undefined
}

export const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Bodies with limits of their own. */
const uploads = new WeakSet<IncomingMessage>()

/** Calls `onLate` if the body has not arrived completely after `ms`, whether or not it is read. */
export function limitArrival(request: IncomingMessage, ms: number, onLate: () => void) {
  if (!hasBody(request) || request.complete) return
  const timer = setTimeout(() => {
    if (!request.complete && !request.socket.destroyed && !uploads.has(request)) onLate()
  }, ms).unref()
  const stop = () => clearTimeout(timer)
  request.once('end', stop).once('close', stop)
}

/**
 * The body as a stream. Nothing is received before it is read, when `onStart` is called. It fails if the client
 * disconnects, sends nothing for `pauseMs` or is not done after `totalMs`; time in which the reader does not read does
 * not count as a pause. A reader that stops early leaves the connection open, so that the client gets an answer.
 */
export function arriving(
  request: IncomingMessage,
  { pauseMs, totalMs, onStart }: { pauseMs: number; totalMs: number; onStart: () => void },
): Readable {
  uploads.add(request)
  let pause: NodeJS.Timeout | undefined
  let total: NodeJS.Timeout | undefined
  const late = () => body.destroy(new ApiError('REQUEST_TIMEOUT', {}, { headers: { connection: 'close' } }))
  const awaitData = () => {
    clearTimeout(pause)
    pause = setTimeout(() => (body.writableNeedDrain ? awaitData() : late()), pauseMs)
  }
  const stopTimers = () => {
    clearTimeout(pause)
    clearTimeout(total)
  }
  // Also if all has arrived: what is not read yet is lost with the connection.
  const disconnected = () => {
    if (!request.readableEnded) body.destroy(request.errored ?? new ApiError('INVALID_REQUEST'))
  }
  const start = () => {
    onStart()
    total = setTimeout(late, totalMs)
    awaitData()
    request.on('data', awaitData).once('end', stopTimers)
    request.pipe(body)
  }
  const body = new Arriving(start)
  request.once('close', disconnected).on('error', disconnected)
  body
    .on('error', () => {})
    .once('close', () => {
      stopTimers()
      request.off('data', awaitData).unpipe(body)
      uploads.delete(request)
      // What is still in transit is dropped, until `limitArrival` ends it.
      limitArrival(request, pauseMs, () => request.socket.destroy())
      request.resume()
    })
  // The connection may have been lost while the caller was identified.
  if (request.destroyed) disconnected()
  return body
}

/** Calls `start` when it is first read. */
class Arriving extends PassThrough {
  #start: (() => void) | undefined

  constructor(start: () => void) {
    super()
    this.#start = start
  }

  override _read(size: number) {
    const start = this.#start
    this.#start = undefined
    start?.()
    super._read(size)
  }
}

const malformed = new WeakSet<Socket>()

/** After the bytes of a request came others that are no request: its Content-Length was wrong. */
export const markMalformed = (socket: Socket) => void malformed.add(socket)
export const isMalformed = ({ socket }: IncomingMessage) => malformed.has(socket)
