import type { Issue, IssueChange, IssueUpdate } from '@baton/protocol'
import { actorsOnIssues } from '../agent-sessions/acting-for.ts'
import { laterThan, moment } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { recordThread } from '../events/comments.ts'
import { type EventActor, previousValues, record } from '../events/record.ts'
import { linkReferenced } from '../files/links.ts'
import { type Actor, limitedTo } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type Agent, holdCoverage } from '../installations/agents.ts'
import { outOfReach, reaches } from '../installations/reach.ts'
import { References } from '../planning/references.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { covers } from '../workspaces/coverage.ts'
import { checkChangeFromApp, droppedBlocks } from './apps.ts'
import { changeBlocks, recordHistory, sendIssueHints, teamsOf, updateToRecord } from './changes.ts'
import { applyDelegation, endLostSessions, lockDelegate, switchSessions } from './delegation.ts'
import { removeIssues } from './many.ts'
import {
  type Block,
  blocksOf,
  insertCodes,
  isAncestor,
  issueFieldsAndPersonal,
  lockIssues,
  lockProjects,
  nextCodes,
  referencedIssueIds,
  removeBlocks,
  replaceLabels,
  updateIssueRow,
} from './queries.ts'
import { findIssueId, withUrl } from './read.ts'
import { applyChange, badReferences, referencesToCheck } from './rules.ts'
import { notifyOfChanges } from './watchers.ts'

export const updateIssue = (ctx: Context, caller: Actor, key: string, { if_updated_at, ...change }: IssueUpdate) =>
  transact(ctx, caller, async (unit) => {
    const { tx } = unit
    const delegate = await lockDelegate(unit, change)
    if (change.team_id !== undefined) await holdCoverage(tx, caller.workspaceId)
    if (change.parent_id) await lockParents(tx, caller.workspaceId)
    const before = await lockVisibleIssue(unit, key, referencedIssueIds(change))
    if (caller.kind === 'app') checkChangeFromApp(change)
    if (if_updated_at) await refuseConflict(unit, before, change, if_updated_at)
    if (change.personal && !before.personal && before.reporter_id !== caller.id) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only the reporter can make an issue personal.' })
    }
    return changeLocked(unit, before, change, delegate)
  })

/** Changes a locked issue, with everything that belongs to a change. `delegate` is the result of `lockDelegate`. */
export async function changeLocked(unit: UnitOfWork<Actor>, before: Issue, change: IssueChange, delegate?: Agent) {
  const { tx, now, caller, config } = unit
  const after = applyChange(before, change, now)
  await checkReferences(unit, before, after)
  await applyDelegation(unit, { before, after, change, newDelegate: delegate })

  if (!previousValues(before, after, issueFieldsAndPersonal)) {
    // issue.sort-order-emits-nothing, issue.sort-order-leaves-updated-at
    if (after.sort_order === before.sort_order) return after
    await updateIssueRow(tx, after)
    sendIssueHints(unit, 'update', after)
    return after
  }
  after.updated_at = laterThan(before.updated_at, now)
  if (after.team_id !== before.team_id) {
    after.code = (await nextCodes(tx, caller.workspaceId, after.team_id, 1))[0] as string
    after.url = withUrl(config, after).url
    await insertCodes(tx, caller.workspaceId, [after])
  }
  const actors = await actorsOnIssues(unit, [after.id])
  await endLostSessions(unit, before, after)
  await updateIssueRow(tx, after)
  await replaceLabels(tx, caller.workspaceId, after)
  if (after.description !== before.description) {
    await linkReferenced(unit, { type: 'issue', id: after.id }, after.description)
  }
  await recordUpdate(unit, actors(after.id), before, after)
  await switchSessions(unit, before, after, delegate)
  return after
}

/** Refuses a change if another user changed one of its fields after `since`. The lock keeps later changes out. */
async function refuseConflict({ tx, caller }: UnitOfWork<Actor>, issue: Issue, change: IssueChange, since: string) {
  const changed = await tx.rows<{ field: string }>(sql`
    select distinct field from issue_changes c, jsonb_object_keys(c.changes) as field
    where c.issue_id = ${issue.id} and c.created_at > ${moment(since)}::timestamptz
      and c.actor_id is distinct from ${caller.id} and field = any(${Object.keys(change)})
    order by field`)
  if (changed.length === 0) return
  const fields = changed.map(({ field }) => field)
  throw new ApiError('EDIT_CONFLICT', { fields, updated_at: issue.updated_at })
}

