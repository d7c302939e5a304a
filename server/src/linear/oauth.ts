import { type AppScope, type LinearTokenResponse, limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { OAuthError } from '../http/errors.ts'
import { takeOneCall } from '../http/rate-window.ts'
import { createAccessToken, createGrant, endAccessToken, endGrantsAndTokens } from '../login/grants.ts'
import { effectiveScopes } from '../login/tokens.ts'
import { scopesOf, speaks } from '../oauth/authorize.ts'
import { type AppClient, authenticate, refused } from '../oauth/clients.ts'
import { exchangeCode, type Issued, refresh } from '../oauth/token.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'

type Form = Record<string, string | undefined>

/** POST /linear/oauth/token: the rules of /oauth/token, and tokens for the client secret alone. */
export async function issueLinearToken(
  ctx: Context,
  authorization: string | undefined,
  form: Form,
): Promise<LinearTokenResponse> {
  const client = await authenticateApp(ctx, authorization, form)
  switch (form.grant_type) {
    case 'authorization_code':
      return responseOf(await exchangeCode(ctx, client, form, 'linear'))
    case 'refresh_token':
      return responseOf(await refresh(ctx, client, form, 'linear'))
    case 'client_credentials':
      return forSecret(ctx, client, scopesOf(form.scope))
    case undefined:
      throw new OAuthError('invalid_request', 'grant_type is required.')
    default:
      throw new OAuthError(
        'unsupported_grant_type',
        'grant_type must be authorization_code, refresh_token or client_credentials.',
      )
  }
}

async function authenticateApp(
  { db }: Context,
  authorization: string | undefined,
  form: Form,
  options?: { needsSecret: boolean },
): Promise<AppClient> {
  const { app, ...client } = await authenticate(db, authorization, form, options)
  if (!app || !speaks({ ...client, app }, 'linear')) throw refused()
  return { ...client, app }
}

const responseOf = ({ accessToken, refreshToken, scopes }: Issued): LinearTokenResponse => ({
  ...withoutRefresh(accessToken, scopes),
  refresh_token: refreshToken,
})

const withoutRefresh = (accessToken: string, scopes: AppScope[]): LinearTokenResponse => ({
  access_token: accessToken,
  token_type: 'Bearer',
  expires_in: limits.linearTokenSeconds,
  scope: scopes.join(' '),
})

/** A token that acts as the app's installation, without a person's consent: the installation was approved before. */
async function forSecret(ctx: Context, client: AppClient, asked: AppScope[]): Promise<LinearTokenResponse> {
  await takeOneCall(ctx, { name: 'linear tokens', max: limits.linearClientCredentialsPerMinute }, client.id)
  return transact(ctx, client, async (unit) => {
    // Locked, so that a rotation of the secret, the end of compat and an uninstallation come before or after.
    const { id, secretHash } = client.app
    const isCurrent = await unit.tx.row(sql`
      select 1 from agent_apps where id = ${id} and client_secret_hash = ${secretHash} and compat = 'linear'
        and deleted_at is null for share`)
    if (!isCurrent) throw refused()
    const installation = await unit.tx.row<{ id: string; approved: AppScope[] }>(sql`
      select id, scopes as approved from installations where app_id = ${id} and revoked_at is null for share`)
    if (!installation) throw new OAuthError('unauthorized_client', 'The app is not installed in a workspace.')
    const approved = effectiveScopes(installation.approved, client.app.scopes)
    const unknown = asked.find((scope) => !approved.includes(scope))
    if (unknown) throw new OAuthError('invalid_scope', `The scope ${unknown.slice(0, 50)} was not approved.`)
    const scopes = asked.length > 0 ? asked : approved
    const grantId = await grantForSecret(unit, installation.id, scopes)
    return withoutRefresh(await createAccessToken(unit, grantId, 'linear'), scopes)
  })
}

/** One grant for all tokens with the same scopes. */
async function grantForSecret(unit: UnitOfWork<AppClient>, installationId: string, scopes: AppScope[]) {
  const { tx, now, caller } = unit
  const existing = await tx.row<{ id: string }>(sql`
    select id from grants where installation_id = ${installationId} and by_secret and scopes = ${scopes}::text[]
      and ended_at is null and expires_at > ${now} limit 1`)
  if (existing) return existing.id
  const { workspaceId } = caller.app
  const owner = { workspaceId, clientId: caller.id, installationId, userId: null }
  return createGrant(unit, { ...owner, scopes, compat: 'linear', bySecret: true })
}

/** POST /linear/oauth/revoke. An unknown token is no error (RFC 7009). */
export async function revokeLinearToken(ctx: Context, authorization: string | undefined, form: Form) {
  const client = await authenticateApp(ctx, authorization, form, { needsSecret: false })
  if (!form.token) throw new OAuthError('invalid_request', 'token is required.')
  const { token } = form
  await endAccessToken(ctx, client.id, token)
  await transact(ctx, client, (unit) =>
    endGrantsAndTokens(
      unit,
      sql`client_id = ${client.id} and compat = 'linear'
        and id = (select grant_id from refresh_tokens where hash = ${sha256(token)})`,
    ),
  )
  return {}
}
