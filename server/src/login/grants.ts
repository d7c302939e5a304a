import { type AppScope, type Compat, limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** Expired access tokens are kept this long, so that those of an uninstalled app are refused with the reason. */
const expiredTokensKeptMs = days(30)

/** A grant belongs to an installation, or to a user who connected a program. */
interface NewGrant {
  workspaceId: string
  clientId: string
  installationId: string | null
  userId: string | null
  scopes: AppScope[]
  /** `linear`: its tokens work at /linear only. */
  compat?: Compat | null
  /** Issued for the client secret alone, so it ends when that is rotated. */
  bySecret?: boolean
}

export async function createGrant({ tx, now }: UnitOfWork, grant: NewGrant): Promise<string> {
  const id = newId('grt')
  await tx.run(sql`
    insert into grants
      (id, workspace_id, client_id, installation_id, user_id, scopes, created_at, expires_at, compat, by_secret)
    values (${id}, ${grant.workspaceId}, ${grant.clientId}, ${grant.installationId}, ${grant.userId},
      ${grant.scopes}, ${now}, ${plus(now, days(limits.grantDays))}, ${grant.compat ?? null}, ${grant.bySecret ?? false})`)
  return id
}

/** Only the first time: setup shows when an app got its tokens. */
export const noteTokensIssued = ({ tx, now }: UnitOfWork, grantId: string) =>
  tx.run(sql`update grants set tokens_issued_at = ${now} where id = ${grantId}`)

/** Agents for Linear recognise its tokens by their prefix, and expect them to last a day. */
const tokenKinds = {
  ours: { prefix: 'svc_at_', seconds: limits.accessTokenSeconds },
  linear: { prefix: 'lin_oauth_', seconds: limits.linearTokenSeconds },
}

export async function createAccessToken(
  { tx, now }: UnitOfWork,
  grantId: string,
  compat: Compat | null = null,
): Promise<string> {
  const { prefix, seconds } = tokenKinds[compat ?? 'ours']
  const token = newSecret(prefix)
  await tx.run(sql`
    insert into access_tokens (hash, grant_id, expires_at)
    values (${sha256(token)}, ${grantId}, ${plus(now, seconds * 1000)})`)
  return token
}

/** Ends one access token of the client at once. */
export const endAccessToken = ({ db, clock }: Context, clientId: string, token: string) =>
  db.run(sql`
    update access_tokens set expires_at = ${clock.now()}
    where hash = ${sha256(token)} and expires_at > ${clock.now()}
      and grant_id in (select id from grants where client_id = ${clientId})`)

/** Ends the grants that match `which`: no more tokens are issued. Existing access tokens work until they expire. */
export const endGrants = (db: Queryable, now: Date, which: Sql) =>
  db.run(sql`update grants set ended_at = ${now} where ${which} and ended_at is null`)

/**
 * Ends the grants that match `which`, and their access tokens at once. They are kept as expired, so that if the app is
 * uninstalled later they are still refused with that reason.
 */
export async function endGrantsAndTokens({ tx, now }: Pick<UnitOfWork, 'tx' | 'now'>, which: Sql) {
  await tx.run(sql`
    update access_tokens set expires_at = ${now}
    where expires_at > ${now} and grant_id in (select id from grants where ${which})`)
  await endGrants(tx, now, which)
}

export const endGrantAndTokens = (unit: UnitOfWork, grantId: string) => endGrantsAndTokens(unit, sql`id = ${grantId}`)

/** Ends the grants of a person's programs, in one workspace or in all. */
export async function endGrantsOf(tx: Queryable, now: Date, userId: string, workspaceId: string | null = null) {
  const theirs = sql`user_id = ${userId} ${workspaceId ? sql`and workspace_id = ${workspaceId}` : none}`
  await tx.run(sql`delete from access_tokens where grant_id in (select id from grants where ${theirs})`)
  await endGrants(tx, now, theirs)
}

export const sweepAccessTokens = (db: Queryable, now: Date) =>
  db.run(sql`delete from access_tokens where expires_at < ${plus(now, -expiredTokensKeptMs)}`)
