import { isDeepStrictEqual } from 'node:util'
import { type AppBudget, type AppUsage, programLimits } from '@baton/protocol'
import { hintSessionsOf, notifyOfMonth } from '../agent-sessions/usage.ts'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { limitsOfMonth, type Spending, spendingOf } from '../installations/budget.ts'
import { transactAs } from '../workspaces/members.ts'

const noBudget: AppBudget = {
  currency: null,
  session_cost_micros: null,
  month_cost_micros: null,
  session_tokens: null,
  month_tokens: null,
}
const fields = Object.keys(noBudget) as (keyof AppBudget)[]

/** Null if the budget was never set. */
const findSpending = async (db: Queryable, now: Date, { workspaceId }: Member, appId: string, lock: Sql = none) =>
  found(
    await db.row<{ spending: Spending | null }>(sql`
      select ${spendingOf(now)} as spending from agent_apps a
      where a.workspace_id = ${workspaceId} and a.id = ${appId} and a.deleted_at is null ${lock}`),
  ).spending

export async function readUsage({ db, clock }: Context, caller: Member, appId: string): Promise<AppUsage> {
  const spending = await findSpending(db, clock.now(), caller, appId)
  const rows = await db.rows<Omit<AppUsage['data'][number], 'costs'> & { costs: Record<string, number> }>(sql`
    select month, sessions, input_tokens, output_tokens, costs from app_usage
    where app_id = ${appId} order by month desc limit ${programLimits.usageMonths}`)
  return {
    data: rows.map(({ costs, ...month }) => ({ ...month, costs: costsOf(costs) })),
    budget: spending?.budget ?? null,
    month_reached: spending !== null && limitsOfMonth(spending).length > 0,
  }
}

const costsOf = (costs: Record<string, number>) =>
  Object.entries(costs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, cost_micros]) => ({ currency, cost_micros }))

export function setBudget(ctx: Context, admitted: Member, appId: string, body: AppBudget): Promise<AppBudget> {
  const hasCost = body.session_cost_micros !== null || body.month_cost_micros !== null
  if (hasCost && body.currency === null) throw invalid({ currency: 'must be given, because there is a cost limit' })
  const budget: AppBudget = Object.fromEntries(fields.map((field) => [field, body[field]])) as AppBudget
  return transactAs(ctx, admitted, 'manager', async (unit) => {
    const { tx, now, caller } = unit
    const spending = await findSpending(tx, now, caller, appId, sql`for no key update of a`)
    if (isDeepStrictEqual(spending?.budget, budget)) return budget
    await tx.run(sql`update agent_apps set budget = ${JSON.stringify(budget)} where id = ${appId}`)
    const changes = changesBetween(spending?.budget ?? noBudget, budget, fields)
    await recordAudit(unit, { action: 'app.budget_set', subjectId: appId, details: { changes } })
    const after = await findSpending(tx, now, caller, appId)
    if (after) await notifyOfMonth(unit, appId, after)
    await hintSessionsOf(unit, appId)
    return budget
  })
}
