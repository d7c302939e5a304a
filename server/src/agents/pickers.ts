import { type AgentQuery, type Choice, listenUrl, type NamesQuery, type UserQuery } from '@baton/protocol'
import { hasListener } from '../agent-apps/listeners.ts'
import { avatarOf } from '../agent-sessions/activities.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Actor, Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { page } from '../http/paging.ts'
import {
  type InsideAgent,
  type InstalledApp,
  unavailableReason,
  type WorkPlace,
} from '../installations/availability.ts'
import { spendingOf } from '../installations/budget.ts'
import { findIssueId } from '../issues/read.ts'
import { covers } from '../workspaces/coverage.ts'
import { agentsSeenBy, usersSeenBy } from '../workspaces/users.ts'

interface Row {
  id: string
  display_name: string
  user_kind: 'human' | 'application'
  agent_kind: Choice['agent_kind']
  app: ({ id: string } & InstalledApp) | null
  inside: InsideAgent | null
  listening: boolean | null
}

export const selectUsers = (ctx: Context, caller: Actor, query: UserQuery) =>
  pick(ctx, caller, query, usersSeenBy(caller), sql`true`)

export const listAgents = (ctx: Context, caller: Actor, { include_apps, include_deployment, ...query }: AgentQuery) => {
  const kinds = ['personal', ...(include_apps ? ['app'] : []), ...(include_deployment ? ['deployment'] : [])]
  return pick(ctx, caller, query, agentsSeenBy(caller), sql`u.agent_kind = any(${kinds})`)
}

/** A person or agent that the lists above show to this caller; else 404. */
export async function readUser(ctx: Context, caller: Actor, id: string): Promise<Choice> {
  const row = await ctx.db.row<Row>(sql`${rowsOf(ctx, usersSeenBy(caller))} where u.id = ${id}`)
  return choiceOf(ctx, caller, found(row), null)
}

/** Names of people whom no list has: placeholders of the workspace, and erased people. */
export async function listNames({ db }: Context, { workspaceId }: Member, { ids }: NamesQuery) {
  const data = await db.rows<{ id: string; display_name: string }>(sql`
    select id, display_name from users u where id = any(${ids.split(',')})
      and (placeholder_in = ${workspaceId} or exists (select from erasures e where e.user_id = u.id))
    order by id`)
  return { data }
}

async function pick(ctx: Context, caller: Actor, query: UserQuery, users: Sql, filter: Sql) {
  const place = await placeOf(ctx.db, caller, query)
  return page<Choice>(
    ctx.keys,
    'users to choose',
    query,
    ({ id }) => [id],
    async (after, count) => {
      const rows = await ctx.db.rows<Row>(sql`
        ${rowsOf(ctx, users)}
        where ${filter}
          ${query.query ? sql`and u.display_name ilike ${containing(query.query)}` : none}
          ${after ? sql`and u.id < ${after[0]}` : none}
        order by u.id desc limit ${count}`)
      return rows.map((row) => choiceOf(ctx, caller, row, place))
    },
  )
}

const rowsOf = ({ clock }: Context, users: Sql) => sql`
  select u.id, u.display_name, u.user_kind, u.agent_kind, case when i.id is not null then
    jsonb_build_object('id', a.id, 'allTeams', i.all_teams, 'teamIds', i.team_ids, 'approved', i.scopes,
      'requested', a.requested_scopes, 'webhook', w.state, 'spending', ${spendingOf(clock.now())}) end as app,
    case when n.user_id is not null then jsonb_build_object('ownerId', n.owner_id) end as inside,
    case when w.url = ${listenUrl} then ${hasListener(clock.now())} end as listening
  from (${users}) e join users u on u.id = e.id
  left join inside_agents n on n.user_id = u.id
  left join installations i on i.app_user_id = u.id
  left join agent_apps a on a.id = i.app_id
  left join endpoints w on w.id = a.endpoint_id`

function choiceOf({ config }: Context, { id }: Actor, { app, inside, ...user }: Row, place: WorkPlace | null): Choice {
  const agent = app ?? inside
  const reason = agent && unavailableReason(agent, place, id)
  return {
    ...user,
    avatar_url: avatarOf(config, user.agent_kind, app?.id ?? null),
    available: reason === null,
    unavailable_reason: reason,
  }
}

/** The team of the issue, or the given team; null if the query names neither. */
async function placeOf(db: Queryable, caller: Actor, { issue_id, team_id }: UserQuery): Promise<WorkPlace | null> {
  if (issue_id) {
    const id = await findIssueId(db, caller, issue_id)
    const issue = await db.row<WorkPlace>(sql`
      select personal, array_remove(array[team_id], null) as "teamIds" from issues where id = ${id}`)
    return issue ?? null
  }
  if (!team_id) return null
  const team = await db.row(sql`select 1 from teams where workspace_id = ${caller.workspaceId} and id = ${team_id}`)
  if (!team || !covers(caller, team_id)) throw invalid({ team_id: 'is not a team of this workspace' })
  return { personal: false, teamIds: [team_id] }
}
