import type { GitBranch, PullRequest, PullRequestFilter } from '@baton/protocol'
import { limits, programLimits } from '@baton/protocol'
import { mustSeeSession } from '../agent-sessions/read.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import { type Actor, limitedTo, type Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { page } from '../http/paging.ts'
import { issueInReach } from '../installations/reach.ts'
import { findIssueId } from '../issues/read.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { transactAs } from '../workspaces/members.ts'
import { isLinkable } from './linking.ts'
import { sendIssueHints } from './store.ts'

/** The pull request `p`, with the issues that the caller can access. */
const columns = (caller: Actor): Sql => sql`
  p.id, p.connection_id, p.repository, p.number, p.title, p.url, p.branch, p.author, p.state, p.review, p.checks, p.fork,
  coalesce((
    select jsonb_agg(jsonb_build_object('id', i.id, 'closes', l.closes) order by i.id)
    from pull_request_issues l join issues i on i.id = l.issue_id
    where l.pull_request_id = p.id and l.source <> 'unlinked' and not i.personal and ${issueInReach(caller)}
  ), '[]') as issues,
  p.created_at, p.updated_at`

/**
 * A person sees all pull requests of the workspace; an app, or a personal token for selected teams, those linked to
 * issues of its teams, and an app those that name one of its sessions. Not those that only its `external_urls` name,
 * which the app writes itself.
 */
function isVisibleTo(caller: Actor): Sql {
  if (limitedTo(caller) === null) return sql`p.workspace_id = ${caller.workspaceId}`
  return sql`p.workspace_id = ${caller.workspaceId} and (exists (
      select 1 from pull_request_issues l join issues i on i.id = l.issue_id
      where l.pull_request_id = p.id and l.source <> 'unlinked' and not i.personal and ${issueInReach(caller)}
    ) or exists (
      select 1 from pull_request_sessions n join agent_sessions s on s.id = n.session_id
      where n.pull_request_id = p.id and s.agent_id = ${caller.id}))`
}

const ofIssue = (issueId: string) => sql`and p.id in (
  select l.pull_request_id from pull_request_issues l join issues i on i.id = l.issue_id
  where l.issue_id = ${issueId} and l.source <> 'unlinked' and not i.personal)`

/** git.session: named by branch or body, or by a URL of the session. */
const ofSession = (caller: Actor, sessionId: string) => sql`and p.id in (
  select pull_request_id from pull_request_sessions where session_id = ${sessionId}
  union select u.id from pull_requests u
  where u.workspace_id = ${caller.workspaceId} and u.url in (
    select rtrim(link ->> 'url', '/') from agent_sessions s, json_array_elements(s.external_urls) link
    where s.id = ${sessionId}))`

export async function listPullRequests(ctx: Context, caller: Actor, filter: PullRequestFilter) {
  const { db, keys } = ctx
  const issueId = filter.issue_id ? await findIssueId(db, caller, filter.issue_id) : null
  if (filter.session_id) await mustSeeSession(db, caller, filter.session_id)
  const listed = await page<PullRequest>(
    keys,
    'pull requests',
    filter,
    ({ id }) => [id],
    (after, count) =>
      db.rows(sql`
      select ${columns(caller)} from pull_requests p
      where ${isVisibleTo(caller)} ${issueId ? ofIssue(issueId) : none}
        ${filter.session_id ? ofSession(caller, filter.session_id) : none}
        ${filter.state ? sql`and p.state = ${filter.state}` : none}
        ${after ? sql`and p.id < ${after[0]}` : none}
      order by p.id desc limit ${count}`),
  )
  return { ...listed, branches: issueId ? await branchesOf(db, issueId) : [] }
}

/** Pushed branches that name the issue and have no pull request. */
const branchesOf = (db: Queryable, issueId: string) =>
  db.rows<GitBranch>(sql`
    select b.connection_id, b.repository, b.name, b.url, b.pushed_at
    from git_branches b join issues i on i.id = b.issue_id
    where b.issue_id = ${issueId} and not i.personal and not exists (
      select 1 from pull_requests p where p.connection_id = b.connection_id and p.repository = b.repository
        and p.branch = b.name and not p.fork)
    order by b.pushed_at desc, b.name limit 50`)

/** Pull requests and branches of an issue that the caller can access, for views that show everything about it. */
export async function pullRequestsOf(db: Queryable, caller: Actor, issueId: string) {
  const pull_requests = await db.rows<PullRequest>(sql`
    select ${columns(caller)} from pull_requests p
    where p.workspace_id = ${caller.workspaceId} ${ofIssue(issueId)} order by p.id desc limit ${limits.pageMax}`)
  return { pull_requests, branches: await branchesOf(db, issueId) }
}

/** A link of a member is kept when texts change. */
export const linkPullRequest = (ctx: Context, admitted: Member, key: string, id: string, closes: boolean) =>
  changingLink(ctx, admitted, key, id, async ({ tx, caller }, issueId, scope) => {
    if (!(await isLinkable(tx, scope, issueId)))
      throw invalid({ issue_id: 'must be a shared issue of a team of the git connection' })
    const others = await tx.row<{ count: number }>(sql`
      select count(*)::int as count from pull_request_issues
      where pull_request_id = ${id} and source <> 'unlinked' and issue_id <> ${issueId}`)
    if (others && others.count >= programLimits.gitLinks)
      throw invalid({ pull_request_id: `has ${programLimits.gitLinks} issues, the maximum` })
    await tx.run(sql`
      insert into pull_request_issues (pull_request_id, issue_id, workspace_id, closes, source)
      values (${id}, ${issueId}, ${caller.workspaceId}, ${closes}, 'member')
      on conflict (pull_request_id, issue_id) do update set closes = excluded.closes, source = 'member'`)
    return found(await tx.row<PullRequest>(sql`select ${columns(caller)} from pull_requests p where p.id = ${id}`))
  })

/** The row stays, so that texts do not link the issue again. */
export const unlinkPullRequest = (ctx: Context, admitted: Member, key: string, id: string) =>
  changingLink(ctx, admitted, key, id, async ({ tx }, issueId) => {
    found(
      await tx.row(sql`
        update pull_request_issues set source = 'unlinked'
        where pull_request_id = ${id} and issue_id = ${issueId} and source <> 'unlinked' returning issue_id`),
    )
  })

interface Scope {
  id: string
  workspaceId: string
  teamIds: string[] | null
}

/** Runs `work` with the pull request locked, and tells browsers to read the issue again. */
const changingLink = <T>(
  ctx: Context,
  admitted: Member,
  key: string,
  id: string,
  work: (unit: UnitOfWork<Member>, issueId: string, scope: Scope) => Promise<T>,
) =>
  transactAs(ctx, admitted, 'member', async (unit) => {
    const { tx, caller } = unit
    const issueId = await findIssueId(tx, caller, key)
    const connection = found(
      await tx.row<{ id: string; team_ids: string[] | null }>(sql`
        select c.id, c.team_ids from pull_requests p join git_connections c on c.id = p.connection_id
        where p.workspace_id = ${caller.workspaceId} and p.id = ${id} for no key update of p`),
    )
    const scope = { id: connection.id, workspaceId: caller.workspaceId, teamIds: connection.team_ids }
    const result = await work(unit, issueId, scope)
    sendIssueHints(unit, [issueId])
    return result
  })
