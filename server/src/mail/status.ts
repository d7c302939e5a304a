import { accountLimits, type MailStatus } from '@baton/protocol'
import { hours, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { takeOneInHour } from '../http/rate-window.ts'
import { transact } from '../unit-of-work.ts'
import { queueMail } from './queue.ts'

const mostCounted = 10_000

export async function readMailStatus({ db, clock, config }: Context): Promise<MailStatus> {
  if (!config.mail) return { state: 'off', reason: null, queued: 0, failed_24h: 0 }
  const now = clock.now()
  const { reason, ...counts } = (await db.row<Omit<MailStatus, 'state'>>(sql`
    select (select reason from mail_state where paused_until > ${now}) as reason,
      (select count(*)::int from (
        select 1 from mails where state = 'pending' limit ${mostCounted}) pending) as queued,
      (select count(*)::int from (
        select 1 from mails where state = 'failed' and settled_at > ${plus(now, -hours(24))}
        limit ${mostCounted}) failed) as failed_24h`)) as Omit<MailStatus, 'state'>
  return { state: reason === null ? 'ok' : 'paused', reason, ...counts }
}

/** Queues a test mail to the caller's own address. */
export const sendTestMail = (ctx: Context, caller: Member) =>
  transact(ctx, caller, async (unit) => {
    if (!unit.config.mail) throw new ApiError('MAIL_NOT_CONFIGURED')
    await takeOneInHour(unit.tx, `test mails ${caller.id}`, accountLimits.testMailsPerPerson, unit.now)
    await queueMail(unit, ctx.keys, { kind: 'test', userId: caller.id, workspaceId: caller.workspaceId })
  })
