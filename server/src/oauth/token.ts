import { type AppScope, limits, type TokenResponse } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { newSecret, sameBytes, sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { OAuthError } from '../http/errors.ts'
import { effectiveScopes } from '../login/tokens.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { authenticate, type OAuthClient } from './clients.ts'

type Form = Record<string, string | undefined>

/** One answer for everything that is wrong with a code or token: who guesses learns nothing. */
const invalidGrant = () => new OAuthError('invalid_grant', 'The code or token is not valid, or not any more.')

/** 4.2: POST /oauth/token. */
export async function issueToken(ctx: Context, authorization: string | undefined, form: Form): Promise<TokenResponse> {
  const client = await authenticate(ctx.db, authorization, form)
  switch (form.grant_type) {
    case 'authorization_code':
      return exchangeCode(ctx, client, form)
    case 'refresh_token':
      return refresh(ctx, client, form)
    case undefined:
      throw new OAuthError('invalid_request', 'grant_type is required.')
    default:
      throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
  }
}

/**
 * A code is used up by one conditional statement, whatever then turns out to be wrong with the rest: of several who
 * present it one is first. Refusals are thrown after the commit, so that what they end stays ended.
 */
async function exchangeCode(ctx: Context, client: OAuthClient, form: Form): Promise<TokenResponse> {
  const { code, redirect_uri: redirectUri, code_verifier: verifier } = form
  if (!code || !redirectUri || !verifier) {
    throw new OAuthError('invalid_request', 'code, redirect_uri and code_verifier are required.')
  }
  const issued = await transact(ctx, client, async (unit) => {
    const { tx, now } = unit
    const used = await tx.row<{ grantId: string; redirectUri: string; challenge: string }>(sql`
      update oauth_codes set used_at = ${now}
      where hash = ${sha256(code)} and client_id = ${client.id} and used_at is null and expires_at > ${now}
      returning grant_id as "grantId", redirect_uri as "redirectUri", code_challenge as challenge`)
    if (!used) return endReplayed(unit, code)
    if (used.redirectUri !== redirectUri || !fits(verifier, used.challenge)) {
      await endGrant(unit, used.grantId)
      return undefined
    }
    return issue(unit, used.grantId)
  })
  if (!issued) throw invalidGrant()
  return issued
}

const fits = (verifier: string, challenge: string) =>
  /^[\w.~-]{43,128}$/.test(verifier) && sameBytes(sha256(verifier), Buffer.from(challenge, 'base64url'))

/** decisions 5: a code that comes again was stolen; what it brought the first time is over, access tokens too. */
async function endReplayed(unit: UnitOfWork<OAuthClient>, code: string): Promise<undefined> {
  const replayed = await unit.tx.row<{ grantId: string }>(sql`
    select grant_id as "grantId" from oauth_codes
    where hash = ${sha256(code)} and client_id = ${unit.caller.id} and used_at is not null`)
  if (replayed) await endGrant(unit, replayed.grantId)
}

/** At once: its access tokens too. They stay, so that those of an app that is uninstalled later are told that. */
export async function endGrant({ tx, now }: UnitOfWork, grantId: string) {
  await tx.run(sql`update grants set ended_at = ${now} where id = ${grantId} and ended_at is null`)
  await tx.run(sql`update access_tokens set expires_at = ${now} where grant_id = ${grantId} and expires_at > ${now}`)
}

/** 5.2: every refresh answers a new token, and exactly one of those who present the old one gets it. */
async function refresh(ctx: Context, client: OAuthClient, { refresh_token: token }: Form): Promise<TokenResponse> {
  if (!token) throw new OAuthError('invalid_request', 'refresh_token is required.')
  const issued = await transact(ctx, client, async (unit) => {
    const { tx, now } = unit
    const hash = sha256(token)
    const ofClient = sql`grant_id in (select id from grants where client_id = ${client.id})`
    const used = await tx.row<{ grantId: string }>(sql`
      update refresh_tokens set rotated_at = ${now}
      where hash = ${hash} and rotated_at is null and expires_at > ${now} and ${ofClient}
      returning grant_id as "grantId"`)
    if (used) return issue(unit, used.grantId)
    const rotated = await tx.row<{ grantId: string; at: string }>(sql`
      select grant_id as "grantId", rotated_at as at from refresh_tokens
      where hash = ${hash} and rotated_at is not null and ${ofClient}`)
    // Soon after its rotation it was a race or a lost answer; later somebody has an old copy.
    const late = rotated && now.getTime() - Date.parse(rotated.at) > limits.refreshReplaySeconds * 1000
    if (rotated && late) await endGrant(unit, rotated.grantId)
    return undefined
  })
  if (!issued) throw invalidGrant()
  return issued
}

interface Grant {
  workspaceId: string
  scopes: AppScope[]
  installation: { id: string; appUserId: string; approved: AppScope[]; requested: AppScope[] } | null
}

/** Tokens of a grant that still holds. The grant's row is held, so that a revocation comes before or after. */
async function issue({ tx, now }: UnitOfWork, grantId: string): Promise<TokenResponse | undefined> {
  const held = await tx.row(sql`
    select 1 from grants where id = ${grantId} and ended_at is null and expires_at > ${now} for share`)
  if (!held) return undefined
  const grant = await tx.row<Grant>(sql`
    select g.workspace_id as "workspaceId", g.scopes, case when i.id is not null then jsonb_build_object('id', i.id,
      'appUserId', i.app_user_id, 'approved', i.scopes, 'requested', a.requested_scopes) end as installation
    from grants g
    left join installations i on i.id = g.installation_id
    left join agent_apps a on a.id = i.app_id
    where g.id = ${grantId} and (g.installation_id is null or i.revoked_at is null) and (g.user_id is null
      or exists (select from memberships m where m.user_id = g.user_id and m.workspace_id = g.workspace_id))`)
  if (!grant) return undefined
  const { workspaceId, installation } = grant
  const access = newSecret('svc_at_')
  const next = newSecret('prt_')
  await tx.run(sql`
    insert into access_tokens (hash, grant_id, expires_at)
    values (${sha256(access)}, ${grantId}, ${plus(now, limits.accessTokenSeconds * 1000)})`)
  await tx.run(sql`
    insert into refresh_tokens (hash, grant_id, expires_at)
    values (${sha256(next)}, ${grantId}, ${plus(now, days(limits.refreshTokenDays))})`)
  const scopes = installation ? effectiveScopes(installation.approved, installation.requested) : grant.scopes
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: limits.accessTokenSeconds,
    refresh_token: next,
    scope: scopes.join(' '),
    workspace_id: workspaceId,
    ...(installation
      ? { actor: 'app' as const, installation_id: installation.id, app_user_id: installation.appUserId }
      : {}),
  }
}

/** 4.2: the grant ends; access tokens already issued live on until they expire. Unknown tokens are no error (RFC 7009). */
export async function revokeToken(ctx: Context, authorization: string | undefined, form: Form) {
  const client = await authenticate(ctx.db, authorization, form, { needsSecret: false })
  if (!form.token) throw new OAuthError('invalid_request', 'token is required.')
  await ctx.db.run(sql`
    update grants set ended_at = ${ctx.clock.now()}
    where ended_at is null and client_id = ${client.id}
      and id = (select grant_id from refresh_tokens where hash = ${sha256(form.token)})`)
  return {}
}