export const deleteIssue = (ctx: Context, caller: Actor, key: string) =>
  transact(ctx, caller, async (unit) => removeIssues(unit, [(await lockVisibleIssue(unit, key, [])).id]))

/** Locks an issue, the issues with which it has block relations, and those that the change refers to. */
export async function lockVisibleIssue(unit: UnitOfWork<Actor>, key: string, referencedIds: string[]): Promise<Issue> {
  const { tx, caller, config } = unit
  const id = await findIssueId(tx, caller, key)
  const related = await tx.rows<{ id: string }>(sql`
    select blocked_id as id from issue_blocks where blocker_id = ${id}
    union select blocker_id from issue_blocks where blocked_id = ${id}`)
  const locked = await lockIssues(tx, caller.workspaceId, [id, ...referencedIds, ...related.map((other) => other.id)])
  const issue = found(locked.find((one) => one.id === id))
  // It may have become personal or moved to another team while waiting for the lock.
  const place = { personal: issue.personal, personalOf: issue.reporter_id, teamIds: teamsOf(issue) }
  if (!reaches(caller, place)) throw outOfReach(caller)
  return withUrl(config, issue)
}

/** Concurrent changes of parents could create a cycle, so each workspace makes one at a time. */
export const lockParents = (tx: Tx, workspaceId: string) =>
  tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`parents ${workspaceId}`}, 0))`)

async function checkReferences({ tx, caller }: UnitOfWork<Actor>, before: Issue, after: Issue) {
  const checked = referencesToCheck(after, before)
  await lockProjects(tx, caller.workspaceId, [after])
  const dropped = caller.kind === 'app' || limitedTo(caller) ? droppedBlocks(before, after) : []
  const issues = [...(checked.issue ?? []), ...dropped.map(({ id }) => id)]
  const references = await References.find(tx, caller, { ...checked, issue: issues })
  if (after.team_id) references.refuseUncoveredTeam(caller, after.team_id)
  else if (!covers(caller, null)) throw outOfReach(caller)
  const bad = badReferences(after, caller.id, checked, references)
  for (const { field, id } of dropped) {
    if (!references.get('issue', id)) bad[field] ??= 'must keep the issues that the app cannot access'
  }
  if (after.parent_id && after.parent_id !== before.parent_id && !bad.parent_id) {
    if (await isAncestor(tx, after.id, after.parent_id)) bad.parent_id = 'must not be a descendant of this issue'
  }
  if (Object.keys(bad).length > 0) throw invalid(bad)
}

async function recordUpdate(unit: UnitOfWork<Actor>, actor: EventActor, before: Issue, after: Issue) {
  await recordHistory(unit, [[before, after]])
  await record(unit, updateToRecord(actor, before, after))
  if (after.personal) sendIssueHints(unit, 'update', after, !before.personal)
  // Receivers have not seen its comments either.
  if (before.personal && !after.personal) await recordThread(unit, { issueId: after.id })
  // Receivers get no event (issue.made-personal-emits-nothing), so references are removed as on deletion.
  const madePersonal = after.personal && !before.personal
  if (madePersonal) await removeReferencesTo(unit.tx, before)
  await updateBlocks(unit, madePersonal ? { ...before, blocks_ids: [], blocked_by_ids: [] } : before, after)
  await notifyOfChanges(unit, [[before, after]])
}

async function removeReferencesTo(tx: Tx, issue: Issue) {
  await removeBlocks(tx, blocksOf(issue))
  await tx.run(sql`delete from issue_duplicates where issue_id = ${issue.id} or duplicate_of_id = ${issue.id}`)
  await tx.run(sql`
    update issues set parent_id = null
    where parent_id = ${issue.id} and not (personal and reporter_id = ${issue.reporter_id})`)
}

async function updateBlocks(unit: UnitOfWork<Actor>, before: Issue, after: Issue) {
  const without = (blocks: Block[], others: Block[]) =>
    blocks.filter(([a, b]) => !others.some(([c, d]) => a === c && b === d))
  const [old, updated] = [blocksOf(before), blocksOf(after)]
  await changeBlocks(unit, [after.id], without(updated, old), without(old, updated))
}
