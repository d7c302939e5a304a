import type { Logger } from '../log.ts'
import { publishSpan } from '../trace.ts'
import type { Attempted } from './stages.ts'

/** Logs an attempt that failed, and publishes its span. */
export function reportAttempt(log: Logger, { claimed, prepared: { trace, startedAt }, outcome, relayed }: Attempted) {
  const { id, endpointId, type, attempts, cause } = claimed
  if (!outcome.ok) {
    log.warn(
      {
        delivery_id: id,
        endpoint_id: endpointId,
        attempt: attempts + 1,
        reason: outcome.reason,
        status: outcome.status,
        ...(cause && { request_id: cause.requestId }),
        ...(trace && { trace_id: trace.traceId }),
      },
      'a delivery attempt failed',
    )
  }
  if (!trace) return
  publishSpan(() => ({
    ...trace,
    name: `deliver ${type}`,
    kind: 'client',
    startedAtMs: startedAt.getTime(),
    durationMs: outcome.durationMs,
    attributes: {
      'baton.delivery_id': id,
      'baton.endpoint_id': endpointId,
      'baton.attempt': attempts + 1,
      'baton.relayed': String(relayed),
      ...(cause && { 'baton.request_id': cause.requestId }),
      ...(outcome.status !== null && { 'http.response.status_code': outcome.status }),
      ...(!outcome.ok && { 'error.type': outcome.reason }),
    },
    failed: !outcome.ok,
  }))
}
