import { randomBytes } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'

/** The request that caused a change. Changes that the service makes by itself have none. */
export interface Cause {
  requestId: string
  /** Of the request's own span, so that what follows from it belongs to its trace. */
  traceparent: string
}

/** The place of a span in its trace, as W3C Trace Context has it. */
export interface Trace {
  traceId: string
  spanId: string
  parentSpanId: string | null
  sampled: boolean
}

/** A step of a trace that has ended. */
export interface Span extends Trace {
  name: string
  kind: 'server' | 'client'
  startedAtMs: number
  durationMs: number
  attributes: Record<string, string | number>
  failed: boolean
}

/** Subscribers get each span as it ends. Without one no span is made (otel.mjs subscribes). */
const spans = channel('baton:span')

export function publishSpan(span: () => Span) {
  if (spans.hasSubscribers) spans.publish(span())
}

const format = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** A new span within the trace of the header, or within a new trace if the header is missing or invalid. */
export function startTrace(traceparent: string | string[] | undefined): Trace {
  const [, version, traceId = '', parentSpanId = '', flags = '', more] = format.exec(String(traceparent ?? '')) ?? []
  const isValid =
    version !== undefined &&
    version !== 'ff' &&
    !(version === '00' && more !== undefined) &&
    /[^0]/.test(traceId) &&
    /[^0]/.test(parentSpanId)
  const random = randomBytes(24).toString('hex')
  const spanId = random.slice(32)
  // Sampled: receivers that trace follow this flag, and would otherwise drop their own spans.
  return isValid
    ? { traceId, spanId, parentSpanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
    : { traceId: random.slice(0, 32), spanId, parentSpanId: null, sampled: true }
}

export const traceparentOf = ({ traceId, spanId, sampled }: Trace) => `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`

/**
 * The span of an attempt, within the trace of the event. Its id follows from delivery and attempt, so that the headers
 * of a past attempt can be shown as they were sent: an id of a delivery ends with twelve hexadecimal digits.
 */
export function attemptTrace(traceparent: string, deliveryId: string, attempt: number): Trace {
  const [, , traceId = '', parentSpanId = '', flags] = format.exec(traceparent) ?? []
  const spanId = deliveryId.slice(-12) + (attempt % 0x10000).toString(16).padStart(4, '0')
  return { traceId, spanId, parentSpanId, sampled: flags === '01' }
}
