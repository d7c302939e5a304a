import { plus } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** Renewed every half second. After it, another process may claim the work. */
const leaseMs = 8000

/** A piece of work that is exclusive to this process while its lease holds. */
export interface Claimed {
  id: string
  sessionId: string
  causeSeq: number
  attempt: number
  claimId: string
}

/** Claims the oldest waiting work; of each session only the first piece, so that messages are handled in order. */
export const claim = (db: Queryable, now: Date, claimId: string, count: number): Promise<Claimed[]> =>
  db.rows(sql`
    with next as (
      select w.id from agent_work w
      where (w.lease_until is null or w.lease_until <= ${now}) and not exists (
        select from agent_work o where o.session_id = w.session_id and o.cause_seq < w.cause_seq)
      order by w.id limit ${count} for update skip locked
    )
    update agent_work w set claim_id = ${claimId}, lease_until = ${plus(now, leaseMs)}, attempts = attempts + 1
    from next where w.id = next.id
    returning w.id, w.session_id as "sessionId", w.cause_seq as "causeSeq", w.attempts as attempt,
      w.claim_id as "claimId"`)

/** Returns the claims that still hold. `shouldContinue` is false when the session ended or is stopping. */
export const renew = (
  db: Queryable,
  now: Date,
  claimed: Claimed[],
): Promise<{ id: string; shouldContinue: boolean }[]> =>
  db.rows(sql`
    update agent_work w set lease_until = ${plus(now, leaseMs)}
    from agent_sessions s
    where s.id = w.session_id and w.id = any(${claimed.map(({ id }) => id)})
      and w.claim_id = any(${claimed.map(({ claimId }) => claimId)})
    returning w.id, s.ended_at is null and s.state <> 'stopping' as "shouldContinue"`)

export const finish = (db: Queryable, { id, claimId }: Claimed) =>
  db.run(sql`delete from agent_work where id = ${id} and claim_id = ${claimId}`)

/** Any process may claim it again from `at` on. */
export const release = (db: Queryable, { id, claimId }: Claimed, at: Date) =>
  db.run(sql`update agent_work set claim_id = null, lease_until = ${at} where id = ${id} and claim_id = ${claimId}`)

/** For the start on the embedded database: it has one process at a time, so every claim is of a process that died. */
export const releaseAll = (db: Queryable) =>
  db.run(sql`update agent_work set claim_id = null, lease_until = null where claim_id is not null`)
