import type { Issue, NewIssue } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { actorOf, record } from '../events/record.ts'
import { linkAllReferenced } from '../files/links.ts'
import type { Actor, Member } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import type { Alias } from '../http/route.ts'
import { newId } from '../ids.ts'
import { type Agent, findAgents } from '../installations/agents.ts'
import { outOfReach } from '../installations/reach.ts'
import { storeAlias } from '../linear-shape/aliases.ts'
import { type Kind, type ReferenceIds, References } from '../planning/references.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { covers } from '../workspaces/coverage.ts'
import { checkNewFromApp } from './apps.ts'
import { changeBlocks, sendIssueHints, toItemChange } from './changes.ts'
import { applyDelegation, lockDelegate, switchSessions } from './delegation.ts'
import { blocksOf, insertIssues, lockIssues, lockProjects, nextCodes, referencedIssueIds } from './queries.ts'
import { withUrl } from './read.ts'
import { applyChange, badReferences, referencesToCheck } from './rules.ts'
import { addWatchers, notifyOfChanges } from './watchers.ts'

export function createIssue(ctx: Context, caller: Actor, body: NewIssue, alias?: Alias) {
  checkPlace(caller, body)
  return transact(ctx, caller, async (unit) => {
    const delegate = await lockDelegate(unit, body)
    await lockIssues(unit.tx, caller.workspaceId, referencedIssueIds(body))
    const [issue] = await insert(unit, [body], () => '', delegate ? [delegate] : [])
    const created = issue as Issue
    if (alias) await storeAlias(unit, alias, created.id)
    await announce(unit, [created], () => '')
    await switchSessions(unit, null, created, delegate)
    return created
  })
}

/** Creates all issues or none, each as `createIssue` does. Statements are shared, except those that open sessions. */
export function createIssues(ctx: Context, caller: Actor, bodies: NewIssue[]) {
  const prefix = (index: number) => `issues.${index}.`
  for (const [index, body] of bodies.entries()) {
    if (caller.kind === 'app' && Object.hasOwn(body, 'delegate_id')) {
      throw new ApiError('INVALID_DELEGATE', { reason: 'app_actor', index })
    }
    try {
      checkPlace(caller, body)
    } catch (error) {
      throw refusalOf(error, index)
    }
  }
  return transact(ctx, caller, async (unit) => {
    const delegateIds = [...new Set(bodies.flatMap(({ delegate_id }) => delegate_id ?? []))].sort()
    const delegates = delegateIds.length > 0 ? await findAgents(unit, delegateIds, sql`for share of i`) : []
    await lockIssues(unit.tx, caller.workspaceId, [...new Set(bodies.flatMap(referencedIssueIds))])
    const data = await insert(unit, bodies, prefix, delegates)
    await announce(unit, data, prefix)
    for (const issue of data) {
      const delegate = delegates.find(({ id }) => id === issue.delegate_id)
      await switchSessions(unit, null, issue, delegate)
    }
    return { data }
  })
}

/** Apps, and personal tokens for selected teams, create issues only in a team. */
function checkPlace(caller: Actor, body: NewIssue) {
  if (caller.kind === 'app') checkNewFromApp(body)
  else if (!covers(caller, null) && (body.personal || !body.team_id)) throw outOfReach(caller)
}

/** Events, hints, block relations, watchers and inbox entries of new issues. */
async function announce(unit: UnitOfWork<Actor>, issues: Issue[], prefix: (index: number) => string) {
  const actor = actorOf(unit.caller)
  for (const issue of issues) if (issue.personal) sendIssueHints(unit, 'create', issue)
  await record(
    unit,
    issues.flatMap((issue) => (issue.personal ? [] : [toItemChange(actor, 'create', issue)])),
  )
  const ids = issues.map(({ id }) => id)
  await changeBlocks(unit, ids, issues.flatMap(blocksOf), [], (id) => prefix(ids.indexOf(id)))
  await notifyOfChanges(
    unit,
    issues.map((issue) => [null, issue] as const),
  )
}

/** The refusal of one issue of a batch, which names the issue by its index. */
function refusalOf(error: unknown, index: number) {
  if (!(error instanceof ApiError)) return error
  const fields = Object.entries(error.details).map(([field, message]) => [`issues.${index}.${field}`, message])
  const details = error.code === 'VALIDATION_ERROR' ? Object.fromEntries(fields) : { ...error.details, index }
  return new ApiError(error.code, details, { message: error.message })
}

