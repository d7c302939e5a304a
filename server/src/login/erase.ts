import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { endEverythingOf, removeMethodsOf } from './end.ts'
import { forgetNetworks } from './known-networks.ts'

export const erasedName = 'Deleted person'
export const erasedEmail = (userId: string) => `erased-${userId}@invalid`

/** Ends all access and removes all personal data of the account. Its row stays, because the person's work refers to it. */
export async function eraseAccount(tx: Tx, now: Date, userId: string) {
  await endEverythingOf(tx, now, userId)
  await removeMethodsOf(tx, userId)
  await tx.run(sql`delete from account_links where user_id = ${userId}`)
  await forgetNetworks(tx, userId)
  await tx.run(sql`
    update users set display_name = ${erasedName}, email = ${erasedEmail(userId)}, password_hash = null,
      pending_email = null, email_verified_at = null, mail_problem = null, time_zone = null, last_sso_at = null,
      reset_blocked_until = null, disabled_at = coalesce(disabled_at, ${now})
    where id = ${userId}`)
}
