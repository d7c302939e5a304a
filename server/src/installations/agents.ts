import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { InsideAgent, InstalledApp } from './availability.ts'

/** An agent of a workspace, which work can be handed to if it is available. */
export interface Agent {
  id: string
  /** Null for an agent inside the service. */
  installationId: string | null
  /** What decides whether it is available; null once the app was uninstalled. */
  standing: InstalledApp | InsideAgent | null
}

/**
 * The agents among these users. Held (`for share of i`), none of them is uninstalled, deleted or loses a team until the
 * transaction ends; whoever holds them does so before anything else, as whoever takes teams away does.
 */
export async function findAgents(
  db: Queryable,
  workspaceId: string,
  userIds: readonly string[],
  hold: Sql = none,
): Promise<Agent[]> {
  if (userIds.length === 0) return []
  const apps = await findApps(db, workspaceId, userIds, hold)
  const rest = userIds.filter((id) => !apps.some((app) => app.id === id))
  return rest.length === 0 ? apps : [...apps, ...(await findInside(db, workspaceId, rest, hold))]
}

async function findApps(db: Queryable, workspaceId: string, userIds: readonly string[], hold: Sql): Promise<Agent[]> {
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
    standing: revoked ? null : installed,
  }))
}

/** Those that run inside the service; one that its owner deleted is nobody any more. */
async function findInside(db: Queryable, workspaceId: string, userIds: readonly string[], hold: Sql): Promise<Agent[]> {
  const rows = await db.rows<{ id: string; ownerId: string | null }>(sql`
    select i.user_id as id, i.owner_id as "ownerId" from inside_agents i
    where i.workspace_id = ${workspaceId} and i.user_id = any(${userIds}) and i.deleted_at is null
    order by i.user_id ${hold}`)
  return rows.map(({ id, ownerId }) => ({ id, installationId: null, standing: { ownerId } }))
}

/** Whose personal agent it is, if it is one. */
export const ownerOf = ({ standing }: Pick<Agent, 'standing'>): string | null =>
  standing && 'ownerId' in standing ? standing.ownerId : null

/**
 * Until the transaction ends no app of the workspace loses a team: for whoever takes an item from one team to another,
 * and ends what goes on there by what each app covers. Held before the item is, as whoever takes teams away does.
 */
export const holdCoverage = (tx: Queryable, workspaceId: string) =>
  tx.rows(sql`
    select 1 from installations where workspace_id = ${workspaceId} and revoked_at is null order by id for share`)
