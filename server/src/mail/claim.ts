import { randomUUID } from 'node:crypto'
import { plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type NextState, pauseMs } from './outcome.ts'

/** Longer than an attempt can take. */
const claimMs = 120_000

/** A mail that this worker alone sends until its claim expires. */
export interface ClaimedMail {
  id: string
  claimId: string
  kind: string
  userId: string | null
  workspaceId: string | null
  /** Null: the account has no address, or is disabled. */
  address: string | null
  /** Whether the address of the account refuses mail. */
  addressRefused: boolean
  data: Record<string, unknown>
  secret: string | null
  messageId: string
  attempts: number
  expired: boolean
  createdAt: string
}

type Claim = Pick<ClaimedMail, 'id' | 'claimId'>

/** The mail that is due for the longest time; undefined if none is due, or while the queue is paused. */
export const claimMail = (db: Db, now: Date) =>
  db.row<ClaimedMail>(sql`
    with due as (
      select id from mails
      where state = 'pending' and next_at <= ${now}
        and not exists (select 1 from mail_state where paused_until > ${now})
      order by next_at, id limit 1 for update skip locked
    ), claimed as (
      update mails m set claim_id = ${randomUUID()}, next_at = ${plus(now, claimMs)} from due where m.id = due.id
      returning m.*
    )
    select c.id, c.claim_id as "claimId", c.kind, c.user_id as "userId", c.workspace_id as "workspaceId",
      coalesce(c.address, case when u.disabled_at is null then u.email end) as address,
      u.mail_problem is not null and (c.address is null or c.address = u.email) as "addressRefused",
      c.data, c.secret, c.message_id as "messageId", c.attempts,
      coalesce(c.expires_at <= ${now}, false) as expired, c.created_at as "createdAt"
    from claimed c left join users u on u.id = c.user_id`)

const held = ({ id, claimId }: Claim) => sql`id = ${id} and claim_id = ${claimId} and state = 'pending'`

/** Stores the result of an attempt. Does nothing when the claim expired and another worker took the mail. */
export const settle = (db: Db, claim: Claim, next: NextState, now: Date) =>
  next.state === 'pending'
    ? db.run(sql`
        update mails set attempts = ${next.attempts}, next_at = ${next.nextAt}, problem = ${next.problem},
          claim_id = null
        where ${held(claim)}`)
    : db.run(sql`
        update mails set state = ${next.state}, attempts = ${next.attempts}, problem = ${next.problem},
          claim_id = null, secret = null, settled_at = ${now}
        where ${held(claim)}`)

export const cancel = (db: Db, claim: Claim, now: Date) =>
  db.run(sql`
    update mails set state = 'canceled', claim_id = null, secret = null, settled_at = ${now} where ${held(claim)}`)

/** Returns a mail to the queue without using up an attempt. */
export const release = (db: Db, claim: Claim, nextAt: Date) =>
  db.run(sql`update mails set claim_id = null, next_at = ${nextAt} where ${held(claim)}`)

/** For the only process of an embedded database, which starts after the one that held the claims has ended. */
export const releaseAll = (db: Db, now: Date) =>
  db.run(sql`update mails set claim_id = null, next_at = ${now} where state = 'pending' and claim_id is not null`)

/**
 * Pauses the queue for all workers, and returns until when. Attempts that fail together count as one pause. The mail
 * that failed is due again after the others, so that one mail which breaks connections cannot block them.
 */
export async function pauseQueue(db: Db, reason: string, now: Date): Promise<Date> {
  return db.tx(async (tx) => {
    // One statement: another worker may delete the row at any time (`endTrouble`).
    const { pausedUntil, pauses } = (await tx.row<{ pausedUntil: string; pauses: number }>(sql`
      insert into mail_state as m (id, paused_until, pauses, reason) values (1, ${now}, 0, ${reason})
      on conflict (id) do update set reason = m.reason
      returning paused_until as "pausedUntil", pauses`)) as { pausedUntil: string; pauses: number }
    const until = new Date(pausedUntil)
    if (until > now) return until
    const next = plus(now, pauseMs(pauses))
    await tx.run(sql`update mail_state set paused_until = ${next}, pauses = ${pauses + 1}, reason = ${reason}`)
    return next
  })
}

/** The server works: the next trouble begins with the shortest pause again. */
export const endTrouble = (db: Db, now: Date) => db.run(sql`delete from mail_state where paused_until <= ${now}`)
