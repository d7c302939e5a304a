import { type Issue, issueFields, limits } from '@baton/protocol'
import { actorsOnIssues } from '../agent-sessions/acting-for.ts'
import { laterThan } from '../clock.ts'
import { insertRows, sql } from '../db/sql.ts'
import { changesToRecord, type EventActor, type ItemChange, only, previousValues, record } from '../events/record.ts'
import type { Actor, System } from '../http/caller.ts'
import { invalid } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { hintsOf, sendHints } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { addBlocks, type Block, lockIssues, removeBlocks, type StoredIssue, touchIssues } from './queries.ts'
import { withUrl } from './read.ts'

export const teamsOf = (...issues: Pick<Issue, 'team_id'>[]) => issues.flatMap(({ team_id }) => team_id ?? [])

export const toItemChange = (actor: EventActor, action: 'create' | 'remove', issue: Issue): ItemChange => ({
  type: 'Issue',
  action,
  actor,
  data: only(issue, issueFields),
  url: issue.url,
  teamIds: teamsOf(issue),
})

export const updateToRecord = (actor: EventActor, before: Issue, after: Issue): ItemChange[] =>
  changesToRecord([before, after], issueFields, toItemChange(actor, 'create', after), teamsOf(before))

/** Hints for changes that are not recorded as events: imports, `sort_order`, personal issues. */
export function sendIssueHints(
  { tx, caller }: UnitOfWork<Actor | System>,
  action: ItemChange['action'],
  issue: Issue,
  wasShared = false,
) {
  const item = { workspace_id: caller.workspaceId, type: 'Issue', id: issue.id, action } as const
  sendHints(tx, hintsOf(item, { personal: issue.personal, personalOf: issue.reporter_id }, wasShared))
}

/** Writes the changed fields into the history of the issues, except `updated_at`, which every change sets. */
export async function recordHistory(unit: UnitOfWork<Actor | System>, pairs: [before: Issue, after: Issue][]) {
  const rows = pairs.flatMap(([before, after]) => {
    const shown = [...issueFields.filter((field) => field !== 'updated_at'), 'personal' as const]
    const from = previousValues(before, after, shown)
    if (!from) return []
    const changes = Object.fromEntries(
      Object.entries(from).map(([field, value]) => [field, { from: value, to: after[field as keyof Issue] }]),
    )
    return [{ issue: after, personal: before.personal || after.personal, changes }]
  })
  await insertHistory(unit, rows)
}

interface HistoryRow {
  issue: Pick<Issue, 'id' | 'updated_at'>
  personal: boolean
  changes: Record<string, { from: unknown; to: unknown }>
}

/** Their time is the issue's new `updated_at`, so that `if_updated_at` finds every change since (edit.conflict). */
export async function insertHistory({ tx, caller, chain }: UnitOfWork<Actor | System>, rows: HistoryRow[]) {
  if (rows.length === 0) return
  const columns = sql`id, workspace_id, issue_id, actor_id, by_system, personal, changes, automation_id, created_at`
  const stored = rows.map(({ issue, personal, changes }) => ({
    id: newId('chg'),
    workspace_id: caller.workspaceId,
    issue_id: issue.id,
    actor_id: caller.id,
    by_system: caller.kind === 'system',
    personal,
    changes,
    automation_id: chain?.automationId ?? null,
    created_at: issue.updated_at,
  }))
  await tx.run(insertRows(sql`issue_changes`, columns, stored))
}

/**
 * Adds and removes block relations of these issues. The other issues change too: they get a new `updated_at`, a history
 * entry and an event (issue.blocks-change-emits-both).
 */
export async function changeBlocks(
  unit: UnitOfWork<Actor>,
  issueIds: readonly string[],
  added: Block[],
  removed: Block[],
  prefix: (issueId: string) => string = () => '',
) {
  const { tx, now, caller, config } = unit
  const otherIds = [...new Set([...added, ...removed].flat())].filter((id) => !issueIds.includes(id))
  if (otherIds.length === 0) return
  const before = await lockIssues(tx, caller.workspaceId, otherIds)
  const actors = await actorsOnIssues(unit, otherIds)
  await removeBlocks(tx, removed)
  await addBlocks(tx, caller.workspaceId, added)
  const after = before.map((issue) => withBlocks(issue, added, removed, now))
  const message = `must not contain an issue that already has ${limits.idsInArray} of these relations`
  for (const other of after) {
    if (other.blocked_by_ids.length > limits.idsInArray) {
      const [blocker] = added.find(([, blocked]) => blocked === other.id) as Block
      throw invalid({ [`${prefix(blocker)}blocks_ids`]: message })
    }
    if (other.blocks_ids.length > limits.idsInArray) {
      const [, blocked] = added.find(([blocker]) => blocker === other.id) as Block
      throw invalid({ [`${prefix(blocked)}blocked_by_ids`]: message })
    }
  }
  await touchIssues(tx, after)
  const pairs = before.map((issue, index): [Issue, Issue] => [
    withUrl(config, issue),
    withUrl(config, after[index] as StoredIssue),
  ])
  await recordHistory(unit, pairs)
  await record(
    unit,
    pairs.flatMap(([old, updated]) => updateToRecord(actors(updated.id), old, updated)),
  )
  for (const [, updated] of pairs) if (updated.personal) sendIssueHints(unit, 'update', updated)
}

function withBlocks(issue: StoredIssue, added: Block[], removed: Block[], now: Date): StoredIssue {
  const relatedIds = (ids: string[], own: 0 | 1, other: 0 | 1) => {
    const removedIds = removed.filter((block) => block[own] === issue.id).map((block) => block[other])
    const addedIds = added.filter((block) => block[own] === issue.id).map((block) => block[other])
    return [...new Set([...ids.filter((id) => !removedIds.includes(id)), ...addedIds])].sort()
  }
  return {
    ...issue,
    blocks_ids: relatedIds(issue.blocks_ids, 0, 1),
    blocked_by_ids: relatedIds(issue.blocked_by_ids, 1, 0),
    updated_at: laterThan(issue.updated_at, now),
  }
}
