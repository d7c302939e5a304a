import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { endEverythingOf, removeMethodsOf } from './end.ts'

/** The identity with this issuer and subject, and its user. */
export const findIdentity = (db: Queryable, issuer: string, subject: string) =>
  db.row<{ id: string; userId: string }>(sql`
    select id, user_id as "userId" from sso_identities where issuer = ${issuer} and subject = ${subject}`)

/** Locked, so that its sign-in methods do not change before it is linked. */
export const lockAccountByEmail = (tx: Queryable, email: string) =>
  tx.row<{ id: string; verified: boolean; disabled: boolean }>(sql`
    select id, email_verified_at is not null as verified, disabled_at is not null as disabled
    from users where email = ${email} for update`)

/** An account without a password. Fails with a duplicate of `users_email` if the address has an account. */
export async function createSsoAccount({ tx, now }: UnitOfWork, email: string, name: string): Promise<string> {
  const id = newId('usr')
  await tx.run(sql`
    insert into users (id, user_kind, display_name, email, email_verified_at, created_at)
    values (${id}, 'human', ${name}, ${email}, ${now}, ${now})`)
  return id
}

/** Whether the address has an invitation that can be accepted. */
export const isInvited = async (db: Queryable, email: string, now: Date) =>
  (await db.row(sql`select 1 from invitations where email = ${email} and expires_at > ${now} limit 1`)) !== undefined

/**
 * The provider confirmed the address of an account whose user never did. Another person may have registered it,
 * so everything that lets them in ends.
 */
export async function takeOverAccount({ tx, now }: UnitOfWork, userId: string) {
  await removeMethodsOf(tx, userId)
  await endEverythingOf(tx, now, userId)
  await tx.run(sql`update users set email_verified_at = ${now}, mail_problem = null where id = ${userId}`)
}

export const noteSsoSignIn = (tx: Queryable, userId: string, now: Date) =>
  tx.run(sql`update users set last_sso_at = ${now} where id = ${userId}`)

export const endLoginsOfIdentity = (tx: Queryable, issuer: string, subject: string) =>
  endLogins(tx, sql`identity_id in (select id from sso_identities where issuer = ${issuer} and subject = ${subject})`)

/** Ends the logins of one sign-in at the provider. */
export const endLoginsOfSid = (tx: Queryable, providerId: string, sid: string) =>
  endLogins(tx, sql`provider_id = ${providerId} and sid = ${sid}`)

/** Locks the users first: a program that is just exchanging its code has its login before, or gets none. */
async function endLogins(tx: Queryable, which: Sql) {
  await tx.rows(sql`
    select 1 from users where id in (select user_id from logins where ${which}) order by id for update`)
  await tx.run(sql`delete from logins where ${which}`)
}
