import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { endGrantsOf } from './grants.ts'
import { endLoginsOf, endOtherLogins } from './logins.ts'

/** Ends all logins of the user, the programs and the personal tokens. `keepLogin` is the hash of a login that stays. */
export async function endEverythingOf(
  tx: Queryable,
  now: Date,
  userId: string,
  { keepLogin }: { keepLogin?: Buffer } = {},
) {
  await (keepLogin ? endOtherLogins(tx, userId, keepLogin) : endLoginsOf(tx, userId))
  await endGrantsOf(tx, now, userId)
  await tx.run(sql`delete from personal_tokens where user_id = ${userId}`)
}

/** Removes password, passkeys, identities and open links: another person may have registered the address. */
export async function removeMethodsOf(tx: Queryable, userId: string) {
  await tx.run(sql`update users set password_hash = null, pending_email = null where id = ${userId}`)
  await tx.run(sql`delete from passkeys where user_id = ${userId}`)
  await tx.run(sql`delete from sso_identities where user_id = ${userId}`)
  await tx.run(sql`delete from account_links where user_id = ${userId} and kind <> 'operator'`)
}
