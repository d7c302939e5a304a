import { type Sql, sql } from '../db/sql.ts'
import { type Actor, limitedTo } from '../http/caller.ts'
import { memberCovered } from './coverage.ts'

/** Selects the ids of the current users of a workspace: people, installed apps, agents inside the service. */
export const usersIn = (workspaceId: string): Sql => sql`
  select user_id as id from memberships where workspace_id = ${workspaceId}
  union all select app_user_id from installations where workspace_id = ${workspaceId} and revoked_at is null
  union all select user_id from inside_agents where workspace_id = ${workspaceId} and deleted_at is null`

/** The users among them that the caller sees: of personal agents only their own, with selected teams only their members. */
export const usersSeenBy = (caller: Actor): Sql => sql`
  select user_id as id from memberships
    where workspace_id = ${caller.workspaceId} and ${memberCovered(caller, sql`user_id`)}
  union all ${agentsSeenBy(caller)}`

export function agentsSeenBy(caller: Actor): Sql {
  const teamIds = limitedTo(caller)
  return sql`
  select app_user_id as id from installations
    where workspace_id = ${caller.workspaceId} and revoked_at is null
      and ${teamIds === null ? sql`true` : sql`(all_teams or team_ids && ${teamIds})`}
  union all select user_id from inside_agents
    where workspace_id = ${caller.workspaceId} and deleted_at is null and (owner_id is null or owner_id = ${caller.id})`
}
