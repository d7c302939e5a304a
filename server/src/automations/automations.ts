import {
  type Automation,
  type AutomationChange,
  type AutomationRun,
  automationLimits,
  type NewAutomation,
} from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { laterThan } from '../clock.ts'
import type { Context } from '../context.ts'
import { isDuplicate, type Queryable, type Tx } from '../db/database.ts'
import { json, none, type Sql, sql } from '../db/sql.ts'
import { isManager, type Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { transactAs } from '../workspaces/members.ts'
import { agentIdsIn, checkBody, type Rules, referenceProblems, ruleProblems } from './check.ts'
import { nextInstant } from './cron.ts'
import { readRuns } from './runs.ts'
import { recentRuns } from './settle.ts'
import { insertRuns } from './triggers.ts'

const columns = sql`
  a.id, a.team_id, a.owner_id, a.name, a.preset, a.trigger, a.filter, a.actions, a.state, a.paused_reason, a.next_at,
  (select jsonb_build_object('id', r.id, 'state', r.state, 'reason', r.reason, 'created_at',
      to_char(r.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from automation_runs r where r.automation_id = a.id order by r.id desc limit 1) as last_run,
  a.version, a.created_at, a.updated_at`

export const listAutomations = (ctx: Context, caller: Member, query: PageQuery & { team_id?: string }) =>
  page<Automation>(
    ctx.keys,
    'automations',
    query,
    ({ id }) => [id],
    (after, count) =>
      ctx.db.rows(sql`
      select ${columns} from automations a
      where a.workspace_id = ${caller.workspaceId} ${query.team_id ? sql`and a.team_id = ${query.team_id}` : none}
        ${after ? sql`and a.id < ${after[0]}` : none}
      order by a.id desc limit ${count}`),
  )

export const readAutomation = async (db: Queryable, { workspaceId }: Member, id: string, lock: Sql = none) =>
  found(
    await db.row<Automation>(sql`
      select ${columns} from automations a where a.workspace_id = ${workspaceId} and a.id = ${id} ${lock}`),
  )

export function createAutomation(ctx: Context, admitted: Member, body: NewAutomation): Promise<Automation> {
  checkBody('create', body)
  return transactAs(ctx, admitted, 'member', async (unit) => {
    const { tx, now, caller } = unit
    await lockAutomations(tx, caller)
    await mustUseTeam(tx, caller, body.team_id)
    const rules = rulesOf(body)
    await checkRules(unit, body.team_id, rules)
    await mustBeBelowLimits(tx, caller, body.team_id)
    const id = newId('aut')
    const nextAt = nextOf(rules.trigger, now)
    await tx
      .run(sql`
        insert into automations (id, workspace_id, team_id, owner_id, name, preset, trigger, filter, actions, agent_ids,
          state, next_at, created_at, updated_at)
        values (${id}, ${caller.workspaceId}, ${body.team_id}, ${caller.id}, ${body.name}, ${rules.preset},
          ${json(rules.trigger)}, ${json(rules.filter)}, ${json(rules.actions)}, ${agentIdsIn(rules)}, 'on', ${nextAt},
          ${now}, ${now})`)
      .catch(refuseSecondTriage)
    return finish(unit, 'created', id)
  })
}

export function updateAutomation(ctx: Context, admitted: Member, id: string, change: AutomationChange) {
  checkBody('change', change)
  return changeAutomation(ctx, admitted, id, async (unit, before) => {
    const { tx, now } = unit
    mustOwn(unit, before)
    await mustUseTeam(tx, unit.caller, before.team_id)
    const rules = rulesOf({ ...before, ...change })
    await checkRules(unit, before.team_id, rules)
    await tx.run(sql`
      update automations set name = ${change.name ?? before.name}, trigger = ${json(rules.trigger)},
        filter = ${json(rules.filter)}, actions = ${json(rules.actions)}, agent_ids = ${agentIdsIn(rules)},
        next_at = ${before.state === 'on' ? nextOf(rules.trigger, now) : null}, version = version + 1,
        updated_at = ${laterThan(before.updated_at, now)}
      where id = ${id}`)
    return finish(unit, 'updated', id)
  })
}

export const deleteAutomation = (ctx: Context, admitted: Member, id: string): Promise<void> =>
  changeAutomation(ctx, admitted, id, async (unit, before) => {
    mustControl(unit, before)
    await unit.tx.run(sql`delete from automations where id = ${id}`)
    await recordAudit(unit, { action: 'automation.deleted', subjectId: id, details: { name: before.name } })
  })

export const enableAutomation = (ctx: Context, admitted: Member, id: string) =>
  changeAutomation(ctx, admitted, id, async (unit, before) => {
    const { tx, now, caller } = unit
    mustOwn(unit, before)
    if (before.state === 'on') return before
    if (!(await mayUseTeam(tx, caller, before.team_id))) {
      throw invalid({ owner_id: 'must be a member of the team or a manager; a manager can take it over' })
    }
    const rules = rulesOf(before)
    await checkRules(unit, before.team_id, rules)
    const { skips } = await recentRuns(tx, id, now)
    if (skips >= automationLimits.skipsPerHour) {
      throw invalid({ trigger: 'caused too many runs within the last hour; wait an hour, and narrow the filter' })
    }
    await setState(unit, before, sql`state = 'on', failures = 0, next_at = ${nextOf(rules.trigger, now)}`)
    return finish(unit, 'enabled', id)
  })

export const disableAutomation = (ctx: Context, admitted: Member, id: string) =>
  changeAutomation(ctx, admitted, id, async (unit, before) => {
    mustControl(unit, before)
    if (before.state === 'off') return before
    await setState(unit, before, sql`state = 'off', next_at = null`)
    return finish(unit, 'disabled', id)
  })

export const takeOverAutomation = (ctx: Context, admitted: Member, id: string) =>
  changeAutomation(ctx, admitted, id, async (unit, before) => {
    if (!isManager(unit.caller)) throw new ApiError('FORBIDDEN')
    await setState(
      unit,
      before,
      sql`owner_id = ${unit.caller.id}, state = 'off', next_at = null, version = version + 1`,
    )
    return finish(unit, 'taken_over', id)
  })

/** automation.run-now: the worker runs it like any other, also while the automation is off. */
export const runAutomation = (ctx: Context, admitted: Member, id: string, { issue_id }: { issue_id?: string }) =>
  changeAutomation(ctx, admitted, id, async (unit, before): Promise<AutomationRun> => {
    const { tx, caller } = unit
    mustOwn(unit, before)
    if (before.state === 'paused') throw invalid({ state: 'is paused; turn the automation on first' })
    const isScheduled = before.trigger.type === 'schedule'
    if (isScheduled && issue_id) throw invalid({ issue_id: 'must be left out: the automation runs on a schedule' })
    if (!isScheduled && !issue_id) throw invalid({ issue_id: 'is required: the automation runs for an issue' })
    if (issue_id) {
      const issue = await tx.row(sql`
        select 1 from issues where id = ${issue_id} and workspace_id = ${caller.workspaceId}
          and team_id = ${before.team_id} and not personal`)
      if (!issue) throw invalid({ issue_id: 'is not an issue of the team' })
    }
    const [runId] = await insertRuns(unit, [
      {
        automationId: id,
        workspaceId: caller.workspaceId,
        version: before.version,
        cause: 'manual',
        issueId: issue_id ?? null,
      },
    ])
    return found((await readRuns(tx, sql`r.id = ${runId}`))[0])
  })

/**
 * Waits for a run in progress, so that the automation does nothing more once it is off. Runs take this lock first too.
 */
export const lockAutomation = (tx: Tx, id: string) =>
  tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`automation ${id}`}, 0))`)

const changeAutomation = <T>(
  ctx: Context,
  admitted: Member,
  id: string,
  change: (unit: UnitOfWork<Member>, before: Automation) => Promise<T>,
): Promise<T> =>
  transactAs(ctx, admitted, 'member', async (unit) => {
    await lockAutomation(unit.tx, id)
    return change(unit, await readAutomation(unit.tx, unit.caller, id, sql`for no key update`))
  })

const setState = ({ tx, now }: UnitOfWork<Member>, { id, updated_at }: Automation, values: Sql) =>
  tx.run(sql`
    update automations set ${values}, paused_reason = null, updated_at = ${laterThan(updated_at, now)} where id = ${id}`)

type Changed = 'created' | 'updated' | 'enabled' | 'disabled' | 'taken_over'

async function finish(unit: UnitOfWork<Member>, changed: Changed, id: string): Promise<Automation> {
  const automation = await readAutomation(unit.tx, unit.caller, id)
  const { name, team_id } = automation
  await recordAudit(unit, { action: `automation.${changed}`, subjectId: id, details: { name, team_id } })
  return automation
}

export const rulesOf = ({
  trigger,
  filter = {},
  actions,
  preset,
}: Pick<NewAutomation, 'trigger' | 'filter' | 'actions' | 'preset'>): Rules => ({
  trigger,
  filter,
  actions,
  preset: preset ?? null,
})

export async function checkRules(unit: UnitOfWork<Member>, teamId: string, rules: Rules) {
  const bad = { ...(await referenceProblems(unit, teamId, rules)), ...ruleProblems(rules, unit.now) }
  if (Object.keys(bad).length > 0) throw invalid(bad)
}

const nextOf = (trigger: Automation['trigger'], now: Date) =>
  trigger.type === 'schedule' ? nextInstant(trigger, now) : null

function mustOwn({ caller }: UnitOfWork<Member>, { owner_id }: Automation) {
  if (owner_id !== caller.id) {
    throw new ApiError('FORBIDDEN', {}, { message: 'Only the owner of an automation can change, run or turn it on.' })
  }
}

function mustControl({ caller }: UnitOfWork<Member>, { owner_id }: Automation) {
  if (owner_id !== caller.id && !isManager(caller)) {
    throw new ApiError('FORBIDDEN', {}, { message: 'Only its owner or a manager can do this to an automation.' })
  }
}

const mayUseTeam = async (tx: Queryable, caller: Member, teamId: string) =>
  isManager(caller) ||
  (await tx.row(sql`select 1 from team_members where team_id = ${teamId} and user_id = ${caller.id}`)) !== undefined

export async function mustUseTeam(tx: Queryable, caller: Member, teamId: string) {
  const team = await tx.row(sql`select 1 from teams where workspace_id = ${caller.workspaceId} and id = ${teamId}`)
  if (!team) throw invalid({ team_id: 'is not a team of this workspace' })
  if (!(await mayUseTeam(tx, caller, teamId))) {
    throw new ApiError('FORBIDDEN', {}, { message: 'Only members of the team and managers can automate it.' })
  }
}

/** Concurrent creates could exceed the limits, so each workspace makes one at a time. */
const lockAutomations = (tx: Tx, { workspaceId }: Member) =>
  tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`automations ${workspaceId}`}, 0))`)

async function mustBeBelowLimits(tx: Tx, { workspaceId }: Member, teamId: string) {
  const kept = await tx.row<{ all: number; team: number }>(sql`
    select count(*)::int as all, (count(*) filter (where team_id = ${teamId}))::int as team
    from automations where workspace_id = ${workspaceId}`)
  const { all, team } = found(kept)
  const { perTeam, perWorkspace } = automationLimits
  if (team >= perTeam) throw new ApiError('AUTOMATION_LIMIT_REACHED', { limit: perTeam })
  if (all >= perWorkspace) throw new ApiError('AUTOMATION_LIMIT_REACHED', { limit: perWorkspace })
}

/** triage.one-per-team */
function refuseSecondTriage(error: unknown): never {
  if (isDuplicate(error, 'automations_triage')) {
    throw invalid({ preset: 'the team has a triage automation; change that one' })
  }
  throw error
}
