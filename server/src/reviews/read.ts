import {
  type Comment,
  type ExternalUrl,
  type IssueChangeRecord,
  limits,
  type Review,
  type ReviewDetail,
  type ReviewFilter,
} from '@baton/protocol'
import { issueUrlSql } from '../addresses.ts'
import { canMessage } from '../agent-sessions/session.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import { readComments, withoutPlace } from '../events/placed-comments.ts'
import type { Member } from '../http/caller.ts'
import { isManager } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { page } from '../http/paging.ts'
import { issueInReach, sessionInReach } from '../installations/reach.ts'
import { nameOfUser } from '../login/names.ts'

const reviewColumns = (config: Config) => sql`
  r.id, r.session_id,
  case when i.id is not null then jsonb_build_object('id', i.id, 'code', i.code, 'title', i.title, 'status', i.status,
    'team_id', i.team_id, 'url', ${issueUrlSql(config)}) end as issue,
  ${nameOfUser} as agent, r.reviewer_id, r.round, r.state, r.decided_by, r.decided_at, r.reason, r.created_at`

/** `r` is the review, `s` its session, and `i` its issue, which may be deleted. */
const reviewTables = sql`
  reviews r join agent_sessions s on s.id = r.session_id join users u on u.id = r.agent_id
  left join issues i on i.id = r.issue_id left join projects p on p.id = s.project_id`

export const readReviews = (db: Queryable, config: Config, rest: Sql) =>
  db.rows<Review>(sql`select ${reviewColumns(config)} from ${reviewTables} where ${rest}`)

export const listReviews = (ctx: Context, caller: Member, filter: ReviewFilter) =>
  page<Review>(
    ctx.keys,
    'reviews',
    filter,
    ({ id }) => [id],
    (after, count) =>
      readReviews(
        ctx.db,
        ctx.config,
        sql`r.workspace_id = ${caller.workspaceId} and r.state = ${filter.state ?? 'waiting'} and ${issueInReach(caller)}
          ${filter.team_id ? sql`and i.team_id = ${filter.team_id}` : none}
          ${filter.issue_id ? sql`and r.issue_id = ${filter.issue_id}` : none}
          ${filter.session_id ? sql`and r.session_id = ${filter.session_id}` : none}
          ${after ? sql`and r.id > ${after[0]}` : none}
        order by r.id limit ${count}`,
      ),
  )

/** A condition on the review `r`: it is this one, and the caller can see its session. */
export const visibleReview = (caller: Member, id: string) => sql`r.id = ${id} and ${sessionInReach(caller)}`

export const findReview = async ({ db, config }: Context, caller: Member, id: string): Promise<Review> =>
  found((await readReviews(db, config, visibleReview(caller, id)))[0])

/** review.who-decides: people of the team, and managers. */
export const mayDecide = async (db: Queryable, caller: Member, teamId: string | null) =>
  isManager(caller) ||
  (await db.row(sql`select 1 from team_members where team_id = ${teamId} and user_id = ${caller.id}`)) !== undefined

interface Delivered {
  began_at: string
  ownerId: string | null
  issueId: string | null
  isOpen: boolean
  plan: ReviewDetail['plan']
  links: ExternalUrl[]
  pullRequests: string[]
  changes: ReviewDetail['changes']
  response: string | null
}

export async function getReview(ctx: Context, caller: Member, id: string): Promise<ReviewDetail> {
  const { db, config } = ctx
  const review = await findReview(ctx, caller, id)
  const delivered = found(await readDelivered(db, id))
  const { issueId, plan, changes, response } = delivered
  const inRound = sql`c.created_at >= ${delivered.began_at}::timestamptz
    and c.created_at <= coalesce(${review.decided_at}::timestamptz, 'infinity')`
  const issue_changes = await db.rows<IssueChangeRecord>(sql`
    select c.id, c.changes, c.created_at, c.automation_id, ${nameOfUser} as actor, '[]'::jsonb as former_agents
    from issue_changes c join users u on u.id = c.actor_id
    where c.issue_id = ${issueId} and c.actor_id = ${review.agent.id} and not c.personal and ${inRound}
    order by c.id desc limit ${limits.reviewItems}`)
  const comments = await readComments(
    config,
    db,
    sql`c.issue_id = ${issueId} and c.author_id = ${review.agent.id} and ${inRound}
      order by c.id desc limit ${limits.reviewItems}`,
  )
  const decides = review.state === 'waiting' && (await mayDecide(db, caller, review.issue?.team_id ?? null))
  return {
    ...review,
    response,
    plan,
    links: pullRequestsFirst(delivered),
    issue_changes,
    comments: comments.map((comment): Comment => withoutPlace(comment)),
    changes,
    can_decide: decides,
    can_send_back: decides && delivered.isOpen && canMessage(delivered, caller),
  }
}

const readDelivered = (db: Queryable, id: string) =>
  db.row<Delivered>(sql`
    select r.began_at, s.owner_id as "ownerId", r.issue_id as "issueId", s.ended_at is null as "isOpen", s.plan,
      s.external_urls as links, s.changes,
      array(select q.url from pull_requests q join pull_request_sessions n on n.pull_request_id = q.id
        where n.session_id = s.id order by q.id) as "pullRequests",
      (select a.content ->> 'body' from agent_activities a where a.session_id = r.session_id and a.seq = r.seq) as response
    from reviews r join agent_sessions s on s.id = r.session_id where r.id = ${id}`)

/** Paths of pull and merge requests on GitHub, GitLab, Gitea, Bitbucket and Azure. */
const pullRequestPath = /\/(pull|pulls|merge_requests|pull-requests|pullrequest)\/\d+/

/** Pull requests that a git host reported, then links that look like one, then the others. */
function pullRequestsFirst({ links, pullRequests }: Delivered): ExternalUrl[] {
  const bare = (url: string) => url.replace(/\/+$/, '')
  const known = new Set(pullRequests.map(bare))
  const reported = pullRequests
    .filter((url) => !links.some((link) => bare(link.url) === bare(url)))
    .map((url) => ({ label: 'Pull request', url }))
  const isPullRequest = ({ url }: ExternalUrl) => known.has(bare(url)) || pullRequestPath.test(url)
  return [...links.filter(isPullRequest), ...reported, ...links.filter((link) => !isPullRequest(link))]
}
