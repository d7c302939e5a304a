import { sql } from '../db/sql.ts'
import { passesFilters } from '../delivery/filters.ts'

/** Whether event `r` is for the webhook `e` of a workspace, whatever its state. */
export const isForWebhook = sql`
  (r.type = any(e.resource_types) and (e.all_teams or e.team_ids && r.team_ids) and ${passesFilters})`

/**
 * Selects the endpoints that receive the events of the CTE `recorded`, as `enqueue` expects them. An event without a team
 * goes only to endpoints that cover all teams (event.no-team-only-all-teams).
 */
export const recipientsOfRecorded = sql`
  select r.id as event_id, r.workspace_id, e.id as endpoint_id, i.id as installation_id, r.type, r.action, r.created_at,
    null as blocked_by, false as may_block, false as survives_revocation, a.compat as format
  from recorded r
  join endpoints e on e.workspace_id = r.workspace_id and e.deleted_at is null
  left join agent_apps a on a.id = e.app_id
  left join installations i on i.app_id = e.app_id and i.revoked_at is null
  where e.state = 'enabled' and r.type = any(e.resource_types) and case when e.app_id is null then ${isForWebhook}
    else i.id is not null and (i.all_teams or i.team_ids && r.team_ids) end`
