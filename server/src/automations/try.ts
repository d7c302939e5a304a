import { type ActionResult, type AutomationTrial, automationLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import type { Chain } from '../hooks.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { findIssueId } from '../issues/read.ts'
import { transactAs } from '../workspaces/members.ts'
import { act, type Scene, Skipped } from './actions.ts'
import { checkRules, mustUseTeam, rulesOf } from './automations.ts'
import { checkBody, needsIssue } from './check.ts'
import { changeMatches } from './filter.ts'
import { refusalText } from './perform.ts'

interface Tried {
  looked_at: number
  matched: number
  would: ActionResult[]
}

/** Carries the result out of the transaction, which is rolled back: nothing is stored, and nothing is sent. */
class RolledBack extends Error {
  readonly result: Tried
  constructor(result: Tried) {
    super('rolled back')
    this.result = result
  }
}

export async function tryAutomation(ctx: Context, admitted: Member, trial: AutomationTrial): Promise<Tried> {
  checkBody('trial', trial)
  try {
    await transactAs(ctx, admitted, 'member', async (unit) => {
      const { tx, now, caller } = unit
      await mustUseTeam(tx, caller, trial.team_id)
      await checkRules(unit, trial.team_id, rulesOf(trial))
      const issueId = await chooseIssue(tx, caller, trial)
      const { looked_at, matched, last } = await lookBack(tx, caller.workspaceId, trial)
      const chain: Chain = { automationId: newId('aut'), issueId: issueId ?? last, before: [] }
      const scene: Scene = {
        ctx: { ...ctx, db: ctx.db.within(tx), chain },
        tx,
        now,
        owner: caller,
        automation: { id: chain.automationId, team_id: trial.team_id, trigger: trial.trigger, actions: trial.actions },
        lastIssues: {},
        issueId: issueId ?? last,
        agentId: null,
      }
      // Its row is needed by the inbox entries that it would make.
      await tx.run(sql`
        insert into automations (id, workspace_id, team_id, owner_id, name, trigger, filter, actions, agent_ids, state,
          created_at, updated_at)
        values (${chain.automationId}, ${caller.workspaceId}, ${trial.team_id}, ${caller.id}, ${trial.name}, '{}', '{}',
          '[]', '{}', 'off', ${now}, ${now})`)
      throw new RolledBack({ looked_at, matched, would: await play(scene) })
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.result
    throw error
  }
  throw new Error('a trial was committed')
}

async function chooseIssue(tx: Tx, caller: Member, { issue_id, team_id, trigger }: AutomationTrial) {
  if (!issue_id) return null
  if (trigger.type === 'schedule') throw invalid({ issue_id: 'must be left out: the automation runs on a schedule' })
  const id = await findIssueId(tx, caller, issue_id)
  const inTeam = await tx.row(sql`select 1 from issues where id = ${id} and team_id = ${team_id}`)
  if (!inTeam) throw invalid({ issue_id: 'is not an issue of the team' })
  return id
}

/** automation.try-matches. `last` is the issue that would have caused the latest run, or else the team's newest. */
async function lookBack(tx: Tx, workspaceId: string, { team_id, trigger, filter = {} }: AutomationTrial) {
  if (trigger.type === 'schedule') return { looked_at: 0, matched: 0, last: null }
  const newest = await tx.row<{ id: string }>(sql`
    select id from issues where team_id = ${team_id} and not personal order by id desc limit 1`)
  if (trigger.type !== 'issue') return { looked_at: 0, matched: 0, last: newest?.id ?? null }
  const events = await tx.rows<{ issueId: string; matches: boolean }>(sql`
    select e.item->>'id' as "issueId", e.item->>'team_id' = ${team_id}
      and ${changeMatches(sql`e.action`, sql`e.item`, sql`e.before`)} as matches
    from (
      select r.id, r.action, r.body::jsonb->'data' as item,
        (r.body::jsonb->'data') || coalesce(r.body::jsonb->'updated_from', '{}') as before
      from events r
      where r.workspace_id = ${workspaceId} and r.type = 'Issue' and ${team_id} = any(r.team_ids)
      order by r.id desc limit ${automationLimits.triedEvents}) e
    cross join (select ${json(trigger)} as trigger, ${json(filter)} as filter) a
    order by e.id desc`)
  const matching = events.filter(({ matches }) => matches)
  for (const { issueId } of matching.slice(0, 20)) {
    const there = await tx.row(
      sql`select 1 from issues where id = ${issueId} and team_id = ${team_id} and not personal`,
    )
    if (there) return { looked_at: events.length, matched: matching.length, last: issueId }
  }
  return { looked_at: events.length, matched: matching.length, last: newest?.id ?? null }
}

/** Each action by itself: one that is refused does not keep the next from being tried. */
async function play(scene: Scene): Promise<ActionResult[]> {
  const results: ActionResult[] = []
  for (const [index, action] of scene.automation.actions.entries()) {
    const refused = (message: string) => ({ type: action.type, ok: false, subject_id: null, message })
    if (!scene.issueId && needsIssue(action)) {
      results.push(refused('The team has no issue to try it with.'))
      continue
    }
    await scene.tx.script('savepoint action')
    try {
      const result = await act(scene, action, index)
      // What it would create does not exist.
      const isNew = action.type !== 'set_fields' && action.type !== 'delegate' && action.type !== 'notify'
      results.push(isNew ? { ...result, subject_id: null } : result)
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof Skipped)) throw error
      await scene.tx.script('rollback to savepoint action')
      results.push(refused(error instanceof ApiError ? refusalText(error) : error.reason))
    }
  }
  return results
}
