import type { Issue, Watcher } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor, Member, System } from '../http/caller.ts'
import { notify } from '../inbox/notify.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { sendIssueHints } from './changes.ts'
import { findVisibleIssue } from './read.ts'

interface Watch {
  issueId: string
  userId: string
}

/**
 * All watchers of issues with their state. An issue without a stored watcher, such as one from before watchers existed,
 * has those that follow from its past.
 */
export const watchersOf = (issueIds: readonly string[]) => sql`
  select issue_id, user_id, state from issue_watchers where issue_id = any(${issueIds})
  union all
  select past.issue_id, past.user_id, 'watching' from (
    select i.id as issue_id, i.workspace_id, u.user_id from issues i, lateral (
      select i.reporter_id as user_id
      union select i.assignee_id
      union select c.author_id from comments c where c.issue_id = i.id
      union select mentioned.id from comments c, unnest(c.mentioned_user_ids) as mentioned (id) where c.issue_id = i.id
      union select s.creator_id from agent_sessions s where s.issue_id = i.id and s.delegation_revision is not null
    ) u
    where i.id = any(${issueIds}) and not exists (select from issue_watchers w where w.issue_id = i.id)
  ) past
  join memberships m on m.workspace_id = past.workspace_id and m.user_id = past.user_id`

/** Condition on the issue `i`: its watcher `w` can see it. */
export const watcherCanSee = sql`(not i.personal or i.reporter_id = w.user_id)`

/**
 * Adds watchers, except agents and users who muted the issue, and returns everyone to notify about these issues: their
 * watchers with access, without those who muted them. Rows are written in one order, so that concurrent comments do not
 * deadlock.
 */
export const addWatchers = (
  { tx, now, caller }: UnitOfWork<Actor | System>,
  added: readonly Watch[],
): Promise<Watch[]> => {
  const issueIds = [...new Set(added.map(({ issueId }) => issueId))]
  return tx.rows<Watch>(sql`
    with known as (${watchersOf(issueIds)}), added as (
      insert into issue_watchers as w (workspace_id, issue_id, user_id, state, created_at)
      select ${caller.workspaceId}, issue_id, user_id, 'watching', ${now}
      from (
        select n.issue_id, n.user_id
        from unnest(${added.map(({ issueId }) => issueId)}::text[], ${added.map(({ userId }) => userId)}::text[])
          as n (issue_id, user_id)
        join memberships m on m.workspace_id = ${caller.workspaceId} and m.user_id = n.user_id
        union select issue_id, user_id from known where state = 'watching'
      ) n
      order by issue_id, user_id
      on conflict (issue_id, user_id) do update set state = 'watching' where w.state = 'stopped'
      returning issue_id, user_id)
    select w.issue_id as "issueId", w.user_id as "userId"
    from (select issue_id, user_id from added union select issue_id, user_id from known where state = 'watching') w
    join issues i on i.id = w.issue_id
    where ${watcherCanSee}`)
}

/** The watchers to notify about these issues. */
export const readWatchers = (tx: Queryable, issueIds: readonly string[]) =>
  tx.rows<Watch>(sql`
    select w.issue_id as "issueId", w.user_id as "userId"
    from (${watchersOf(issueIds)}) w join issues i on i.id = w.issue_id
    where w.state = 'watching' and ${watcherCanSee}`)

/**
 * Inbox entries and watchers of created and changed issues; `before` is null for a new one. The number of statements does
 * not depend on the number of issues.
 */
export async function notifyOfChanges(
  unit: UnitOfWork<Actor | System>,
  pairs: readonly (readonly [before: Issue | null, after: Issue])[],
) {
  const { tx, caller } = unit
  const assigned = pairs.flatMap(([before, { id, assignee_id }]) =>
    assignee_id && assignee_id !== before?.assignee_id ? [{ issueId: id, userId: assignee_id }] : [],
  )
  const others = pairs.flatMap(([before, { id, reporter_id, delegate_id }]) => [
    ...(!before && reporter_id ? [{ issueId: id, userId: reporter_id }] : []),
    ...(delegate_id && delegate_id !== before?.delegate_id && caller.id ? [{ issueId: id, userId: caller.id }] : []),
  ])
  const movedIds = pairs.flatMap(([before, after]) =>
    before && (before.status === 'done') !== (after.status === 'done') ? [after.id] : [],
  )
  const added = [...assigned, ...others]
  if (added.length > 0) await addWatchers(unit, added)
  const watchers = movedIds.length > 0 ? await readWatchers(tx, movedIds) : []
  await notify(unit, [
    ...assigned.map((watch) => ({ kind: 'assignment' as const, ...watch })),
    ...watchers.map((watch) => ({ kind: 'status' as const, ...watch })),
  ])
}

/** Watches or mutes an issue for the caller. */
export const watchIssue = (ctx: Context, caller: Member, key: string, muted: boolean): Promise<Watcher> =>
  transact(ctx, caller, async (unit) => {
    await setState(unit, key, muted ? 'muted' : 'watching')
    return { user_id: caller.id, muted }
  })

/** Stops watching until the next cause adds the caller again. */
export const unwatchIssue = (ctx: Context, caller: Member, key: string): Promise<void> =>
  transact(ctx, caller, (unit) => setState(unit, key, 'stopped'))

async function setState(unit: UnitOfWork<Member>, key: string, state: 'watching' | 'muted' | 'stopped') {
  const { tx, config, caller } = unit
  const issue = await findVisibleIssue(tx, config, caller, key)
  // Stores the watchers from the issue's past first, which this row would otherwise replace.
  await addWatchers(unit, [{ issueId: issue.id, userId: caller.id }])
  await tx.run(sql`
    update issue_watchers set state = ${state} where issue_id = ${issue.id} and user_id = ${caller.id}`)
  sendIssueHints(unit, 'update', issue)
}
