import { plus } from '../clock.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { loginLifetimeMs } from './caller.ts'

/**
 * Stores only the token's hash; the token is shown once. Undefined if the password changed since it was checked: the
 * change ended the logins made with the old one, so this one must not start.
 */
export async function startLogin(db: Queryable, userId: string, passwordHash: string, now: Date) {
  const token = newSecret('psn_')
  const started = await db.run(sql`
    insert into logins (token_hash, user_id, created_at, last_used_at)
    select ${sha256(token)}, id, ${now}, ${now} from users
    where id = ${userId} and password_hash = ${passwordHash} for share`)
  return started > 0 ? token : undefined
}

export const endLogin = (db: Queryable, tokenHash: Buffer) =>
  db.run(sql`delete from logins where token_hash = ${tokenHash}`)

export const endOtherLogins = (db: Queryable, userId: string, keep: Buffer) =>
  db.run(sql`delete from logins where user_id = ${userId} and token_hash <> ${keep}`)

export const endLoginsOf = (db: Queryable, userId: string) => db.run(sql`delete from logins where user_id = ${userId}`)

export const sweepLogins = (db: Queryable, now: Date) =>
  db.run(sql`delete from logins where last_used_at < ${plus(now, -loginLifetimeMs)}`)
