import type { AppScope } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { effectiveScopes } from '../login/tokens.ts'

type Found = Omit<App, 'kind' | 'scopes' | 'tokenHash' | 'personalOf' | 'workspaceAsked'> & {
  approved: AppScope[]
  requested: AppScope[]
}

/** The app as a caller, with the access it has now; undefined if it was uninstalled. */
export async function findAgentCaller(db: Queryable, appId: string): Promise<App | undefined> {
  const found = await db.row<Found>(sql`
    select u.id, u.display_name as name, i.workspace_id as "workspaceId", a.id as "appId", a.name as "appName",
      i.id as "installationId", i.all_teams as "allTeams", i.team_ids as "teamIds", i.scopes as approved,
      a.requested_scopes as requested, w.deletion_at is not null as "pendingDeletion"
    from installations i
    join agent_apps a on a.id = i.app_id and a.deleted_at is null
    join users u on u.id = i.app_user_id
    join workspaces w on w.id = i.workspace_id
    where i.app_id = ${appId} and i.revoked_at is null`)
  if (!found) return undefined
  const { approved, requested, ...app } = found
  const scopes = effectiveScopes(approved, requested)
  // It has no token: the service itself lets it in.
  const admitted = { workspaceAsked: app.workspaceId, tokenHash: Buffer.alloc(0), personalOf: null }
  return { kind: 'app', ...app, ...admitted, scopes }
}
