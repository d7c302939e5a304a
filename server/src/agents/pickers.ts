import type { AgentQuery, Choice, UserQuery } from '@baton/protocol'
import { iconUrl } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { none, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { invalid } from '../http/errors.ts'
import { page } from '../http/paging.ts'
import {
  type InsideAgent,
  type InstalledApp,
  unavailableReason,
  type WorkPlace,
} from '../installations/availability.ts'
import { covers } from '../installations/reach.ts'
import { findIssueId } from '../issues/read.ts'

interface Row {
  id: string
  display_name: string
  user_kind: 'human' | 'application'
  agent_kind: Choice['agent_kind']
  app: ({ id: string } & InstalledApp) | null
  inside: InsideAgent | null
}

export const selectUsers = (ctx: Context, caller: Actor, query: UserQuery) => pick(ctx, caller, query, none)

export const listAgents = (ctx: Context, caller: Actor, { include_apps, include_deployment, ...query }: AgentQuery) => {
  const kinds = ['personal', ...(include_apps ? ['app'] : []), ...(include_deployment ? ['deployment'] : [])]
  return pick(ctx, caller, query, sql`and u.agent_kind = any(${kinds})`)
}

async function pick(ctx: Context, caller: Actor, query: UserQuery, filter: ReturnType<typeof sql>) {
  const place = await placeOf(ctx.db, caller, query)
  return page<Choice>(
    ctx.keys,
    'users to choose',
    query,
    ({ id }) => [id],
    async (after, count) => {
      const rows = await ctx.db.rows<Row>(sql`
        select u.id, u.display_name, u.user_kind, u.agent_kind, case when i.id is not null then
          jsonb_build_object('id', a.id, 'allTeams', i.all_teams, 'teamIds', i.team_ids, 'approved', i.scopes,
            'requested', a.requested_scopes, 'webhook', e.state) end as app,
          case when n.user_id is not null then jsonb_build_object('ownerId', n.owner_id) end as inside
        from users u
        left join inside_agents n on n.user_id = u.id
        left join installations i on i.app_user_id = u.id
        left join agent_apps a on a.id = i.app_id
        left join endpoints e on e.id = a.endpoint_id
        where (u.id in (select user_id from memberships where workspace_id = ${caller.workspaceId})
            or u.id in (select app_user_id from installations
              where workspace_id = ${caller.workspaceId} and revoked_at is null)
            or u.id in (select user_id from inside_agents
              where workspace_id = ${caller.workspaceId} and deleted_at is null
                and (owner_id is null or owner_id = ${caller.id})))
          ${filter}
          ${query.query ? sql`and u.display_name ilike ${containing(query.query)}` : none}
          ${after ? sql`and u.id < ${after[0]}` : none}
        order by u.id desc limit ${count}`)
      return rows.map((row) => choiceOf(ctx, caller, row, place))
    },
  )
}

function choiceOf({ config }: Context, { id }: Actor, { app, inside, ...user }: Row, place: WorkPlace | null): Choice {
  const agent = app ?? inside
  const reason = agent && unavailableReason(agent, place, id)
  return {
    ...user,
    avatar_url: pictureOf(config, app, user.agent_kind),
    available: reason === null,
    unavailable_reason: reason,
  }
}

/** An app has its icon, the built-in agent the mark of the service in the colour of agents. */
function pictureOf(config: Config, app: Row['app'], kind: Row['agent_kind']) {
  if (app) return iconUrl(config, app.id)
  return kind === 'deployment' ? `${config.appUrl}/assets/baton-agent.svg` : null
}

/** Where the work is: the issue's team, or the team itself; null when nothing is said about it. */
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
