import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../log.ts'
import { publishSpan } from '../trace.ts'
import type { Caller } from './caller.ts'

/** Logs a request that was answered, and publishes its span. */
export function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply, route: string) {
  const { id, method, trace, caller } = request
  const { statusCode: status, elapsedTime: durationMs } = reply
  log.info({
    request_id: id,
    trace_id: trace.traceId,
    method,
    route,
    status,
    ms: Math.round(durationMs),
    ...callerIds(caller),
  })
  publishSpan(() => ({
    ...trace,
    name: `${method} ${route}`,
    kind: 'server',
    startedAtMs: Date.now() - durationMs,
    durationMs,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'baton.request_id': id,
    },
    failed: status >= 500,
  }))
}

/** A person may have named a workspace of others, so it counts only with a role there. */
function callerIds(caller: Caller | undefined) {
  if (!caller || caller.kind === 'anonymous') return {}
  if (caller.kind === 'person') {
    const { id, role, workspaceId, client } = caller
    return { user: id, ...(role && { workspace_id: workspaceId }), ...(client && { client }) }
  }
  const { id, workspaceId, appId, installationId } = caller
  return { user: id, workspace_id: workspaceId, app: appId, installation_id: installationId }
}
