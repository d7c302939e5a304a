import type { ActivityQuery, AgentActivity } from '@baton/protocol'
import { limits } from '@baton/protocol'
import { iconUrl } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { mustSeeSession } from './read.ts'

type Row = Omit<AgentActivity, 'author'> & {
  author: Omit<AgentActivity['author'], 'avatar_url'>
  app_id: string | null
}

export const avatarOf = (config: Config, appId: string | null) => (appId ? iconUrl(config, appId) : null)

/** Activities as the wire has them (2.7). `a` is the activity. */
export async function readActivities(db: Queryable, config: Config, condition: Sql): Promise<AgentActivity[]> {
  const rows = await db.rows<Row>(sql`
    select a.id, a.seq, a.type, a.content, a.ephemeral, a.superseded_by_seq, a.signal, a.signal_metadata,
      jsonb_build_object('kind', a.author_kind, 'id', u.id, 'name', u.display_name) as author, i.app_id, a.created_at
    from agent_activities a
    join users u on u.id = a.author_id
    left join installations i on a.author_kind = 'app' and i.app_user_id = a.author_id
    where ${condition}`)
  // In the order of 2.7, so that what is read again is the same to the byte.
  return rows.map(({ app_id, author: { kind, id, name }, created_at, ...activity }) => ({
    ...activity,
    author: { kind, id, name, avatar_url: avatarOf(config, app_id) },
    created_at,
  }))
}

export const activitiesAfter = (db: Queryable, config: Config, sessionId: string, seq: number, count: number) =>
  readActivities(db, config, sql`a.session_id = ${sessionId} and a.seq > ${seq} order by a.seq limit ${count}`)

export async function listActivities(
  { db, config }: Context,
  caller: Actor,
  sessionId: string,
  { after_seq = 0, limit = limits.pageDefault }: ActivityQuery,
) {
  await mustSeeSession(db, caller, sessionId)
  const activities = await activitiesAfter(db, config, sessionId, after_seq, limit + 1)
  const data = activities.slice(0, limit)
  return { data, has_more: activities.length > limit, last_seq: data.at(-1)?.seq ?? after_seq }
}
