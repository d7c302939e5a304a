import type { AppSetup } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'

/** Only this many answered sessions are searched for a first thought, to limit the query. */
const sessionsSearched = 100

/**
 * The steps from registration to the agent's first thought, over all installations of the app. An A2A agent posts no
 * thoughts itself, so its first activity of any type counts.
 */
export const readSetup = async ({ db }: Context, { workspaceId }: Member, id: string) =>
  found(
    await db.row<AppSetup>(sql`
      select a.created_at as registered_at,
        (select i.created_at from installations i where i.app_id = a.id and i.revoked_at is null) as installed_at,
        (select g.tokens_issued_at from installations i join grants g on g.installation_id = i.id
          where i.app_id = a.id and i.revoked_at is null and g.ended_at is null
          order by g.id desc limit 1) as tokens_fetched_at,
        (select min(first_success_at) from endpoint_days where endpoint_id = a.endpoint_id) as first_delivered_at,
        (select min(t.created_at) from installations i
          cross join lateral (
            select s.id from agent_sessions s where s.agent_id = i.app_user_id and s.answered_at is not null
            order by s.id limit ${sessionsSearched}) s
          cross join lateral (
            select t.created_at from agent_activities t
            where t.session_id = s.id and (t.type = 'thought' or e.protocol = 'a2a') and t.author_kind = 'app'
            order by t.seq limit 1) t
          where i.app_id = a.id) as first_thought_at
      from agent_apps a join endpoints e on e.id = a.endpoint_id where a.workspace_id = ${workspaceId} and a.id = ${id} and a.deleted_at is null`),
  )
