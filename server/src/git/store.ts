import type { GitEvent, GitOutcome } from '@baton/protocol'
import { programLimits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Tx } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import type { System } from '../http/caller.ts'
import { newId } from '../ids.ts'
import { sendHints } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { automate } from './automation.ts'
import { codesIn, sessionsIn } from './codes.ts'
import { issuesNamed, type LinkScope, type NamedIssue, sessionsNamed } from './linking.ts'
import { afterCheck, afterEvent, eventsFor, isOpen, isStale, type StoredPullRequest } from './pull-request.ts'
import type { BranchReading, CheckReading, PullRequestReading, Reading } from './reading.ts'

export interface Connection extends LinkScope {
  hasToken: boolean
}

export interface Stored {
  outcome: GitOutcome
  pullRequestId: string | null
}

/** Stores what a git host reported, with the changes of issues that follow from it. The connection is locked. */
export function store(unit: UnitOfWork<System>, connection: Connection, reading: Reading): Promise<Stored> {
  switch (reading.type) {
    case 'pull_request':
      return storePullRequest(unit, connection, reading)
    case 'check':
      return storeCheck(unit, connection, reading)
    case 'branch':
      return storeBranch(unit, connection, reading)
  }
}

const storedColumns = sql`id, state, review, reviews, checks, check_runs, head_commit, updated_at`

async function storePullRequest(unit: UnitOfWork<System>, connection: Connection, reading: PullRequestReading) {
  const { tx, now } = unit
  const { repository, number, title, url, branch, author, headCommit, fork, updatedAt } = reading
  const before =
    (await tx.row<StoredPullRequest>(sql`
      select ${storedColumns} from pull_requests
      where connection_id = ${connection.id} and repository = ${repository} and number = ${number} for update`)) ?? null
  if (before && isStale(before, reading)) return { outcome: 'stale' as const, pullRequestId: before.id }
  const after = afterEvent(before, reading)
  const id = before?.id ?? newId('pr')
  await tx.run(sql`
    insert into pull_requests (id, workspace_id, connection_id, repository, number, title, url, branch, author, state,
      review, reviews, review_requested, checks, check_runs, head_commit, fork, private, created_at, updated_at)
    values (${id}, ${connection.workspaceId}, ${connection.id}, ${repository}, ${number}, ${title}, ${url}, ${branch},
      ${author}, ${after.state}, ${after.review}, ${json(after.reviews)}, ${reading.reviewRequested}, ${after.checks},
      ${json(after.check_runs)}, ${headCommit}, ${fork}, ${reading.private}, ${now}, ${updatedAt})
    on conflict (id) do update set title = excluded.title, url = excluded.url, branch = excluded.branch,
      author = coalesce(excluded.author, pull_requests.author), state = excluded.state, review = excluded.review,
      reviews = excluded.reviews, review_requested = excluded.review_requested, checks = excluded.checks,
      check_runs = excluded.check_runs, head_commit = excluded.head_commit, fork = excluded.fork,
      private = excluded.private, updated_at = excluded.updated_at`)

  const links = await linkIssues(unit, connection, id, await issuesNamed(tx, connection, codesIn(reading)))
  const sessions = await linkSessions(unit, id, await sessionsNamed(tx, connection, sessionsIn(reading)))
  await applyRules(unit, id, { before, after: { ...after, fork } }, links)
  const linked = links.filter((link) => link.isLinked)
  if (connection.hasToken && linked.length > 0 && isOpen(after.state)) await scheduleComment(unit, id)
  sendIssueHints(
    unit,
    links.map((link) => link.issueId),
  )
  const isNew = linked.some((link) => link.isNew) || sessions.isNew
  const outcome: GitOutcome = isNew ? 'linked' : linked.length > 0 || sessions.count > 0 ? 'updated' : 'no_code'
  return { outcome, pullRequestId: id }
}

interface Link {
  issueId: string
  closes: boolean
  isNew: boolean
  /** False for a link that this event removed. */
  isLinked: boolean
}

interface LinkRow {
  issue_id: string
  closes: boolean
  source: 'text' | 'member' | 'unlinked'
}

/**
 * Locks issues in the order of their ids, before a row refers to them: that alone locks them too, and two connections
 * that then want more would deadlock. Of two pull requests merged at once, the second one sees the first.
 */
