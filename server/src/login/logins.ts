import { accountLimits, limits } from '@baton/protocol'
import ipaddr from 'ipaddr.js'
import { days, minutes, plus } from '../clock.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { LoginMethod } from '../http/caller.ts'

export const loginLifetimeMs = days(limits.loginLifetimeDays)
export const recentMs = minutes(accountLimits.recentLoginMinutes)

/** Whether the login `l` of the statement still works: it is in use, and not past the end of an SSO login. */
export const isValid = (now: Date): Sql =>
  sql`(l.last_used_at >= ${plus(now, -loginLifetimeMs)} and (l.expires_at is null or l.expires_at > ${now}))`

/** What a request tells about the device that it comes from. */
export interface Device {
  address: string
  userAgent: string | null
}

export interface NewLogin {
  userId: string
  method: LoginMethod
  /** The provider, its identity and its own session, of an SSO login. */
  providerId?: string | null
  identityId?: string | null
  sid?: string | null
  expiresAt?: Date | null
  /** The hash that the password was checked against. */
  passwordHash?: string
  /** Null where the service itself creates the account. */
  from: Device | null
}

/**
 * Stores only the token's hash; the token is shown once. Undefined if the account is disabled, if the password changed
 * since it was checked, or if the identity was removed: that ended the logins made with it, so this one must not start.
 * With an identity, call it after the user was locked, so that a removal is seen.
 */
export async function startLogin(db: Queryable, login: NewLogin, now: Date): Promise<string | undefined> {
  const { userId, method, from, passwordHash } = login
  const token = newSecret('psn_')
  // A program that a person allows proves nothing about who uses it.
  const provedAt = method === 'cli' ? null : now
  const started = await db.run(sql`
    insert into logins (token_hash, user_id, created_at, last_used_at, method, provider_id, identity_id, sid,
      client, network, proved_at, expires_at)
    select ${sha256(token)}, id, ${now}, ${now}, ${method}, ${login.providerId ?? null}, ${login.identityId ?? null},
      ${login.sid ?? null}, ${from ? clientOf(from.userAgent) : null}, ${from ? shortNetwork(from.address) : null},
      ${provedAt}, ${login.expiresAt ?? null}
    from users
    where id = ${userId} and disabled_at is null
      ${passwordHash === undefined ? none : sql`and password_hash = ${passwordHash}`}
      ${
        login.identityId == null
          ? none
          : sql`and exists (select from sso_identities i where i.id = ${login.identityId} and i.user_id = users.id)`
      } for share of users`)
  return started > 0 ? token : undefined
}

const clientOf = (userAgent: string | null) => userAgent && [...userAgent].slice(0, accountLimits.loginClient).join('')

/** The /24 or /48 network of an address: enough to recognize a place, too little to identify a device. */
export function shortNetwork(address: string): string | null {
  if (!ipaddr.isValid(address)) return null
  const ip = ipaddr.process(address)
  if (ip.kind() === 'ipv4') return `${ip.toByteArray().slice(0, 3).join('.')}.0/24`
  const parts = (ip as ipaddr.IPv6).parts.slice(0, 3).map((part) => part.toString(16))
  return `${parts.join(':')}::/48`
}

/** Makes the login recent: call after a sign-in method was used in it. */
export const proveLogin = (db: Queryable, tokenHash: Buffer, now: Date) =>
  db.run(sql`update logins set proved_at = ${now} where token_hash = ${tokenHash}`)

export const endLogin = (db: Queryable, tokenHash: Buffer) =>
  db.run(sql`delete from logins where token_hash = ${tokenHash}`)

export const endOtherLogins = (db: Queryable, userId: string, keep: Buffer) =>
  db.run(sql`delete from logins where user_id = ${userId} and token_hash <> ${keep}`)

export const endLoginsOf = (db: Queryable, userId: string) => db.run(sql`delete from logins where user_id = ${userId}`)

export async function sweepLogins(db: Queryable, now: Date) {
  await db.run(sql`delete from logins where last_used_at < ${plus(now, -loginLifetimeMs)}`)
  await db.run(sql`delete from logins where expires_at <= ${now}`)
}
