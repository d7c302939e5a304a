import { type AppScope, type Compat, limits, type TokenResponse } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { newSecret, sameBytes, sha256 } from '../crypto.ts'
import { type Sql, sql } from '../db/sql.ts'
import { OAuthError } from '../http/errors.ts'
import { createAccessToken, endGrantAndTokens, endGrants, noteTokensIssued } from '../login/grants.ts'
import { effectiveScopes } from '../login/tokens.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { authenticate, type OAuthClient } from './clients.ts'

type Form = Record<string, string | undefined>

/** The same error for every problem with a code or token, so that guessing reveals nothing. */
const invalidGrant = () => new OAuthError('invalid_grant', 'The code or token is not valid or no longer valid.')

/** POST /oauth/token. */
export async function issueToken(ctx: Context, authorization: string | undefined, form: Form): Promise<TokenResponse> {
  const client = await authenticate(ctx.db, authorization, form)
  switch (form.grant_type) {
    case 'authorization_code':
      return tokenResponse(await exchangeCode(ctx, client, form))
    case 'refresh_token':
      return tokenResponse(await refresh(ctx, client, form))
    case undefined:
      throw new OAuthError('invalid_request', 'grant_type is required.')
    default:
      throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
  }
}

/**
 * One conditional statement uses up the code, even if the request then fails, so that of several concurrent requests
 * only one gets tokens. Errors are thrown after the commit, so that a grant they ended stays ended.
 */
export async function exchangeCode(
  ctx: Context,
  client: OAuthClient,
  form: Form,
  compat: Compat | null = null,
): Promise<Issued> {
  const { code, redirect_uri: redirectUri, code_verifier: verifier } = form
  if (!code || !redirectUri || !(verifier || compat)) {
    const needed = compat ? 'code and redirect_uri' : 'code, redirect_uri and code_verifier'
    throw new OAuthError('invalid_request', `${needed} are required.`)
  }
  const issued = await transact(ctx, client, async (unit) => {
    const { tx, now } = unit
    const used = await tx.row<{ grantId: string; redirectUri: string; challenge: string }>(sql`
      update oauth_codes set used_at = ${now}
      where hash = ${sha256(code)} and client_id = ${client.id} and used_at is null and expires_at > ${now}
        and ${ofGrants(sql`true`, compat)}
      returning grant_id as "grantId", redirect_uri as "redirectUri", code_challenge as challenge`)
    if (!used) return endGrantOfReplayedCode(unit, code)
    if (used.redirectUri !== redirectUri || !matchesChallenge(verifier, used.challenge)) {
      await endGrantAndTokens(unit, used.grantId)
      return undefined
    }
    return issueTokens(unit, used.grantId)
  })
  if (!issued) throw invalidGrant()
  return issued
}

/** At /linear a request without a challenge has none to match; a verifier for it is a sign of a downgrade. */
const matchesChallenge = (verifier = '', challenge: string) =>
  challenge === ''
    ? verifier === ''
    : /^[\w.~-]{43,128}$/.test(verifier) && sameBytes(sha256(verifier), Buffer.from(challenge, 'base64url'))

/** Codes and refresh tokens of /linear are worth nothing at /oauth, and the reverse. */
const ofGrants = (which: Sql, compat: Compat | null) =>
  sql`grant_id in (select id from grants where ${which} and compat is not distinct from ${compat}::text)`

/** oauth.code-replay-ends-grant: a replayed code was stolen, so its grant and access tokens end. */
async function endGrantOfReplayedCode(unit: UnitOfWork<OAuthClient>, code: string): Promise<undefined> {
  const replayed = await unit.tx.row<{ grantId: string }>(sql`
    select grant_id as "grantId" from oauth_codes
    where hash = ${sha256(code)} and client_id = ${unit.caller.id} and used_at is not null`)
  if (replayed) await endGrantAndTokens(unit, replayed.grantId)
}

