import type { AppScope, Role } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import {
  type Counted,
  letThrough,
  type RateLimit,
  rateLimitOf,
  type Taken,
  takeFromWindow,
} from '../http/rate-window.ts'
import type { ResolveCaller } from '../http/server.ts'

interface Found extends Taken {
  workspaceId: string
  grantScopes: AppScope[]
  app: Omit<App, 'kind' | 'workspaceId' | 'workspaceAsked' | 'tokenHash' | 'scopes' | 'personalOf'> | null
  approvedScopes: AppScope[] | null
  manifestScopes: AppScope[] | null
  revoked: boolean | null
  expired: boolean
  person: { id: string; name: string; email: string; role: Role | null } | null
  grantId: string
  lastUsedAt: string | null
}

/** A last use is written down once a minute, not at every request. */
export const lastUseGrainMs = 60_000

/**
 * Whom an access token stands for. Scopes, coverage and role are those of this moment, not of when it was issued: what
 * a manager takes away is gone at once (decisions 4). Their call is counted in the same trip to the database.
 */
export async function bearerOfToken(
  { config, db, clock }: Context,
  token: string,
  workspaceAsked: string | undefined,
  counted: Counted | null,
): ReturnType<ResolveCaller> {
  const tokenHash = sha256(token)
  const limit = counted && rateLimitOf(config, counted)
  const found = await db.row<Found>(findToken(tokenHash, limit, clock.now()))
  if (!found) throw new ApiError('UNAUTHORIZED')
  const { workspaceId, app, person } = found
  if (app && found.revoked) throw new ApiError('INSTALLATION_REVOKED')
  if (found.expired) throw new ApiError('UNAUTHORIZED')
  const headers = () => (limit ? letThrough(limit, found) : {})
  if (app) {
    const scopes = effectiveScopes(found.approvedScopes, found.manifestScopes)
    const asked = { workspaceId, workspaceAsked: workspaceAsked ?? null }
    return { caller: { kind: 'app', ...app, ...asked, tokenHash, scopes, personalOf: null }, headers: headers() }
  }
  if (!person) throw new ApiError('UNAUTHORIZED')
  await noteUse(db, found, clock.now())
  // A program of a person is pinned to the workspace they chose, and needs not name it (decisions 9).
  const role = workspaceAsked && workspaceAsked !== workspaceId ? null : person.role
  const caller = { kind: 'person' as const, ...person, role, tokenHash, workspaceId, scopes: found.grantScopes }
  return { caller, headers: headers() }
}

async function noteUse(db: Queryable, { grantId, lastUsedAt }: Found, now: Date) {
  if (lastUsedAt && now.getTime() - Date.parse(lastUsedAt) < lastUseGrainMs) return
  await db.run(sql`
    update grants set last_used_at = ${now} where id = ${grantId} and (last_used_at is null or last_used_at < ${now})`)
}

/**
 * Finds the token and then, if it is good, takes a call from the limit of whoever holds it: on the Agent Session API the
 * whole installation, elsewhere the token alone.
 */
function findToken(tokenHash: Buffer, limit: RateLimit | null, now: Date): Sql {
  const installation = limit?.name === 'sessions' ? sql`i.id` : sql`null`
  return sql`
    with found as materialized (
      select g.id as "grantId", g.last_used_at as "lastUsedAt", g.workspace_id as "workspaceId",
        g.scopes as "grantScopes", i.scopes as "approvedScopes",
        a.requested_scopes as "manifestScopes", i.revoked_at is not null as revoked,
        t.expires_at <= ${now} as expired,
        case when i.id is not null then jsonb_build_object('id', u.id, 'name', u.display_name, 'appId', a.id,
          'appName', a.name, 'installationId', i.id, 'allTeams', i.all_teams, 'teamIds', i.team_ids) end as app,
        case when p.id is not null then
          jsonb_build_object('id', p.id, 'name', p.display_name, 'email', p.email, 'role', m.role) end as person,
        case when t.expires_at > ${now} and i.revoked_at is null and coalesce(i.id, p.id) is not null
          then coalesce(${installation}, encode(t.hash, 'hex')) end as holder
      from access_tokens t
      join grants g on g.id = t.grant_id
      left join installations i on i.id = g.installation_id
      left join agent_apps a on a.id = i.app_id
      left join users u on u.id = i.app_user_id
      left join users p on p.id = g.user_id
      left join memberships m on m.user_id = p.id and m.workspace_id = g.workspace_id
      where t.hash = ${tokenHash}
    )
    select found.*, taken.* from found left join lateral ${takeFromWindow(limit, sql`found.holder`, now)} taken on true`
}

/** decisions 4: what was approved, less what the manifest no longer asks for. Approved with no scope acts as `read`. */
export function effectiveScopes(approved: AppScope[] | null, requested: AppScope[] | null): AppScope[] {
  if (!approved || approved.length === 0) return ['read']
  return approved.filter((scope) => requested?.includes(scope))
}

/** What programs of a person were given ends, in one workspace or in all. */
export async function endGrantsOf(tx: Queryable, now: Date, userId: string, workspaceId: string | null = null) {
  const theirs = sql`user_id = ${userId} ${workspaceId ? sql`and workspace_id = ${workspaceId}` : none}`
  await tx.run(sql`delete from access_tokens where grant_id in (select id from grants where ${theirs})`)
  await tx.run(sql`update grants set ended_at = ${now} where ${theirs} and ended_at is null`)
}
