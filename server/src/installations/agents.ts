import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { InsideAgent, InstalledApp } from './availability.ts'
import { spendingOf } from './budget.ts'

type Finding = UnitOfWork<{ workspaceId: string }>

/** An agent of a workspace. */
export interface Agent {
  id: string
  /** Null for an agent inside the service. */
  installationId: string | null
  /** Decides its availability; null after the app was uninstalled. */
  access: InstalledApp | InsideAgent | null
}

/**
 * The agents among these users. With the lock `for share of i`, none of them is uninstalled, deleted or loses a team
 * until the transaction ends. Take this lock first: changes of coverage do the same, which avoids deadlocks.
 */
export async function findAgents(unit: Finding, userIds: readonly string[], hold: Sql = none): Promise<Agent[]> {
  if (userIds.length === 0) return []
  const apps = await findApps(unit, userIds, hold)
  const rest = userIds.filter((id) => !apps.some((app) => app.id === id))
  return rest.length === 0 ? apps : [...apps, ...(await findInside(unit, rest, hold))]
}

async function findApps({ tx, now, caller }: Finding, userIds: readonly string[], hold: Sql): Promise<Agent[]> {
  const rows = await tx.rows<InstalledApp & { id: string; installationId: string; revoked: boolean }>(sql`
    select i.app_user_id as id, i.id as "installationId", i.revoked_at is not null as revoked,
      i.all_teams as "allTeams", i.team_ids as "teamIds", i.scopes as approved, a.requested_scopes as requested,
      e.state as webhook, ${spendingOf(now)} as spending
    from installations i
    join agent_apps a on a.id = i.app_id
    join endpoints e on e.id = a.endpoint_id
    where i.workspace_id = ${caller.workspaceId} and i.app_user_id = any(${userIds})
    order by i.id ${hold}`)
  return rows.map(({ id, installationId, revoked, ...installed }) => ({
    id,
    installationId,
    access: revoked ? null : installed,
  }))
}

/** Agents inside the service, without deleted ones. */
async function findInside({ tx, caller }: Finding, userIds: readonly string[], hold: Sql): Promise<Agent[]> {
  const rows = await tx.rows<{ id: string; ownerId: string | null }>(sql`
    select i.user_id as id, i.owner_id as "ownerId" from inside_agents i
    where i.workspace_id = ${caller.workspaceId} and i.user_id = any(${userIds}) and i.deleted_at is null
    order by i.user_id ${hold}`)
  return rows.map(({ id, ownerId }) => ({ id, installationId: null, access: { ownerId } }))
}

/** The owner of a personal agent; null for other agents. */
export const ownerOf = ({ access }: Pick<Agent, 'access'>): string | null =>
  access && 'ownerId' in access ? access.ownerId : null

/**
 * Locks the coverage of all apps of the workspace until the transaction ends. Needed to move an item between teams,
 * because that ends the sessions of apps that do not cover the new team. Take this lock before the item's.
 */
export const holdCoverage = (tx: Queryable, workspaceId: string) =>
  tx.rows(sql`
    select 1 from installations where workspace_id = ${workspaceId} and revoked_at is null order by id for share`)
