import type { Issue, IssueChangeRecord, IssueExport, IssueFilter } from '@baton/protocol'
import { issueUrl } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { json, none, sql } from '../db/sql.ts'
import { systemActor } from '../events/for-app.ts'
import type { Actor } from '../http/caller.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { issueInReach, reached } from '../installations/reach.ts'
import { nameOfUser } from '../login/names.ts'
import { issueColumns, type StoredIssue, withKey } from './queries.ts'

export const withUrl = (config: Config, issue: StoredIssue): Issue => ({ ...issue, url: issueUrl(config, issue.code) })

/** The id of an issue that the caller can access, from its id or one of its codes. */
export async function findIssueId(db: Queryable, caller: Actor, key: string): Promise<string> {
  const row = await db.row<{ id: string; reached: boolean }>(sql`
    select i.id, ${issueInReach(caller)} as reached from issues i where ${withKey(caller.workspaceId, key)}`)
  return reached(caller, row).id
}

export const readIssue = (ctx: Context, caller: Actor, key: string) => findVisibleIssue(ctx.db, ctx.config, caller, key)

export async function findVisibleIssue(db: Queryable, config: Config, caller: Actor, key: string): Promise<Issue> {
  const issue = await db.row<StoredIssue & { reached: boolean }>(sql`
    select ${issueColumns}, ${issueInReach(caller)} as reached
    from issues i where ${withKey(caller.workspaceId, key)}`)
  return withUrl(config, reached(caller, issue))
}

export const listIssues = (ctx: Context, caller: Actor, filter: IssueFilter) =>
  page<Issue>(
    ctx.keys,
    'issues',
    filter,
    (issue) => [issue.id],
    async (after, count) => {
      const issues = await ctx.db.rows<StoredIssue>(listStatement(caller, filter, after?.[0], count))
      return issues.map((issue) => withUrl(ctx.config, issue))
    },
  )

export const listStatement = (caller: Actor, filter: IssueExport, after: string | undefined, count: number) => sql`
  select ${issueColumns} from issues i
  where i.workspace_id = ${caller.workspaceId} and ${issueInReach(caller)}
    ${filter.team_id ? sql`and i.team_id = ${filter.team_id}` : none}
    ${filter.project_id ? sql`and i.project_id = ${filter.project_id}` : none}
    ${filter.parent_id ? sql`and i.parent_id = ${filter.parent_id}` : none}
    ${filter.status ? sql`and i.status = ${filter.status}` : none}
    ${filter.priority ? sql`and i.priority = ${filter.priority}` : none}
    ${filter.type ? sql`and i.type = ${filter.type}` : none}
    ${filter.assignee_id ? sql`and i.assignee_id = ${filter.assignee_id}` : none}
    ${filter.delegate_id ? sql`and i.delegate_id = ${filter.delegate_id}` : none}
    ${filter.label_id ? sql`and i.id in (select issue_id from issue_labels where label_id = ${filter.label_id})` : none}
    ${matching(filter.query)}
    ${after ? sql`and i.id < ${after}` : none}
  order by i.id desc limit ${count}`

/** Requires each of the first ten words in code, title or description, ignoring case. */
export const matching = (query = '') =>
  query
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, 10)
    .reduce(
      (all, word) => sql`${all} and (i.code || ' ' || i.title || ' ' || i.description) ilike ${containing(word)}`,
      none,
    )

export async function listHistory(ctx: Context, caller: Actor, key: string, query: PageQuery) {
  const issueId = await findIssueId(ctx.db, caller, key)
  return page<IssueChangeRecord>(
    ctx.keys,
    `history of ${issueId}`,
    query,
    (change) => [change.id],
    async (after, count) => {
      const changes = await ctx.db.rows<IssueChangeRecord>(sql`
        select c.id, c.changes, c.automation_id, c.created_at,
          case when c.by_system then ${json(systemActor)} else ${nameOfUser} end as actor,
          ${formerAgents(caller)} as former_agents
        from issue_changes c left join users u on u.id = c.actor_id
        where c.issue_id = ${issueId} and (not c.personal or c.actor_id = ${caller.id})
          ${after ? sql`and c.id < ${after[0]}` : none}
        order by c.id desc limit ${count}`)
      return withMergedLabels(ctx.db, caller, changes)
    },
  )
}

/** Names uninstalled apps that change `c` refers to: lists have only the current users. */
const formerAgents = (caller: Actor) => sql`coalesce((
  select jsonb_agg(distinct jsonb_build_object('id', f.id, 'name', f.display_name))
  from installations n join users f on f.id = n.app_user_id
  where n.app_user_id in (c.changes->'delegate_id'->>'from', c.changes->'delegate_id'->>'to')
    and n.workspace_id = ${caller.workspaceId} and n.revoked_at is not null
    and ${caller.kind === 'person' || caller.allTeams ? sql`true` : sql`(n.all_teams or n.team_ids && ${caller.teamIds})`}
), '[]')`

/** Replaces the ids of merged labels by the label that took their place, because a deleted label has no name. */
async function withMergedLabels(db: Queryable, caller: Actor, records: IssueChangeRecord[]) {
  const ids = records.flatMap(({ changes: { label_ids } }) =>
    label_ids ? [...(label_ids.from as string[]), ...(label_ids.to as string[])] : [],
  )
  if (ids.length === 0) return records
  const merged = await db.rows<{ id: string; into: string }>(sql`
    select merged.id, l.id as into from labels l, unnest(l.merged_label_ids) as merged (id)
    where l.workspace_id = ${caller.workspaceId} and l.merged_label_ids && ${[...new Set(ids)]}`)
  const replacement = new Map(merged.map(({ id, into }) => [id, into]))
  const current = (list: unknown) => [...new Set((list as string[]).map((id) => replacement.get(id) ?? id))]
  return records.map((record) => {
    const { label_ids: change } = record.changes
    if (!change) return record
    return {
      ...record,
      changes: { ...record.changes, label_ids: { from: current(change.from), to: current(change.to) } },
    }
  })
}
