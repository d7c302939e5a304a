import { type AppScope, limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
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
}

export async function createGrant({ tx, now }: UnitOfWork, grant: NewGrant): Promise<string> {
  const id = newId('grt')
  await tx.run(sql`
    insert into grants (id, workspace_id, client_id, installation_id, user_id, scopes, created_at, expires_at)
    values (${id}, ${grant.workspaceId}, ${grant.clientId}, ${grant.installationId}, ${grant.userId},
      ${grant.scopes}, ${now}, ${plus(now, days(limits.grantDays))})`)
  return id
}

/** Only the first time: setup shows when an app got its tokens. */
export const noteTokensIssued = ({ tx, now }: UnitOfWork, grantId: string) =>
  tx.run(sql`update grants set tokens_issued_at = ${now} where id = ${grantId}`)

export async function createAccessToken({ tx, now }: UnitOfWork, grantId: string): Promise<string> {
  const token = newSecret('svc_at_')
  await tx.run(sql`
    insert into access_tokens (hash, grant_id, expires_at)
    values (${sha256(token)}, ${grantId}, ${plus(now, limits.accessTokenSeconds * 1000)})`)
  return token
}

/** Ends the grants that match `which`: no more tokens are issued. Existing access tokens work until they expire. */
export const endGrants = (db: Queryable, now: Date, which: Sql) =>
  db.run(sql`update grants set ended_at = ${now} where ${which} and ended_at is null`)

/**
 * Ends a grant, and its access tokens at once. They are kept as expired, so that if the app is uninstalled later they
 * are still refused with that reason.
 */
export async function endGrantAndTokens({ tx, now }: UnitOfWork, grantId: string) {
  await endGrants(tx, now, sql`id = ${grantId}`)
  await tx.run(sql`update access_tokens set expires_at = ${now} where grant_id = ${grantId} and expires_at > ${now}`)
}

/** Ends the grants of a person's programs, in one workspace or in all. */
export async function endGrantsOf(tx: Queryable, now: Date, userId: string, workspaceId: string | null = null) {
  const theirs = sql`user_id = ${userId} ${workspaceId ? sql`and workspace_id = ${workspaceId}` : none}`
  await tx.run(sql`delete from access_tokens where grant_id in (select id from grants where ${theirs})`)
  await endGrants(tx, now, theirs)
}

export const sweepAccessTokens = (db: Queryable, now: Date) =>
  db.run(sql`delete from access_tokens where expires_at < ${plus(now, -expiredTokensKeptMs)}`)
