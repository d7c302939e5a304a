import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { InstalledApp } from './availability.ts'

/** An agent of a workspace, which work can be handed to if it is available. */
export interface Agent {
  id: string
  installationId: string
  /** Null once it was uninstalled. */
  installed: InstalledApp | null
}

/**
 * The agents among these users. Held (`for share of i`), none of them is uninstalled or loses a team until the
 * transaction ends; whoever holds them does so before anything else, as whoever takes teams away does.
 */
export async function findAgents(
  db: Queryable,
  workspaceId: string,
  userIds: readonly string[],
  hold: Sql = none,
): Promise<Agent[]> {
  if (userIds.length === 0) return []
  const rows = await db.rows<InstalledApp & { id: string; installationId: string; revoked: boolean }>(sql`
    select i.app_user_id as id, i.id as "installationId", i.revoked_at is not null as revoked,
      i.all_teams as "allTeams", i.team_ids as "teamIds", i.scopes as approved, a.requested_scopes as requested,
      e.state as webhook
    from installations i
    join agent_apps a on a.id = i.app_id
    join endpoints e on e.id = a.endpoint_id
    where i.workspace_id = ${workspaceId} and i.app_user_id = any(${userIds})
    order by i.id ${hold}`)
  return rows.map(({ id, installationId, revoked, ...installed }) => ({
    id,
    installationId,
    installed: revoked ? null : installed,
  }))
}

/**
 * Until the transaction ends no app of the workspace loses a team: for whoever takes an item from one team to another,
 * and ends what goes on there by what each app covers. Held before the item is, as whoever takes teams away does.
 */
export const holdCoverage = (tx: Queryable, workspaceId: string) =>
  tx.rows(sql`
    select 1 from installations where workspace_id = ${workspaceId} and revoked_at is null order by id for share`)
