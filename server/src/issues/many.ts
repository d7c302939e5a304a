import type { Issue, IssueChange } from '@baton/protocol'
import { actorsOnIssues } from '../agent-sessions/acting-for.ts'
import { endOnDeleted, endOnMoved } from '../agent-sessions/end.ts'
import { laterThan } from '../clock.ts'
import { sql } from '../db/sql.ts'
import { previousValues, record } from '../events/record.ts'
import type { Actor, System } from '../http/caller.ts'
import { findAgents } from '../installations/agents.ts'
import { coversPlace } from '../installations/availability.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { recordHistory, sendIssueHints, teamsOf, toItemChange, updateToRecord } from './changes.ts'
import {
  changeLabels,
  changeRows,
  insertCodes,
  issueFieldsAndPersonal,
  lockIssues,
  nextCodes,
  type StoredIssue,
} from './queries.ts'
import { withUrl } from './read.ts'
import { applyChange } from './rules.ts'
import { notifyOfChanges } from './watchers.ts'

/** Not the relations, which change other issues too. A delegation can only be removed: a new one opens a session. */
export type ChangeOfMany = Omit<
  IssueChange,
  'personal' | 'parent_id' | 'blocks_ids' | 'blocked_by_ids' | 'delegate_id'
> & { delegate_id?: null }

export type Pair = [before: Issue, after: Issue]

/** An issue can have a description of 100 KB, which its event repeats. */
const atOnce = 200

/**
 * Changes many issues in the caller's transaction, with everything that belongs to a change: codes, history, events,
 * live hints and inbox entries. The number of statements does not depend on the number of issues, except that they are
 * changed in groups. `change` is called with each issue once it is locked; null leaves the issue as it is. The ids that
 * it sets are not checked. Returns the issues that changed.
 *
 * An issue that moves to another team ends the sessions of agents that do not cover it, and loses such a delegate: call
 * `holdCoverage` first. Removing a delegate does not end its session.
 */
export async function changeIssues(
  unit: UnitOfWork<Actor | System>,
  ids: readonly string[],
  change: (issue: Issue) => ChangeOfMany | null,
): Promise<Pair[]> {
  const changed: Pair[] = []
  for (const issues of groupsOf(ids)) changed.push(...(await changeGroup(unit, issues, change)))
  return changed
}

/** Locks are taken in the order of ids, over all groups. */
function groupsOf(ids: readonly string[]): string[][] {
  const sorted = [...new Set(ids)].sort()
  return Array.from({ length: Math.ceil(sorted.length / atOnce) }, (_, index) =>
    sorted.slice(index * atOnce, (index + 1) * atOnce),
  )
}

async function changeGroup(
  unit: UnitOfWork<Actor | System>,
  ids: string[],
  change: (issue: Issue) => ChangeOfMany | null,
): Promise<Pair[]> {
  const { tx, now, caller, config } = unit
  const pairs = (await lockIssues(tx, caller.workspaceId, ids)).flatMap((issue): Pair[] => {
    const before = withUrl(config, issue)
    const wanted = change(before)
    if (!wanted) return []
    const after = applyChange(before, wanted, now)
    if (!previousValues(before, after, issueFieldsAndPersonal)) return []
    return [[before, { ...after, updated_at: laterThan(before.updated_at, now) }]]
  })
  if (pairs.length === 0) return []
  const actors = await actorsOnIssues(
    unit,
    pairs.map(([{ id }]) => id),
  )
  await moveToTeams(unit, pairs)
  for (const [before, after] of pairs) {
    if (after.delegate_id !== before.delegate_id) after.delegation_revision = before.delegation_revision + 1
  }
  await changeRows(tx, pairs)
  await changeLabels(tx, caller.workspaceId, pairs)
  await recordHistory(unit, pairs)
  await record(
    unit,
    pairs.flatMap(([before, after]) => updateToRecord(actors(after.id), before, after)),
  )
  for (const [, after] of pairs) if (after.personal) sendIssueHints(unit, 'update', after)
  await notifyOfChanges(unit, pairs)
  return pairs
}

/** Gives issues that move their new codes, and ends what their agents lose with the move. */
async function moveToTeams(unit: UnitOfWork<Actor | System>, pairs: Pair[]) {
  const { tx, caller, config } = unit
  const moved = pairs.filter(([before, after]) => after.team_id !== before.team_id)
  if (moved.length === 0) return
  const delegates = [...new Set(moved.flatMap(([, { delegate_id }]) => delegate_id ?? []))]
  const agents = new Map((await findAgents(unit, delegates)).map((agent) => [agent.id, agent]))
  for (const teamId of [...new Set(moved.map(([, { team_id }]) => team_id))].sort()) {
    const issues = moved.flatMap(([, after]) => (after.team_id === teamId ? [after] : []))
    const codes = await nextCodes(tx, caller.workspaceId, teamId, issues.length)
    for (const [index, issue] of issues.entries()) {
      issue.code = codes[index] as string
      issue.url = withUrl(config, issue).url
      const access = issue.delegate_id ? agents.get(issue.delegate_id)?.access : undefined
      const place = { personal: issue.personal, teamIds: teamsOf(issue) }
      if (issue.delegate_id && !(access && coversPlace(access, place))) issue.delegate_id = null
    }
    await endOnMoved(unit, { issueIds: issues.map(({ id }) => id) }, teamId ? [teamId] : [])
    await insertCodes(tx, caller.workspaceId, issues)
  }
}

/**
 * Deletes many issues in the caller's transaction. The database deletes their comments and clears references to them,
 * without events for them (issue.delete-emits-one-remove, issue.reference-deletion-emits-nothing).
 */
export async function removeIssues(unit: UnitOfWork<Actor>, ids: readonly string[]) {
  const { tx, caller } = unit
  for (const group of groupsOf(ids)) {
    const issues = await lockIssues(tx, caller.workspaceId, group)
    const locked = issues.map(({ id }) => id)
    const actors = await actorsOnIssues(unit, locked)
    await endOnDeleted(unit, { issueIds: locked })
    await tx.run(sql`delete from issues where id = any(${locked})`)
    const removed = issues.map((issue) => afterRemoval(unit, issue))
    for (const issue of removed) if (issue.personal) sendIssueHints(unit, 'remove', issue)
    await record(
      unit,
      removed.flatMap((issue) => (issue.personal ? [] : [toItemChange(actors(issue.id), 'remove', issue)])),
    )
  }
}

const afterRemoval = ({ now, config }: UnitOfWork, issue: StoredIssue): Issue => ({
  ...withUrl(config, issue),
  updated_at: laterThan(issue.updated_at, now),
})
