import { none, type Sql, sql } from '../db/sql.ts'

/** Selects the ids of the current users of a workspace: people, installed apps, agents inside the service. */
export const usersIn = (workspaceId: string, insideAgents: Sql = none): Sql => sql`
  select user_id as id from memberships where workspace_id = ${workspaceId}
  union all select app_user_id from installations where workspace_id = ${workspaceId} and revoked_at is null
  union all select user_id from inside_agents
    where workspace_id = ${workspaceId} and deleted_at is null ${insideAgents}`
