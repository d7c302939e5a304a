import type { ActivityQuery, AgentActivity, Choice } from '@baton/protocol'
import { limits } from '@baton/protocol'
import { iconUrl } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { limitTo } from '../http/paging.ts'
import { mustSeeSession } from './read.ts'

type Row = Omit<AgentActivity, 'author'> & {
  author: Omit<AgentActivity['author'], 'avatar_url'>
  agent_kind: Choice['agent_kind']
  app_id: string | null
}

/** The icon of an app, or the logo of the built-in agent. */
export function avatarOf(config: Config, kind: Choice['agent_kind'], appId: string | null) {
  if (appId) return iconUrl(config, appId)
  return kind === 'deployment' ? `${config.appUrl}/assets/baton-agent.svg` : null
}

/** Activities in the format of the API. `condition` is on the activity `a`. */
export async function readActivities(db: Queryable, config: Config, condition: Sql): Promise<AgentActivity[]> {
  const rows = await db.rows<Row>(sql`
    select a.id, a.seq, a.type, a.content, a.ephemeral, a.superseded_by_seq, a.signal, a.signal_metadata,
      jsonb_build_object('kind', a.author_kind, 'id', u.id, 'name', u.display_name) as author,
      u.agent_kind, i.app_id, a.created_at
    from agent_activities a
    join users u on u.id = a.author_id
    left join installations i on a.author_kind = 'app' and i.app_user_id = a.author_id
    where ${condition}`)
  // The same order of keys as in the response to the post, so that a replay is identical byte for byte.
  return rows.map(({ agent_kind, app_id, author: { kind, id, name }, created_at, ...activity }) => ({
    ...activity,
    author: { kind, id, name, avatar_url: avatarOf(config, agent_kind, app_id) },
    created_at,
  }))
}

export const activitiesAfter = (
  { db, config }: Pick<Context, 'db' | 'config'>,
  sessionId: string,
  seq: number,
  count: number,
) => readActivities(db, config, sql`a.session_id = ${sessionId} and a.seq > ${seq} order by a.seq ${limitTo(count)}`)

export async function listActivities(
  ctx: Context,
  caller: Actor,
  sessionId: string,
  { after_seq = 0, limit = limits.pageDefault }: ActivityQuery,
) {
  await mustSeeSession(ctx.db, caller, sessionId)
  const activities = await activitiesAfter(ctx, sessionId, after_seq, limit + 1)
  const data = activities.slice(0, limit)
  return { data, has_more: activities.length > limit, last_seq: data.at(-1)?.seq ?? after_seq }
}