/** Rotates the refresh token; exactly one of several concurrent requests succeeds (oauth.refresh-parallel-one-wins). */
export async function refresh(
  ctx: Context,
  client: OAuthClient,
  { refresh_token: token }: Form,
  compat: Compat | null = null,
): Promise<Issued> {
  if (!token) throw new OAuthError('invalid_request', 'refresh_token is required.')
  const issued = await transact(ctx, client, async (unit) => {
    const { tx, now } = unit
    const hash = sha256(token)
    const ofClient = ofGrants(sql`client_id = ${client.id}`, compat)
    const used = await tx.row<{ grantId: string }>(sql`
      update refresh_tokens set rotated_at = ${now}
      where hash = ${hash} and rotated_at is null and expires_at > ${now} and ${ofClient}
      returning grant_id as "grantId"`)
    if (used) return issueTokens(unit, used.grantId)
    const rotated = await tx.row<{ grantId: string; at: string }>(sql`
      select grant_id as "grantId", rotated_at as at from refresh_tokens
      where hash = ${hash} and rotated_at is not null and ${ofClient}`)
    // Soon after the rotation: a race or a lost response. Later: a stolen copy (oauth.refresh-late-replay-ends-grant).
    const late = rotated && now.getTime() - Date.parse(rotated.at) > limits.refreshReplaySeconds * 1000
    if (rotated && late) await endGrantAndTokens(unit, rotated.grantId)
    return undefined
  })
  if (!issued) throw invalidGrant()
  return issued
}

/** Tokens of a grant. */
export interface Issued {
  accessToken: string
  refreshToken: string
  scopes: AppScope[]
  workspaceId: string
  installation: { id: string; appUserId: string } | null
}

interface Grant {
  workspaceId: string
  compat: Compat | null
  scopes: AppScope[]
  installation: { id: string; appUserId: string; approved: AppScope[]; requested: AppScope[] } | null
}

/** Issues tokens if the grant is active. Locks the grant, so that a concurrent revocation comes before or after. */
export async function issueTokens(unit: UnitOfWork, grantId: string): Promise<Issued | undefined> {
  const { tx, now } = unit
  const locked = await tx.row<{ isFirst: boolean }>(sql`
    select tokens_issued_at is null as "isFirst" from grants where id = ${grantId} and ended_at is null and expires_at > ${now} for share`)
  if (!locked) return undefined
  const grant = await tx.row<Grant>(sql`
    select g.workspace_id as "workspaceId", g.compat, g.scopes, case when i.id is not null then jsonb_build_object('id', i.id,
      'appUserId', i.app_user_id, 'approved', i.scopes, 'requested', a.requested_scopes) end as installation
    from grants g
    left join installations i on i.id = g.installation_id
    left join agent_apps a on a.id = i.app_id
    where g.id = ${grantId} and (g.installation_id is null or i.revoked_at is null) and (g.user_id is null
      or exists (select from memberships m where m.user_id = g.user_id and m.workspace_id = g.workspace_id))`)
  if (!grant) return undefined
  const { workspaceId, compat, installation } = grant
  if (locked.isFirst) await noteTokensIssued(unit, grantId)
  const accessToken = await createAccessToken(unit, grantId, compat)
  const refreshToken = newSecret('prt_')
  await tx.run(sql`
    insert into refresh_tokens (hash, grant_id, expires_at)
    values (${sha256(refreshToken)}, ${grantId}, ${plus(now, days(limits.refreshTokenDays))})`)
  const scopes = installation ? effectiveScopes(installation.approved, installation.requested) : grant.scopes
  return { accessToken, refreshToken, scopes, workspaceId, installation }
}

export const tokenResponse = ({ accessToken, refreshToken, scopes, workspaceId, installation }: Issued) => ({
  access_token: accessToken,
  token_type: 'Bearer' as const,
  expires_in: limits.accessTokenSeconds,
  refresh_token: refreshToken,
  scope: scopes.join(' '),
  workspace_id: workspaceId,
  ...(installation
    ? { actor: 'app' as const, installation_id: installation.id, app_user_id: installation.appUserId }
    : {}),
})

/** Access tokens work until they expire (oauth.revoke-keeps-access-tokens). An unknown token is no error (RFC 7009). */
export async function revokeToken(ctx: Context, authorization: string | undefined, form: Form) {
  const client = await authenticate(ctx.db, authorization, form, { needsSecret: false })
  if (!form.token) throw new OAuthError('invalid_request', 'token is required.')
  const ofToken = sql`id = (select grant_id from refresh_tokens where hash = ${sha256(form.token)})`
  await endGrants(ctx.db, ctx.clock.now(), sql`client_id = ${client.id} and ${ofToken}`)
  return {}
}
