import { createHash } from 'node:crypto'
import { type AgentActivity, limits } from '@baton/protocol'
import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { readActivities } from './activities.ts'

export interface Idempotency {
  key: string
  requestHash: Buffer
}

/** activity.idempotency-key-length */
export function checkedKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const length = Array.from(String(header)).length
  if (Array.isArray(header) || length < 1 || length > limits.idempotencyKey) {
    throw invalid({ 'Idempotency-Key': `must be one header of 1 to ${limits.idempotencyKey} characters` })
  }
  return header
}

/** The order of the keys in the body does not matter. */
export function hashOf(caller: Actor, body: object): Buffer {
  const ordered = JSON.stringify(body, (_, value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
  return createHash('sha256').update(`${caller.id} ${ordered}`).digest()
}

/** The activity that was stored with the idempotency key, if any. */
export interface KnownActivity {
  known_seq: number | null
  known_hash: Uint8Array | null
}

export const findKnown = async (tx: Tx, sessionId: string, key: string) =>
  tx.row<KnownActivity>(sql`
    select seq as known_seq, request_hash as known_hash from agent_activities
    where session_id = ${sessionId} and idempotency_key = ${key}`)

/** The activity stored by the first request with this key, or null. The same key with another body is refused. */
export async function replay(
  { tx, config }: UnitOfWork<unknown, Queryable>,
  sessionId: string,
  known: KnownActivity | undefined,
  idempotency: Idempotency | undefined,
): Promise<AgentActivity | null> {
  if (!idempotency || !known?.known_hash) return null
  if (!idempotency.requestHash.equals(known.known_hash)) throw new ApiError('IDEMPOTENCY_KEY_REUSED')
  const [original] = await readActivities(tx, config, sql`a.session_id = ${sessionId} and a.seq = ${known.known_seq}`)
  return found(original)
}
