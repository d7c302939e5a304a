import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { accountLimits, type PersonalToken, type Role, type Scope } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { ApiError } from '../http/errors.ts'
import {
  type Counted,
  type RateLimit,
  rateLimitHeaders,
  rateLimitOf,
  type Taken,
  takeFromWindow,
} from '../http/rate-window.ts'
import type { ResolveCaller } from '../http/server.ts'
import { newId } from '../ids.ts'
import { isPendingDeletion } from './roles.ts'
import { tokensWork } from './sso-only.ts'
import { lastUseGrainMs } from './tokens.ts'

export const personalTokenPrefix = 'svc_pat_'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const checksumLength = 6

/** Expired tokens are listed for this time, so that their owners see why a script stopped. */
const expiredKeptMs = days(30)

/** CRC-32 in base62, so that a mistyped token is refused without the database, and scanners of secrets recognise one. */
function checksumOf(text: string): string {
  let digits = ''
  for (let rest = crc32(text); digits.length < checksumLength; rest = Math.floor(rest / 62)) {
    digits = base62[rest % 62] + digits
  }
  return digits
}

function newToken(): string {
  const text = `${personalTokenPrefix}${randomBytes(32).toString('base64url')}`
  return text + checksumOf(text)
}

const format = /^(svc_pat_[\w-]{43})([0-9A-Za-z]{6})$/

export function isWellFormed(token: string): boolean {
  const [, text = '', checksum] = format.exec(token) ?? []
  return checksum !== undefined && checksumOf(text) === checksum
}

interface Found extends Taken {
  tokenId: string
  workspaceId: string
  scopes: Scope[]
  teamIds: string[] | null
  lastUsedAt: string | null
  pendingDeletion: boolean
  person: { id: string; name: string; email: string; role: Role }
}

/** Finds the person as whom a personal token acts, with the current role. The same statement counts the call. */
export async function resolvePersonalToken(
  { config, db, clock }: Context,
  token: string,
  workspaceAsked: string | undefined,
  counted: Counted | null,
): ReturnType<ResolveCaller> {
  if (!isWellFormed(token)) throw new ApiError('UNAUTHORIZED')
  const tokenHash = sha256(token)
  const now = clock.now()
  const limit = counted && rateLimitOf(config, counted)
  const found = await db.row<Found>(findToken(config, tokenHash, limit, now))
  if (!found) throw new ApiError('UNAUTHORIZED')
  const { tokenId, workspaceId, scopes, teamIds, pendingDeletion, person } = found
  await noteUse(db, tokenId, found.lastUsedAt, now)
  // The token is pinned to one workspace and need not name it.
  const role = workspaceAsked && workspaceAsked !== workspaceId ? null : person.role
  const login = { loginMethod: null, recent: false, pendingDeletion }
  return {
    caller: { kind: 'person', ...person, role, tokenHash, workspaceId, scopes, teamIds, client: tokenId, ...login },
    headers: limit ? rateLimitHeaders(limit, found) : {},
  }
}

const findToken = (config: Config, tokenHash: Buffer, limit: RateLimit | null, now: Date): Sql => sql`
  with found as materialized (
    select t.id as "tokenId", t.workspace_id as "workspaceId", t.scopes, t.team_ids as "teamIds",
      t.last_used_at as "lastUsedAt", ${isPendingDeletion},
      jsonb_build_object('id', u.id, 'name', u.display_name, 'email', u.email, 'role', m.role) as person,
      encode(t.token_hash, 'hex') as holder
    from personal_tokens t
    join users u on u.id = t.user_id
    join memberships m on m.workspace_id = t.workspace_id and m.user_id = t.user_id
    join workspaces w on w.id = t.workspace_id and w.purged_since is null
    where t.token_hash = ${tokenHash} and t.expires_at > ${now} and u.disabled_at is null
      and ${tokensWork(config, now)}
  )
  select found.*, taken.* from found left join lateral ${takeFromWindow(limit, sql`found.holder`, now)} taken on true`

async function noteUse(db: Queryable, id: string, lastUsedAt: string | null, now: Date) {
  if (lastUsedAt && now.getTime() - Date.parse(lastUsedAt) < lastUseGrainMs) return
  await db.run(sql`
    update personal_tokens set last_used_at = ${now} where id = ${id} and (last_used_at is null or last_used_at < ${now})`)
}

interface NewToken {
  workspaceId: string
  userId: string
  name: string
  scopes: readonly Scope[]
  teamIds: readonly string[] | null
  expiresAt: Date
}

/** The columns of a personal token `t` as the API returns them. */
export const personalTokenColumns = sql`
  t.id, t.name, t.scopes, t.team_ids, t.expires_at, t.last_used_at, t.created_at`

/** Stores only the token's hash; the token is shown once. Undefined if the user has too many: lock the membership first. */
export async function insertPersonalToken(tx: Queryable, now: Date, fields: NewToken) {
  const { workspaceId, userId, name, scopes, teamIds, expiresAt } = fields
  const token = newToken()
  const personalToken = await tx.row<PersonalToken>(sql`
    insert into personal_tokens as t
      (id, workspace_id, user_id, name, token_hash, scopes, team_ids, expires_at, created_at)
    select ${newId('pat')}, ${workspaceId}, ${userId}, ${name}, ${sha256(token)}, ${scopes}, ${teamIds}, ${expiresAt},
      ${now}
    where (select count(*) from personal_tokens o
      where o.workspace_id = ${workspaceId} and o.user_id = ${userId} and o.expires_at > ${now})
      < ${accountLimits.personalTokensPerPerson}
    returning ${personalTokenColumns}`)
  return personalToken && { personal_token: personalToken, token }
}

/** Revokes a token of the workspace, with `userId` only if it is that user's. Undefined if there is none. */
export const removePersonalToken = (tx: Queryable, workspaceId: string, id: string, userId: string | null) =>
  tx.row<{ name: string; userId: string }>(sql`
    delete from personal_tokens
    where id = ${id} and workspace_id = ${workspaceId} and (${userId}::text is null or user_id = ${userId})
    returning name, user_id as "userId"`)

/** Marks and returns tokens that expire soon and whose owners were not told. Short-lived tokens need no reminder. */
export const takeExpiringTokens = (tx: Queryable, now: Date, limit: number) => {
  const aheadMs = days(accountLimits.personalTokenReminderDays)
  return tx.rows<{ id: string; userId: string; workspaceId: string }>(sql`
    update personal_tokens set reminded_at = ${now} where id in (
      select id from personal_tokens
      where expires_at > ${now} and expires_at <= ${plus(now, aheadMs)} and reminded_at is null
        and expires_at - created_at > ${`${aheadMs} milliseconds`}::interval
      order by expires_at limit ${limit} for update skip locked)
    returning id, user_id as "userId", workspace_id as "workspaceId"`)
}

export const sweepPersonalTokens = (db: Queryable, now: Date) =>
  db.run(sql`delete from personal_tokens where expires_at < ${plus(now, -expiredKeptMs)}`)
