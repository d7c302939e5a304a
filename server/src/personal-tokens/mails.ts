import { accountLimits } from '@baton/protocol'
import { repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { takeExpiringTokens } from '../login/personal-tokens.ts'
import type { Composers } from '../mail/compose.ts'
import { queueMail } from '../mail/queue.ts'
import { transact } from '../unit-of-work.ts'

const everyMs = 60_000
const tokensAtOnce = 100

/** Queues one mail for each personal token that expires within days. Any number of workers may run it. */
export async function remindOfExpiry(ctx: Context) {
  if (!ctx.config.mail) return
  const remind = () =>
    transact(ctx, null, async (unit) => {
      const tokens = await takeExpiringTokens(unit.tx, unit.now, tokensAtOnce)
      for (const { id, userId, workspaceId } of tokens) {
        await queueMail(unit, ctx.keys, { kind: 'token_expires', userId, workspaceId, data: { token_id: id } })
      }
      return tokens.length
    })
  while ((await remind()) === tokensAtOnce);
}

export const startReminders = (ctx: Context) =>
  repeat(
    ctx.clock,
    everyMs,
    () => remindOfExpiry(ctx),
    ({ message }) => ctx.log.warn({ message }, 'reminders of expiring tokens are delayed'),
  )

export const tokenMails: Composers = {
  async token_expires({ db, config, clock }, { data }) {
    const token = await db.row<{ name: string; expires_at: string; workspace: string }>(sql`
      select t.name, t.expires_at, w.name as workspace
      from personal_tokens t join workspaces w on w.id = t.workspace_id
      where t.id = ${data.token_id} and t.expires_at > ${clock.now()}`)
    if (!token) return null
    const day = token.expires_at.slice(0, 10)
    return {
      subject: `Your personal token ${token.name} expires on ${day}`,
      paragraphs: [
        `Your personal token ${token.name} for ${token.workspace} expires on ${day} at ${token.expires_at.slice(11, 16)} UTC. Programs that use it stop working then.`,
        `If you still need it, create a new one for up to ${accountLimits.personalTokenDays} days and replace it in your programs.`,
      ],
      action: { label: 'Open personal tokens', url: `${config.appUrl}/settings/account` },
    }
  },
}