const holdIssues = (tx: Tx, ids: readonly string[]) =>
  ids.length > 0 ? tx.rows(sql`select 1 from issues where id = any(${ids}) order by id for update`) : undefined

/** Makes the links from texts those of `named`. Links of members stay, and what a member unlinked stays unlinked. */
async function linkIssues(
  { tx }: UnitOfWork,
  connection: Connection,
  id: string,
  named: NamedIssue[],
): Promise<Link[]> {
  const rows = await tx.rows<LinkRow>(sql`
    select l.issue_id, l.closes, l.source from pull_request_issues l join issues i on i.id = l.issue_id
    where l.pull_request_id = ${id} and not i.personal`)
  await holdIssues(tx, [...rows.map(({ issue_id }) => issue_id), ...named.map(({ id: issueId }) => issueId)])
  const stored = new Map(rows.map((row) => [row.issue_id, row]))
  const names = new Map(named.map(({ id: issueId, closes }) => [issueId, closes]))
  const gone = rows.filter(({ issue_id, source }) => source === 'text' && !names.has(issue_id))
  const written = named.filter(({ id: issueId }) => (stored.get(issueId)?.source ?? 'text') === 'text')
  if (gone.length > 0) {
    await tx.run(sql`
      delete from pull_request_issues
      where pull_request_id = ${id} and issue_id = any(${gone.map(({ issue_id }) => issue_id)})`)
  }
  if (written.length > 0) {
    await tx.run(sql`
      insert into pull_request_issues (pull_request_id, issue_id, workspace_id, closes, source)
      select ${id}, issue_id, ${connection.workspaceId}, closes, 'text'
      from unnest(${written.map((one) => one.id)}::text[], ${written.map((one) => one.closes)}::boolean[])
        as n (issue_id, closes)
      on conflict (pull_request_id, issue_id) do update set closes = excluded.closes`)
  }
  const kept = rows.filter(({ source }) => source === 'member')
  return [
    ...written.map(({ id: issueId, closes }) => ({ issueId, closes, isNew: !stored.has(issueId), isLinked: true })),
    ...kept.map(({ issue_id, closes }) => ({ issueId: issue_id, closes, isNew: false, isLinked: true })),
    ...gone.map(({ issue_id }) => ({ issueId: issue_id, closes: false, isNew: false, isLinked: false })),
  ]
}

async function linkSessions({ tx, caller }: UnitOfWork<System>, id: string, sessionIds: string[]) {
  await tx.run(sql`
    delete from pull_request_sessions where pull_request_id = ${id} and session_id <> all(${sessionIds})`)
  if (sessionIds.length === 0) return { isNew: false, count: 0 }
  const added = await tx.run(sql`
    insert into pull_request_sessions (pull_request_id, session_id, workspace_id)
    select ${id}, session_id, ${caller.workspaceId} from unnest(${sessionIds}::text[]) as n (session_id)
    on conflict do nothing`)
  return { isNew: added > 0, count: sessionIds.length }
}

/** Links that do not close drive no automation. */
async function applyRules(
  unit: UnitOfWork<System>,
  id: string,
  change: Parameters<typeof eventsFor>[0],
  links: readonly Link[],
) {
  const closed = links.filter((link) => link.closes && link.isLinked)
  if (closed.length === 0) return
  const ids = closed.map((link) => link.issueId)
  // An open one of a fork does not count, or anyone could keep issues of a public repository open.
  const others = await unit.tx.rows<{ issue_id: string; open: boolean; merged: boolean }>(sql`
    select l.issue_id, bool_or(p.state in ('open', 'draft') and not p.fork) as open,
      bool_or(p.state = 'merged') as merged
    from pull_request_issues l join pull_requests p on p.id = l.pull_request_id
    where l.issue_id = any(${ids}) and l.closes and l.source <> 'unlinked' and p.id <> ${id}
    group by l.issue_id`)
  const otherOf = new Map(others.map((other) => [other.issue_id, other]))
  const events = new Map<string, GitEvent[]>()
  for (const { issueId, isNew } of closed) {
    const other = otherOf.get(issueId)
    const issue = { isNew, otherOpen: other?.open ?? false, otherMerged: other?.merged ?? false }
    events.set(issueId, eventsFor(change, issue))
  }
  await automate(unit, events)
}

