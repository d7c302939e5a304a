import type { Issue, IssueChange } from '@baton/protocol'
import { actorsOnIssues } from '../agent-sessions/acting-for.ts'
import { laterThan } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { recordThread } from '../events/comments.ts'
import { type EventActor, previousValues, record } from '../events/record.ts'
import { type Actor, limitedTo } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { notify } from '../inbox/notify.ts'
import { holdCoverage } from '../installations/agents.ts'
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

export function updateIssue(ctx: Context, caller: Actor, key: string, change: IssueChange) {
  return transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    const delegate = await lockDelegate(unit, change)
    if (change.team_id !== undefined) await holdCoverage(tx, caller.workspaceId)
    if (change.parent_id) await lockParents(tx, caller.workspaceId)
    const before = await lockVisibleIssue(unit, key, referencedIssueIds(change))
    if (caller.kind === 'app') checkChangeFromApp(change)
    if (change.personal && !before.personal && before.reporter_id !== caller.id) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only the reporter can make an issue personal.' })
    }
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
    await recordUpdate(unit, actors(after.id), before, after)
    await switchSessions(unit, before, after, delegate)
    return after
  })
}

export const deleteIssue = (ctx: Context, caller: Actor, key: string) =>
  transact(ctx, caller, async (unit) => removeIssues(unit, [(await lockVisibleIssue(unit, key, [])).id]))

/** Locks an issue, the issues with which it has block relations, and those that the change refers to. */
async function lockVisibleIssue(unit: UnitOfWork<Actor>, key: string, referencedIds: string[]): Promise<Issue> {
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
const lockParents = (tx: Tx, workspaceId: string) =>
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
  if (after.assignee_id && after.assignee_id !== before.assignee_id) {
    const notice = { kind: 'assignment', userId: after.assignee_id, issueId: after.id } as const
    await notify(unit, [notice])
  }
}

async function removeReferencesTo(tx: Tx, issue: Issue) {
  await removeBlocks(tx, blocksOf(issue))
  await tx.run(sql`
    update issues set parent_id = null
    where parent_id = ${issue.id} and not (personal and reporter_id = ${issue.reporter_id})`)
}

async function updateBlocks(unit: UnitOfWork<Actor>, before: Issue, after: Issue) {
  const without = (blocks: Block[], others: Block[]) =>
    blocks.filter(([a, b]) => !others.some(([c, d]) => a === c && b === d))
  const [old, updated] = [blocksOf(before), blocksOf(after)]
  await changeBlocks(unit, after.id, without(updated, old), without(old, updated))
}
