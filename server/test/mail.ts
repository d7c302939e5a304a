import type { Context } from '../src/context.ts'
import { sql } from '../src/db/sql.ts'
import type { Composed } from '../src/mail/compose.ts'
import { type NewMail, queueMail } from '../src/mail/queue.ts'
import { transact } from '../src/unit-of-work.ts'
import type { TestApp } from './harness.ts'

/** Queues a mail as a verb does; by default a test mail. */
export const queue = (app: TestApp, mail: Partial<NewMail>) =>
  transact(app.ctx, null, (unit) => queueMail(unit, app.ctx.keys, { kind: 'test', ...mail }))

export interface StoredMail {
  id: string
  kind: string
  address: string | null
  state: 'pending' | 'sent' | 'failed' | 'canceled'
  attempts: number
  secret: string | null
  problem: string | null
  message_id: string
  next_at: string
}

export const storedMails = ({ ctx }: { ctx: Context }) =>
  ctx.db.rows<StoredMail>(sql`
    select id, kind, address, state, attempts, secret, problem, message_id, next_at from mails order by id`)

export const onlyMail = async (app: TestApp) => {
  const mails = await storedMails(app)
  if (mails.length !== 1) throw new Error(`${mails.length} mails are stored`)
  return mails[0] as StoredMail
}

/** A composer for texts that a test gives. */
export const saying = (composed: Composed | null) => async () => composed