/** Once for each pull request. */
const scheduleComment = ({ tx, now }: UnitOfWork, id: string) =>
  tx.run(sql`
    update pull_requests set comment_due_at = ${now}
    where id = ${id} and comment_due_at is null and comment_attempts = 0 and commented_at is null`)

async function storeCheck(unit: UnitOfWork<System>, connection: Connection, reading: CheckReading): Promise<Stored> {
  const { tx } = unit
  const found = await tx.rows<StoredPullRequest>(sql`
    select ${storedColumns} from pull_requests
    where connection_id = ${connection.id} and head_commit = ${reading.commit} and repository = ${reading.repository}
    order by id limit 20 for update`)
  if (found.length === 0) return { outcome: 'no_code', pullRequestId: null }
  const changed = found.flatMap(({ id, check_runs }) => {
    const after = afterCheck(check_runs, reading)
    return after ? [{ id, ...after }] : []
  })
  const pullRequestId = found[0]?.id ?? null
  if (changed.length === 0) return { outcome: 'stale', pullRequestId }
  const linked = await tx.rows<{ issue_id: string }>(sql`
    with changed as (
      update pull_requests p set checks = n.checks, check_runs = n.check_runs
      from jsonb_to_recordset(${json(changed)}) as n (id text, checks text, check_runs jsonb) where p.id = n.id
      returning p.id
    )
    select distinct l.issue_id from pull_request_issues l join changed c on c.id = l.pull_request_id
    join issues i on i.id = l.issue_id where l.source <> 'unlinked' and not i.personal`)
  sendIssueHints(
    unit,
    linked.map(({ issue_id }) => issue_id),
  )
  return { outcome: linked.length > 0 ? 'updated' : 'no_code', pullRequestId }
}

async function storeBranch(unit: UnitOfWork<System>, connection: Connection, reading: BranchReading): Promise<Stored> {
  const { tx, now } = unit
  const { repository, branch, url, pushedAt } = reading
  const ofBranch = sql`b.connection_id = ${connection.id} and b.repository = ${repository} and b.name = ${branch}`
  if (reading.deleted) {
    const gone = await tx.rows<{ issue_id: string | null }>(sql`
      delete from git_branches b using issues i where i.id = b.issue_id and ${ofBranch}
      returning case when not i.personal then b.issue_id end as issue_id`)
    sendIssueHints(
      unit,
      gone.flatMap(({ issue_id }) => issue_id ?? []),
    )
    return { outcome: gone.length > 0 ? 'updated' : 'no_code', pullRequestId: null }
  }
  const stored = await tx.rows<{ issue_id: string; pushed_at: string }>(sql`
    select b.issue_id, b.pushed_at from git_branches b where ${ofBranch}`)
  const isOld = pushedAt && pushedAt < plus(now, -days(programLimits.gitDeliveryDays))
  if (isOld || (pushedAt && stored.some(({ pushed_at }) => new Date(pushed_at) > pushedAt)))
    return { outcome: 'stale', pullRequestId: null }
  const named = (await issuesNamed(tx, connection, codesIn({ branch }))).map(({ id }) => id)
  if (named.length === 0) return { outcome: 'no_code', pullRequestId: null }
  await holdIssues(tx, named)
  await tx.run(sql`
    insert into git_branches (connection_id, repository, name, issue_id, workspace_id, url, pushed_at)
    select ${connection.id}, ${repository}, ${branch}, issue_id, ${connection.workspaceId}, ${url}, ${pushedAt ?? now}
    from unnest(${named}::text[]) as n (issue_id)
    on conflict (connection_id, repository, name, issue_id) do update set pushed_at = excluded.pushed_at, url = excluded.url`)
  const known = new Set(stored.map(({ issue_id }) => issue_id))
  const fresh = named.filter((id) => !known.has(id))
  await automate(unit, new Map(fresh.map((id) => [id, ['branch']])))
  sendIssueHints(unit, named)
  return { outcome: fresh.length > 0 ? 'linked' : 'updated', pullRequestId: null }
}

/** Browsers that show the issue read its pull requests again. */
export const sendIssueHints = ({ tx, caller }: UnitOfWork<{ workspaceId: string }>, issueIds: readonly string[]) =>
  sendHints(
    tx,
    [...new Set(issueIds)].map((id) => ({ workspace_id: caller.workspaceId, type: 'Issue', id, action: 'update' })),
  )
