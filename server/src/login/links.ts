import { accountLimits } from '@baton/protocol'
import { days, hours, minutes, plus } from '../clock.ts'
import type { Config } from '../config.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

export type LinkKind = 'reset' | 'verify' | 'change' | 'undo'

const lifetimesMs: Record<LinkKind, number> = {
  reset: minutes(accountLimits.resetLinkMinutes),
  verify: hours(accountLimits.verificationHours),
  change: hours(accountLimits.verificationHours),
  undo: days(accountLimits.undoDays),
}

/** Pages of the web app. */
const paths: Record<LinkKind, string> = {
  reset: '/reset-password',
  verify: '/verify-email',
  change: '/verify-email',
  undo: '/undo-email',
}

/** The token is in the fragment, which browsers send to no server (reset.link-from-root-url). */
export const linkUrl = ({ rootUrl }: Config, kind: LinkKind, token: string) =>
  `${rootUrl}${paths[kind]}#${new URLSearchParams({ token })}`

export interface Link {
  userId: string
  kind: LinkKind
  /** The address that the link is about; of `undo` the one that it restores. */
  email: string
  /** Of `undo`: when that address was verified. */
  verifiedAt: string | null
  createdAt: string
}

type Unit = Pick<UnitOfWork, 'tx' | 'now'>

/**
 * Creates a link, which replaces the earlier one of its kind. Links of the kind `undo` are replaced for each address
 * apart: otherwise a thief who changes the address twice would take the owner's link away.
 */
export async function createLink(
  { tx, now }: Unit,
  link: { userId: string; kind: LinkKind; email: string; verifiedAt?: string | null },
): Promise<{ token: string; expiresAt: Date }> {
  const token = newSecret('')
  const expiresAt = plus(now, lifetimesMs[link.kind])
  const earlier =
    link.kind === 'undo' ? sql`(email, user_id) where kind = 'undo'` : sql`(user_id, kind) where kind <> 'undo'`
  await tx.run(sql`
    insert into account_links (token_hash, user_id, kind, email, verified_at, created_at, expires_at)
    values (${sha256(token)}, ${link.userId}, ${link.kind}, ${link.email}, ${link.verifiedAt ?? null}, ${now}, ${expiresAt})
    on conflict ${earlier} do update set token_hash = excluded.token_hash, email = excluded.email,
      verified_at = excluded.verified_at, created_at = excluded.created_at, expires_at = excluded.expires_at`)
  return { token, expiresAt }
}

/** The link with this token, if it is valid. */
export const findLink = (db: Queryable, token: string, kinds: readonly LinkKind[], now: Date) =>
  db.row<Link>(sql`
    select user_id as "userId", kind, email, verified_at as "verifiedAt", created_at as "createdAt" from account_links
    where token_hash = ${sha256(token)} and kind = any(${kinds}) and expires_at > ${now}`)

/** Deletes the link. False if it is not valid any more: each link works once. */
export const useLink = async ({ tx, now }: Unit, token: string) =>
  (await tx.run(sql`delete from account_links where token_hash = ${sha256(token)} and expires_at > ${now}`)) > 0

export const deleteLinks = ({ tx }: Unit, userId: string, kinds: readonly LinkKind[]) =>
  tx.run(sql`delete from account_links where user_id = ${userId} and kind = any(${kinds})`)

/**
 * Call when the password or the e-mail changes: makes older reset links invalid (reset.newest-only). The operator's links
 * are not stored, so the time is: those created until then are invalid.
 */
export async function endResetLinks({ tx, now }: Unit, userId: string, until: Date = now) {
  await tx.run(sql`delete from account_links where user_id = ${userId} and kind = 'reset'`)
  await tx.run(sql`
    insert into account_links as a (token_hash, user_id, kind, email, created_at, expires_at)
    values (${sha256(newSecret(''))}, ${userId}, 'operator', '', ${until}, ${plus(until, lifetimesMs.reset)})
    on conflict (user_id, kind) where kind <> 'undo' do update
      set created_at = greatest(a.created_at, excluded.created_at), expires_at = greatest(a.expires_at, excluded.expires_at)`)
}

/** Whether an operator's link of this time is still the newest word about the account. */
export const operatorLinkIsCurrent = async (tx: Queryable, userId: string, issuedAt: Date) =>
  (await tx.row(sql`
    select 1 from account_links where user_id = ${userId} and kind = 'operator' and created_at >= ${issuedAt}`)) ===
  undefined

/** Whether the owner of this address can still get it back from the account `userId`, or from another if null. */
export const isReserved = async (db: Queryable, email: string, userId: string | null, now: Date) =>
  (await db.row(sql`
    select 1 from account_links
    where kind = 'undo' and email = ${email} and expires_at > ${now} and user_id is distinct from ${userId}`)) !==
  undefined

export const sweepLinks = (db: Queryable, now: Date) =>
  db.run(sql`delete from account_links where expires_at <= ${now}`)
