import type { AppScope, Compat, Role } from '@baton/protocol'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
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
import { isPendingDeletion } from './roles.ts'
import { tokensWork } from './sso-only.ts'

interface Found extends Taken {
  workspaceId: string
  grantScopes: AppScope[]
  bySecret: boolean
  app: Omit<
    App,
    'kind' | 'workspaceId' | 'workspaceAsked' | 'tokenHash' | 'scopes' | 'personalOf' | 'pendingDeletion'
  > | null
  approvedScopes: AppScope[] | null
  manifestScopes: AppScope[] | null
  revoked: boolean | null
  expired: boolean
  person: { id: string; name: string; email: string; role: Role | null } | null
  pendingDeletion: boolean
  grantId: string
  clientId: string
  lastUsedAt: string | null
}

/** A last use is stored at most once a minute, not at every request. */
export const lastUseGrainMs = 60_000

/**
 * Finds the caller of an access token. Scopes, coverage and role are current, not those of when it was issued, so that
 * a removed scope or team is lost at once (scope.removed-from-manifest). The same statement counts the call.
 */
export async function resolveToken(
  { config, db, clock }: Context,
  token: string,
  workspaceAsked: string | undefined,
  counted: Counted | null,
  compat: Compat | null = null,
): ReturnType<ResolveCaller> {
  const tokenHash = sha256(token)
  const now = clock.now()
  const limit = counted && rateLimitOf(config, counted)
  const found = await db.row<Found>(findToken(config, tokenHash, limit, now, compat))
  if (!found) throw new ApiError('UNAUTHORIZED')
  const { workspaceId, app, person } = found
  if (app && found.revoked) throw new ApiError('INSTALLATION_REVOKED')
  if (found.expired) throw new ApiError('UNAUTHORIZED')
  const headers = () => (limit ? rateLimitHeaders(limit, found, compat ? now : null) : {})
  if (app) {
    const approved = effectiveScopes(found.approvedScopes, found.manifestScopes)
    const scopes = found.bySecret ? approved.filter((scope) => found.grantScopes.includes(scope)) : approved
    const asked = { workspaceId, workspaceAsked: workspaceAsked ?? null }
    const { pendingDeletion } = found
    const caller = { kind: 'app' as const, ...app, ...asked, tokenHash, scopes, pendingDeletion, personalOf: null }
    return { caller, headers: headers() }
  }
  if (!person) throw new ApiError('UNAUTHORIZED')
  await noteUse(db, found, now)
  // oauth.public-client-workspace: the token is pinned to one workspace and need not name it.
  const role = workspaceAsked && workspaceAsked !== workspaceId ? null : person.role
  const login = { loginMethod: null, recent: false, pendingDeletion: found.pendingDeletion }
  const caller = {
    kind: 'person' as const,
    ...person,
    role,
    tokenHash,
    workspaceId,
    scopes: found.grantScopes,
    client: found.clientId,
    ...login,
  }
  return { caller, headers: headers() }
}

async function noteUse(db: Queryable, { grantId, lastUsedAt }: Found, now: Date) {
  if (lastUsedAt && now.getTime() - Date.parse(lastUsedAt) < lastUseGrainMs) return
  await db.run(sql`
    update grants set last_used_at = ${now} where id = ${grantId} and (last_used_at is null or last_used_at < ${now})`)
}

/**
 * Finds the token and, if it is valid, counts the call: on the Agent Session API and on Linear's API for the whole
 * installation, elsewhere for the token.
 */
function findToken(config: Config, tokenHash: Buffer, limit: RateLimit | null, now: Date, compat: Compat | null): Sql {
  const installation = limit?.name === 'sessions' || compat ? sql`i.id` : sql`null`
  return sql`
    with found as materialized (
      select g.id as "grantId", g.client_id as "clientId", g.last_used_at as "lastUsedAt", g.workspace_id as "workspaceId",
        g.scopes as "grantScopes", g.by_secret as "bySecret", i.scopes as "approvedScopes",
        a.requested_scopes as "manifestScopes", i.revoked_at is not null as revoked,
        t.expires_at <= ${now} as expired,
        case when i.id is not null then jsonb_build_object('id', u.id, 'name', u.display_name, 'appId', a.id,
          'appName', a.name, 'installationId', i.id, 'allTeams', i.all_teams, 'teamIds', i.team_ids) end as app,
        case when p.id is not null and ${tokensWork(config, now, sql`p`)} then
          jsonb_build_object('id', p.id, 'name', p.display_name, 'email', p.email, 'role',
            case when w.purged_since is null then m.role end) end as person,
        ${isPendingDeletion},
        case when t.expires_at > ${now} and i.revoked_at is null and coalesce(i.id, p.id) is not null
          then coalesce(${installation}, encode(t.hash, 'hex')) end as holder
      from access_tokens t
      join grants g on g.id = t.grant_id
      join workspaces w on w.id = g.workspace_id
      left join installations i on i.id = g.installation_id
      left join agent_apps a on a.id = i.app_id
      left join users u on u.id = i.app_user_id
      left join users p on p.id = g.user_id
      left join memberships m on m.user_id = p.id and m.workspace_id = g.workspace_id
      where t.hash = ${tokenHash} and g.compat is not distinct from ${compat}::text
        and (g.compat is null or a.compat = g.compat)
    )
    select found.*, taken.* from found left join lateral ${takeFromWindow(limit, sql`found.holder`, now)} taken on true`
}

/** The apps whose access token, grant and installation are still valid (run.listen-as-app-ends-with-access). */
export async function withValidToken({ db, clock }: Context, apps: readonly App[]): Promise<App[]> {
  const now = clock.now()
  const rows = await db.rows<{ hash: string }>(sql`
    select encode(t.hash, 'hex') as hash from access_tokens t
    join grants g on g.id = t.grant_id
    join installations i on i.id = g.installation_id
    where t.hash in (select decode(h, 'hex') from unnest(${apps.map(hexOf)}::text[]) h)
      and t.expires_at > ${now} and g.ended_at is null and g.expires_at > ${now} and i.revoked_at is null`)
  const valid = new Set(rows.map(({ hash }) => hash))
  return apps.filter((app) => valid.has(hexOf(app)))
}

const hexOf = ({ tokenHash }: App) => tokenHash.toString('hex')

/** The approved scopes that the manifest still has (scope.removed-from-manifest); no approved scope means `read` (scope.empty-grant-is-read). */
export function effectiveScopes(approved: AppScope[] | null, requested: AppScope[] | null): AppScope[] {
  if (!approved || approved.length === 0) return ['read']
  return approved.filter((scope) => requested?.includes(scope))
}
