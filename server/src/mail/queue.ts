import { randomUUID } from 'node:crypto'
import { days, plus } from '../clock.ts'
import type { Keyring } from '../crypto.ts'
import type { Db, Queryable } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** Mails are kept for this time, whatever became of them. */
const keptMs = days(30)

/** The id of the queue in `Wakeups` of the topic `work`. */
export const mailWakeup = 'mail'

export interface NewMail {
  /** Selects the composer: 'reset', 'verify', 'invitation', 'notification', … */
  kind: string
  /** The recipient's account. */
  userId?: string | null
  /** Null: the user's stored address at the time of the attempt. */
  address?: string | null
  workspaceId?: string | null
  /** Ids and small values, no secrets. */
  data?: Record<string, unknown>
  /** Stored sealed, and erased when the mail is settled. */
  secret?: string
  /** Of the link in it: the mail is canceled afterwards. */
  expiresAt?: Date | null
  /** Default: now. */
  dueAt?: Date
}

/** Queues a mail in the transaction of its cause. Returns its id, or null without SMTP: then nothing is queued. */
export async function queueMail(
  { tx, now, config }: Pick<UnitOfWork, 'tx' | 'now' | 'config'>,
  keys: Keyring,
  mail: NewMail,
): Promise<string | null> {
  if (!config.mail) return null
  const { kind, userId = null, address = null, workspaceId = null, data = {}, expiresAt = null, dueAt = now } = mail
  const id = newId('mail')
  const secret = mail.secret === undefined ? null : keys.seal(mail.secret, id)
  const messageId = `<${randomUUID()}@${config.mail.from.address.split('@').at(-1)}>`
  await tx.run(sql`
    insert into mails (id, kind, user_id, address, workspace_id, data, secret, message_id, state, next_at, expires_at,
      created_at)
    values (${id}, ${kind}, ${userId}, ${address}, ${workspaceId}, ${json(data)}, ${secret}, ${messageId}, 'pending',
      ${dueAt}, ${expiresAt}, ${now})`)
  tx.afterCommit('work', [mailWakeup])
  return id
}

/** Cancels mails that are not needed any more. One that is being sent at this moment still arrives. */
export const cancelMails = ({ tx, now }: Pick<UnitOfWork, 'tx' | 'now'>, ids: readonly string[]) =>
  tx.run(sql`
    update mails set state = 'canceled', secret = null, claim_id = null, settled_at = ${now}
    where id = any(${ids}) and state = 'pending'`)

/** Deletes old mails, and erases the secrets of links that have expired. */
export async function sweepMails(db: Queryable, now: Date) {
  await db.run(sql`delete from mails where created_at <= ${plus(now, -keptMs)}`)
  await db.run(sql`
    update mails set state = 'canceled', secret = null, claim_id = null, settled_at = ${now}
    where state = 'pending' and next_at <= ${now} and expires_at <= ${now}`)
}

/** Seals secrets again with the current key, so that the previous key can be removed after one start. */
export async function resealMails(db: Db, keys: Keyring) {
  const old = await db.rows<{ id: string; secret: string }>(sql`
    select id, secret from mails
    where state = 'pending' and secret is not null and secret not like ${`${keys.currentPrefix}%`}`)
  for (const { id, secret } of old) {
    const sealed = keys.seal(keys.open(secret, id), id)
    await db.run(sql`update mails set secret = ${sealed} where id = ${id} and secret = ${secret}`)
  }
}

/** Deletes all mails of an erased person, sent or not. */
export const deleteMailsOf = (tx: Queryable, userId: string, email: string) =>
  tx.run(sql`delete from mails where user_id = ${userId} or lower(address) = ${email}`)
