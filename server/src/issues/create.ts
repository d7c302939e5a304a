import type { Issue, NewIssue } from '@baton/protocol'
import type { Context } from '../context.ts'
import { actorOf, record } from '../events/record.ts'
import type { Actor, Member } from '../http/caller.ts'
import { invalid } from '../http/errors.ts'
import type { Alias } from '../http/route.ts'
import { newId } from '../ids.ts'
import { notify } from '../inbox/notify.ts'
import type { Agent } from '../installations/agents.ts'
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

export function createIssue(ctx: Context, caller: Actor, body: NewIssue, alias?: Alias) {
  if (caller.kind === 'app') checkNewFromApp(body)
  else if (!covers(caller, null) && (body.personal || !body.team_id)) throw outOfReach(caller)
  return transact(ctx, caller, async (unit) => {
    const delegate = await lockDelegate(unit, body)
    await lockIssues(unit.tx, caller.workspaceId, referencedIssueIds(body))
    const [issue] = await insert(unit, [body], () => '', delegate)
    const created = issue as Issue
    if (alias) await storeAlias(unit, alias, created.id)
    if (created.personal) sendIssueHints(unit, 'create', created)
    else await record(unit, [toItemChange(actorOf(caller), 'create', created)])
    await changeBlocks(unit, created.id, blocksOf(created), [])
    if (created.assignee_id) {
      const notice = { kind: 'assignment', userId: created.assignee_id, issueId: created.id } as const
      await notify(unit, [notice])
    }
    await switchSessions(unit, null, created, delegate)
    return created
  })
}

/** Creates all issues or none. Records no events: receivers would treat them as new (issue.import-emits-nothing). */
export const importIssues = (ctx: Context, caller: Member, bodies: NewIssue[]) =>
  transact(ctx, caller, async (unit) => {
    const data = await insert(unit, bodies, (index) => `issues.${index}.`)
    for (const issue of data) sendIssueHints(unit, 'create', issue)
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
  delegate?: Agent,
) {
  const { tx, now, caller, config } = unit
  const drafts = bodies.map((body) =>
    applyChange({ ...emptyIssue(caller, now), personal: body.personal ?? false }, body, now),
  )
  const checked = drafts.map((draft) => referencesToCheck(draft, null))
  await lockProjects(tx, caller.workspaceId, drafts)
  const references = await References.find(tx, caller, mergeIds(checked))
  for (const { team_id } of drafts) references.refuseUncoveredTeam(caller, team_id)
  const bad = drafts.flatMap((draft, index) =>
    Object.entries(badReferences(draft, caller.id, checked[index] as ReferenceIds, references)).map(
      ([field, message]) => [prefix(index) + field, message],
    ),
  )
  if (bad.length > 0) throw invalid(Object.fromEntries(bad))
  for (const [index, draft] of drafts.entries()) {
    if (!draft.delegate_id) continue
    await applyDelegation(unit, {
      before: null,
      after: draft,
      change: bodies[index] as NewIssue,
      newDelegate: delegate,
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