/** Creates all issues or none. Records no events: receivers would treat them as new (issue.import-emits-nothing). */
export const importIssues = (ctx: Context, caller: Member, bodies: NewIssue[]) =>
  transact(ctx, caller, async (unit) => {
    const data = await insert(unit, bodies, (index) => `issues.${index}.`)
    for (const issue of data) sendIssueHints(unit, 'create', issue)
    await addWatchers(
      unit,
      data.flatMap(({ id, reporter_id, assignee_id }) =>
        [reporter_id, assignee_id].flatMap((userId) => (userId ? [{ issueId: id, userId }] : [])),
      ),
    )
    return { data }
  })

/**
 * Checks and inserts issues. An invalid field is reported with the prefix of its issue. The number of queries does not
 * depend on the number of issues.
 */
async function insert(
  unit: UnitOfWork<Actor>,
  bodies: NewIssue[],
  prefix: (index: number) => string,
  delegates: readonly Agent[] = [],
) {
  const { tx, now, caller, config } = unit
  const drafts = bodies.map((body) =>
    applyChange({ ...emptyIssue(caller, now), personal: body.personal ?? false }, body, now),
  )
  const checked = drafts.map((draft) => referencesToCheck(draft, null))
  await lockProjects(tx, caller.workspaceId, drafts)
  const references = await References.find(tx, caller, mergeIds(checked))
  for (const [index, { team_id }] of drafts.entries()) {
    try {
      references.refuseUncoveredTeam(caller, team_id)
    } catch (error) {
      throw prefix(index) ? refusalOf(error, index) : error
    }
  }
  const bad = drafts.flatMap((draft, index) =>
    Object.entries(badReferences(draft, caller.id, checked[index] as ReferenceIds, references)).map(
      ([field, message]) => [prefix(index) + field, message],
    ),
  )
  if (bad.length > 0) throw invalid(Object.fromEntries(bad))
  for (const [index, draft] of drafts.entries()) {
    if (!draft.delegate_id) continue
    const newDelegate = delegates.find(({ id }) => id === draft.delegate_id)
    const change = bodies[index] as NewIssue
    await applyDelegation(unit, { before: null, after: draft, change, newDelegate }).catch((error) => {
      throw prefix(index) ? refusalOf(error, index) : error
    })
  }

  // Counters are locked in the order of team ids, so that concurrent imports do not deadlock.
  for (const teamId of [...new Set(drafts.map(({ team_id }) => team_id))].sort()) {
    const ofTeam = drafts.filter(({ team_id }) => team_id === teamId)
    const codes = await nextCodes(tx, caller.workspaceId, teamId, ofTeam.length)
    ofTeam.forEach((draft, index) => {
      draft.code = codes[index] as string
    })
  }
  await insertIssues(tx, caller.workspaceId, drafts)
  await linkAllReferenced(
    unit,
    drafts.map(({ id, description }) => [{ type: 'issue', id }, description] as const),
  )
  return drafts.map((draft) => withUrl(config, draft))
}

const emptyIssue = (caller: Actor, now: Date): Issue => ({
  id: newId('iss'),
  code: '',
  title: '',
  description: '',
  status: 'backlog',
  priority: 'no_priority',
  type: 'task',
  team_id: null,
  project_id: null,
  milestone_id: null,
  cycle_id: null,
  parent_id: null,
  reporter_id: caller.id,
  assignee_id: null,
  delegate_id: null,
  delegation_revision: 0,
  label_ids: [],
  blocks_ids: [],
  blocked_by_ids: [],
  time_estimate: null,
  due_date: null,
  completed_at: null,
  created_at: now.toISOString(),
  updated_at: now.toISOString(),
  url: '',
  personal: false,
  sort_order: now.getTime(),
})

function mergeIds(all: ReferenceIds[]): ReferenceIds {
  const kinds = [...new Set(all.flatMap((ids) => Object.keys(ids)))] as Kind[]
  return Object.fromEntries(kinds.map((kind) => [kind, all.flatMap((ids) => [...(ids[kind] ?? [])])]))
}
