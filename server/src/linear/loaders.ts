import type { AgentActivity, AgentSession, Choice, Comment, Issue, Label, Project, Role, Team } from '@baton/protocol'
import { avatarOf, readActivities } from '../agent-sessions/activities.ts'
import { isVisibleTo } from '../agent-sessions/read.ts'
import { readSessions } from '../agent-sessions/session.ts'
import { visibleTo as commentVisibleTo } from '../comments/comments.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { readComments, withoutPlace } from '../events/placed-comments.ts'
import { type App, grants } from '../http/caller.ts'
import { issueInReach, projectInReach } from '../installations/reach.ts'
import { issueColumns, type StoredIssue } from '../issues/queries.ts'
import { withUrl as issueWithUrl } from '../issues/read.ts'
import { withUrl as projectWithUrl } from '../projects/projects.ts'
import { projectColumns, type StoredProject } from '../projects/queries.ts'
import { memberCovered } from '../workspaces/coverage.ts'
import { ofCaller, columns as teamColumns } from '../workspaces/teams.ts'

/** A person or agent. */
export interface User {
  id: string
  name: string
  /** Null for agents, and for people whom the members list does not show to the app. */
  email: string | null
  isAgent: boolean
  /** Null for agents and for people who left. */
  role: Role | null
  isActive: boolean
  avatarUrl: string | null
  createdAt: string
}

/** An activity with the session that it belongs to. */
export type PlacedActivity = AgentActivity & { sessionId: string }

/**
 * Reads items by their ids, each kind with one statement, and none that the app cannot see. Keeps them for the request.
 * Without the scope `read` that is its own user, and its sessions and their activities.
 */
export class Loaders {
  readonly issues: (ids: string[]) => Promise<Map<string, Issue>>
  readonly comments: (ids: string[]) => Promise<Map<string, Comment>>
  readonly projects: (ids: string[]) => Promise<Map<string, Project>>
  readonly teams: (ids: string[]) => Promise<Map<string, Team>>
  readonly labels: (ids: string[]) => Promise<Map<string, Label>>
  readonly users: (ids: string[]) => Promise<Map<string, User>>
  readonly sessions: (ids: string[]) => Promise<Map<string, AgentSession>>
  readonly activities: (ids: string[]) => Promise<Map<string, PlacedActivity>>

  constructor(ctx: Context, caller: App) {
    const { db, config, clock } = ctx
    const { workspaceId } = caller
    const canRead = grants(caller.scopes, 'read')
    const withRead: typeof cached = (read) => cached(canRead ? read : async () => [])
    this.issues = withRead(async (ids) => {
      const issues = await db.rows<StoredIssue>(sql`
        select ${issueColumns} from issues i
        where i.workspace_id = ${workspaceId} and ${issueInReach(caller)} and i.id = any(${ids})`)
      return issues.map((issue) => issueWithUrl(config, issue))
    })
    this.comments = withRead(async (ids) => {
      const condition = sql`c.workspace_id = ${workspaceId} and ${commentVisibleTo(caller)} and c.id = any(${ids})`
      return (await readComments(config, db, condition)).map(withoutPlace)
    })
    this.projects = withRead(async (ids) => {
      const projects = await db.rows<StoredProject>(sql`
        select ${projectColumns} from projects p
        where p.workspace_id = ${workspaceId} and ${projectInReach(caller)} and p.id = any(${ids})`)
      return projects.map((project) => projectWithUrl(config, project))
    })
    this.teams = withRead((ids) =>
      db.rows<Team>(sql`select ${teamColumns} from teams where ${ofCaller(caller)} and id = any(${ids})`),
    )
    this.labels = withRead((ids) =>
      db.rows<Label>(sql`
        select id, name, color, created_at, updated_at from labels
        where workspace_id = ${workspaceId} and id = any(${ids})`),
    )
    this.users = cached((ids) => readUsers(ctx, caller, canRead ? ids : ids.filter((id) => id === caller.id)))
    this.sessions = cached((ids) =>
      readSessions(db, config, clock.now(), sql`${isVisibleTo(caller)} and s.id = any(${ids})`),
    )
    this.activities = cached(async (ids) => {
      const places = await db.rows<{ id: string; sessionId: string }>(sql`
        select a.id, a.session_id as "sessionId" from agent_activities a
        join agent_sessions s on s.id = a.session_id
        left join issues i on i.id = s.issue_id left join projects p on p.id = s.project_id
        where a.id = any(${ids}) and ${isVisibleTo(caller)}`)
      const sessions = new Map(places.map(({ id, sessionId }) => [id, sessionId]))
      const activities = await readActivities(db, config, sql`a.id = any(${[...sessions.keys()]})`)
      return activities.map((activity) => ({ ...activity, sessionId: sessions.get(activity.id) as string }))
    })
  }
}

/** A loader that asks for each id once. */
function cached<Item extends { id: string }>(read: (ids: string[]) => Promise<Item[]>) {
  const known = new Map<string, Item | undefined>()
  return async (ids: string[]): Promise<Map<string, Item>> => {
    const missing = [...new Set(ids)].filter((id) => !known.has(id))
    for (const id of missing) known.set(id, undefined)
    if (missing.length > 0) for (const item of await read(missing)) known.set(item.id, item)
    return new Map(
      ids.flatMap((id): [string, Item][] => {
        const item = known.get(id)
        return item ? [[id, item]] : []
      }),
    )
  }
}

/** Users that items of the workspace refer to; their names are shown with those items. */
async function readUsers({ db, config }: Context, caller: App, ids: string[]): Promise<User[]> {
  const rows = await db.rows<Omit<User, 'avatarUrl'> & { agentKind: Choice['agent_kind']; appId: string | null }>(sql`
    select u.id, u.display_name as name, u.user_kind <> 'human' as "isAgent", u.agent_kind as "agentKind", m.role,
      case when m.user_id is not null and ${memberCovered(caller, sql`u.id`)} then u.email end as email,
      coalesce(m.user_id is not null or i.revoked_at is null and i.id is not null
        or n.user_id is not null and n.deleted_at is null, false) as "isActive",
      i.app_id as "appId", u.created_at as "createdAt"
    from users u
    left join memberships m on m.user_id = u.id and m.workspace_id = ${caller.workspaceId}
    left join installations i on i.app_user_id = u.id
    left join inside_agents n on n.user_id = u.id
    where u.id = any(${ids})`)
  return rows.map(({ agentKind, appId, ...user }) => ({ ...user, avatarUrl: avatarOf(config, agentKind, appId) }))
}
