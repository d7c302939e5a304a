import { type Issue, type IssueChange, issueFields } from '@baton/protocol'
import { actorsOnIssues } from '../agent-sessions/acting-for.ts'
import { endOnDeleted } from '../agent-sessions/end.ts'
import { laterThan } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { recordThread } from '../events/comments.ts'
import { type EventActor, previousValues, record } from '../events/record.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { notify } from '../inbox/notify.ts'
import { holdCoverage } from '../installations/agents.ts'
import { outOfReach, reaches } from '../installations/reach.ts'
import { References } from '../planning/references.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { covers } from '../workspaces/coverage.ts'
import { checkChangeFromApp, droppedBlocks } from './apps.ts'
import { changeBlocks, happened, heardOf, recordHistory, teamsOf, tellWatchers } from './changes.ts'
import { holdDelegate, partFromAgents, settleDelegate, tellAgents } from './delegation.ts'
import {
  type Block,
  blocksOf,
  holdProjects,
  isAncestor,
  keepCodes,
  lockIssues,
  namedBy,
  nextCodes,
  removeBlocks,
  replaceLabels,
  updateIssueRow,
} from './queries.ts'
import { findIssueId, withUrl } from './read.ts'
import { badReferences, changed, wantedOf } from './rules.ts'

export function updateIssue(ctx: Context, caller: Actor, key: string, change: IssueChange) {
  return transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    const delegate = await holdDelegate(unit, change)
    if (change.team_id !== undefined) await holdCoverage(tx, caller.workspaceId)
    if (change.parent_id) await oneParentAtATime(tx, caller.workspaceId)
    const before = await lockVisibleIssue(unit, key, namedBy(change))
    if (caller.kind === 'app') checkChangeFromApp(change)
    if (change.personal && !before.personal && before.reporter_id !== caller.id) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only its reporter can make an issue personal.' })
    }
    const after = changed(before, change, now)
    await checkReferences(unit, before, after)
    await settleDelegate(unit, { before, after, change, wanted: delegate })

    if (!previousValues(before, after, [...issueFields, 'personal'])) {
      // 6.5.3: internal ordering is nobody's news and no change in time.
      if (after.sort_order === before.sort_order) return after
      await updateIssueRow(tx, after)
      tellWatchers(unit, 'update', after)
      return after
    }
    after.updated_at = laterThan(before.updated_at, now)
    if (after.team_id !== before.team_id) {
      after.code = (await nextCodes(tx, caller.workspaceId, after.team_id, 1))[0] as string
      after.url = withUrl(config, after).url
      await keepCodes(tx, caller.workspaceId, [after])
    }
    const actors = await actorsOnIssues(unit, [after.id])
    await partFromAgents(unit, before, after)
    await updateIssueRow(tx, after)
    await replaceLabels(tx, caller.workspaceId, after)
    await tellOthers(unit, actors(after.id), before, after)
    await tellAgents(unit, before, after, delegate)
    return after
  })
}

/** Deleting takes its comments along and clears what refers to it; others hear of the issue alone (decisions 3). */
export const deleteIssue = (ctx: Context, caller: Actor, key: string) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const issue = await lockVisibleIssue(unit, key, [])
    const actors = await actorsOnIssues(unit, [issue.id])
    await endOnDeleted(unit, { issueId: issue.id })
    await tx.run(sql`delete from issues where id = ${issue.id}`)
    if (issue.personal) return tellWatchers(unit, 'remove', issue)
    const removed = { ...issue, updated_at: laterThan(issue.updated_at, now) }
    await record(unit, [happened(actors(issue.id), 'remove', removed)])
  })

/** Holds an issue, those it blocks or is blocked by, and those that it is about to name. */
async function lockVisibleIssue(unit: UnitOfWork<Actor>, key: string, named: string[]): Promise<Issue> {
  const { tx, caller, config } = unit
  const id = await findIssueId(tx, caller, key)
  const related = await tx.rows<{ id: string }>(sql`
    select blocked_id as id from issue_blocks where blocker_id = ${id}
    union select blocker_id from issue_blocks where blocked_id = ${id}`)
  const locked = await lockIssues(tx, caller.workspaceId, [id, ...named, ...related.map((other) => other.id)])
  const issue = found(locked.find((one) => one.id === id))
  // It may have become personal, or another team's, while we waited for it.
  const place = { personal: issue.personal, personalOf: issue.reporter_id, teamIds: teamsOf(issue) }
  if (!reaches(caller, place)) throw outOfReach(caller)
  return withUrl(config, issue)
}

/** Two issues made each other's parents at the same moment would be a circle. */
const oneParentAtATime = (tx: Tx, workspaceId: string) =>
  tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`parents ${workspaceId}`}, 0))`)

async function checkReferences({ tx, caller }: UnitOfWork<Actor>, before: Issue, after: Issue) {
  const wanted = wantedOf(after, before)
  await holdProjects(tx, caller.workspaceId, [after])
  const dropped = caller.kind === 'app' ? droppedBlocks(before, after) : []
  const issues = [...(wanted.issue ?? []), ...dropped.map(({ id }) => id)]
  const references = await References.find(tx, caller, { ...wanted, issue: issues })
  if (after.team_id) references.mustCover(caller, after.team_id)
  else if (!covers(caller, null)) throw outOfReach(caller)
  const bad = badReferences(after, caller.id, wanted, references)
  for (const { field, id } of dropped) {
    if (!references.get('issue', id)) bad[field] ??= 'must keep the issues that the app does not reach'
  }
  if (after.parent_id && after.parent_id !== before.parent_id && !bad.parent_id) {
    if (await isAncestor(tx, after.id, after.parent_id)) bad.parent_id = 'is below this issue already'
  }
  if (Object.keys(bad).length > 0) throw invalid(bad)
}

async function tellOthers(unit: UnitOfWork<Actor>, actor: EventActor, before: Issue, after: Issue) {
  await recordHistory(unit, [[before, after]])
  await record(unit, heardOf(actor, before, after))
  if (after.personal) tellWatchers(unit, 'update', after, !before.personal)
  // Its comments were as unseen as itself.
  if (before.personal && !after.personal) await recordThread(unit, { issueId: after.id })
  // decisions 3: becoming personal is nobody's news, so what referred to it loses it as if it had been deleted.
  const hidden = after.personal && !before.personal
  if (hidden) await leaveOthers(unit.tx, before)
  await changeBlocksBetween(unit, hidden ? { ...before, blocks_ids: [], blocked_by_ids: [] } : before, after)
  if (after.assignee_id && after.assignee_id !== before.assignee_id) {
    const notice = { kind: 'assignment', userId: after.assignee_id, issueId: after.id } as const
    await notify(unit, [notice])
  }
}

async function leaveOthers(tx: Tx, issue: Issue) {
  await removeBlocks(tx, blocksOf(issue))
  await tx.run(sql`
    update issues set parent_id = null
    where parent_id = ${issue.id} and not (personal and reporter_id = ${issue.reporter_id})`)
}

async function changeBlocksBetween(unit: UnitOfWork<Actor>, before: Issue, after: Issue) {
  const without = (blocks: Block[], others: Block[]) =>
    blocks.filter(([a, b]) => !others.some(([c, d]) => a === c && b === d))
  const [old, fresh] = [blocksOf(before), blocksOf(after)]
  await changeBlocks(unit, after.id, without(fresh, old), without(old, fresh))
}
