import type { PingResult } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Cause } from '../trace.ts'
import { excerpt } from './complete.ts'
import { openSecrets, type SealedSecrets } from './endpoints.ts'
import { prepare } from './message.ts'
import { send } from './send.ts'
import type { BodyFormat } from './stages.ts'

interface TestMessage {
  id: string
  workspaceId: string
  endpointId: string
  eventId: string
  type: string
  action: string
  envelope: string
  format?: BodyFormat | null
  cause: Cause | null
}

/** Sends a test once, in any state of the endpoint (webhook.test-once). Returns the result, and a function to save it. */
export async function sendNow(ctx: Context, message: TestMessage, url: string, sealed: SealedSecrets) {
  const startedAt = ctx.clock.now()
  const { secret, nextSecret } = openSecrets(ctx.keys, message.endpointId, startedAt, sealed)
  const prepared = prepare(message, secret, startedAt, nextSecret)
  const { outcome } = await send(ctx, { ...message, url, hasListener: true }, prepared)
  const result: PingResult = {
    ok: outcome.ok,
    status: outcome.status,
    reason: outcome.ok ? null : outcome.reason,
    duration_ms: Math.round(outcome.durationMs),
  }
  const { id, workspaceId, endpointId, eventId, type, action, format = null } = message
  const save = async (tx: Tx) => {
    await tx.run(sql`
      insert into deliveries
        (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, created_at, settled_at,
          origin, format, body)
      values (${id}, ${workspaceId}, ${endpointId}, ${eventId}, ${type}, ${action},
        ${result.ok ? 'succeeded' : 'failed'}, 1, 1, ${startedAt}, ${ctx.clock.now()}, 'test', ${format},
        ${format && message.envelope})`)
    await tx.run(sql`
      insert into attempts
        (delivery_id, number, workspace_id, started_at, duration_ms, http_status, reason, response_excerpt, signature,
          standard_signature)
      values (${id}, 1, ${workspaceId}, ${startedAt}, ${result.duration_ms}, ${result.status}, ${result.reason},
        ${outcome.status === null ? null : excerpt(outcome.body)}, ${prepared.signature},
        ${prepared.standardSignature})`)
  }
  return { result, save }
}
