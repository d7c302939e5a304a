import { sql } from '../db/sql.ts'

/**
 * The end of a statement that began by recording events: one delivery for each endpoint that is to hear of each. They
 * are rows of the transaction that made the change, so there is no change without its deliveries, and the reverse.
 * `recorded` has the columns of events; an event without a team is for all-teams endpoints alone (6.5.5).
 */
export const enqueueRecorded = sql`
  insert into deliveries
    (id, workspace_id, endpoint_id, event_id, installation_id, type, action, status, attempts, scheduled, next_at,
      created_at)
  select delivery_id(r.id, e.id), r.workspace_id, e.id, r.id, i.id, r.type, r.action, 'pending', 0, 0, r.created_at,
    r.created_at
  from recorded r
  join endpoints e on e.workspace_id = r.workspace_id and e.deleted_at is null
  left join installations i on i.app_id = e.app_id and i.revoked_at is null
  where e.state = 'enabled' and r.type = any(e.resource_types) and case when e.app_id is null
    then e.all_teams or e.team_ids && r.team_ids
    else i.id is not null and (i.all_teams or i.team_ids && r.team_ids) end
  returning endpoint_id`
