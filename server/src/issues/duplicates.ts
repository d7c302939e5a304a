import type { Issue, IssueChange } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor, Member } from '../http/caller.ts'
import { invalid } from '../http/errors.ts'
import { References } from '../planning/references.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { insertHistory, sendIssueHints } from './changes.ts'
import { changeLocked, lockVisibleIssue } from './update.ts'
import { addWatchers, readWatchers } from './watchers.ts'

/**
 * Marks an issue as a duplicate of another. Comments stay where they are, because events and agent sessions belong to
 * their issue.
 */
export const markDuplicate = (ctx: Context, caller: Member, key: string, originalId: string): Promise<Issue> =>
  transact(ctx, caller, async (unit) => {
    const { tx } = unit
    await lockDuplicates(tx, caller.workspaceId)
    const issue = await lockVisibleIssue(unit, key, [originalId])
    const problem = await originalProblem(unit, issue, originalId)
    if (problem) throw invalid({ issue_id: problem })
    return markLocked(unit, issue, originalId)
  })

/** Marks a locked issue, after `lockDuplicates` and `originalProblem`. `change` is made together with it. */
export async function markLocked(
  unit: UnitOfWork<Member>,
  issue: Issue,
  originalId: string,
  change: IssueChange = {},
): Promise<Issue> {
  const { tx, caller } = unit
  const previous = await readOriginal(tx, issue.id)
  const after = await changeLocked(unit, issue, { ...change, status: 'done', delegate_id: null })
  if (previous === originalId) return after
  await tx.run(sql`
    insert into issue_duplicates (issue_id, workspace_id, duplicate_of_id, created_at)
    values (${issue.id}, ${caller.workspaceId}, ${originalId}, ${unit.now})
    on conflict (issue_id) do update set duplicate_of_id = excluded.duplicate_of_id, created_at = excluded.created_at`)
  const watchers = await readWatchers(tx, [issue.id])
  if (watchers.length > 0) {
    await addWatchers(
      unit,
      watchers.map(({ userId }) => ({ issueId: originalId, userId })),
    )
  }
  await recordMark(unit, after, previous, originalId)
  return after
}

/** Removes the relation. The status stays: people decide whether the issue is open again. */
export const unmarkDuplicate = (ctx: Context, caller: Member, key: string): Promise<void> =>
  transact(ctx, caller, async (unit) => {
    const issue = await lockVisibleIssue(unit, key, [])
    const previous = await readOriginal(unit.tx, issue.id)
    if (!previous) return
    await unit.tx.run(sql`delete from issue_duplicates where issue_id = ${issue.id}`)
    await recordMark(unit, issue, previous, null)
  })

/** Concurrent marks could create a cycle, so each workspace makes one at a time. */
export const lockDuplicates = (tx: Tx, workspaceId: string) =>
  tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`duplicates ${workspaceId}`}, 0))`)

const readOriginal = async (tx: Tx, issueId: string) =>
  (await tx.row<{ id: string }>(sql`select duplicate_of_id as id from issue_duplicates where issue_id = ${issueId}`))
    ?.id ?? null

/**
 * Why the issue cannot be a duplicate of the other; undefined if it can. Each of the two shows the other, so both must be
 * personal or both shared.
 */
export async function originalProblem({ tx, caller }: UnitOfWork<Actor>, issue: Issue, originalId: string) {
  if (originalId === issue.id) return 'must be another issue'
  const references = await References.find(tx, caller, { issue: [originalId] })
  const original = references.get('issue', originalId)
  if (!original || original.personalOf !== (issue.personal ? issue.reporter_id : null)) {
    return 'is not an issue of this workspace'
  }
  const cycle = await tx.row(sql`
    with recursive above as (
      select duplicate_of_id as id from issue_duplicates where issue_id = ${originalId}
      union select d.duplicate_of_id from issue_duplicates d join above a on d.issue_id = a.id
    ) select 1 from above where id = ${issue.id}`)
  return cycle ? 'must not be a duplicate of this issue' : undefined
}

async function recordMark(unit: UnitOfWork<Member>, issue: Issue, from: string | null, to: string | null) {
  const at = { id: issue.id, updated_at: unit.now.toISOString() }
  await insertHistory(unit, [{ issue: at, personal: issue.personal, changes: { duplicate_of_id: { from, to } } }])
  for (const id of [issue.id, from, to]) if (id) sendIssueHints(unit, 'update', { ...issue, id })
  await unit.hooks?.duplicateMarked(unit, issue.id)
}
