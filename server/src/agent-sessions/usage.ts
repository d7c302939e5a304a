import type { BudgetDetails, SessionUsage, UsageReport } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { notifyManagers } from '../inbox/notify.ts'
import { limitsOfMonth, limitsOfSession, monthOf, type Spending, spendingOf } from '../installations/budget.ts'
import { hintOfLists, sendHints } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Session } from './session.ts'
import { sendSessionHint } from './session-hint.ts'

/** Sums stay numbers that JavaScript and JSON represent exactly. */
const largestSum = Number.MAX_SAFE_INTEGER

const numbers = ['input_tokens', 'output_tokens', 'cost_micros'] as const

/** The usage after a report. A report has totals, so no number falls (usage.set-on-session). */
export function afterReport(before: SessionUsage | null, report: UsageReport, now: Date): SessionUsage {
  const after: SessionUsage = {
    model: null,
    input_tokens: null,
    output_tokens: null,
    cost_micros: null,
    currency: null,
    ...before,
    ...report,
    reported_at: now.toISOString(),
  }
  const problems: [string, string][] = []
  for (const key of numbers) {
    const least = before?.[key] ?? null
    if (least === null) continue
    const value = after[key]
    if (value === null || value < least)
      problems.push([`usage.${key}`, `must be at least ${least}, as reported before`])
  }
  if (before?.currency && after.currency !== before.currency) {
    problems.push(['usage.currency', `must be ${before.currency}, as reported before`])
  }
  if (problems.length > 0) throw invalid(Object.fromEntries(problems))
  return after
}

/** Stores the report of a locked session, and counts what it adds for the app and the month. */
export async function reportUsage(unit: UnitOfWork<App>, session: Session, report: UsageReport) {
  const { tx, now, caller } = unit
  const { usage: before, notified } = found(
    await tx.row<{ usage: SessionUsage | null; notified: string[] }>(sql`
      select usage, budget_notified as notified from agent_sessions where id = ${session.id}`),
  )
  const after = afterReport(before, report, now)
  await tx.run(sql`update agent_sessions set usage = ${JSON.stringify(after)} where id = ${session.id}`)
  // An agent inside the service has no app and no budget.
  if (!caller.appId) return
  await addToMonth(unit, caller.appId, before, after)
  const spending = await readSpending(tx, session.installationId, now)
  if (!spending) return
  const { issueId, projectId, id: sessionId } = session
  const told = newLimits(limitsOfSession(spending, after), notified)
  if (told.length > 0) {
    await tx.run(sql`
      update agent_sessions set budget_notified = budget_notified || ${told}::text[] where id = ${sessionId}`)
    for (const _ of told) await notifyManagers(unit, 'budget_reached', { sessionId, issueId, projectId })
  }
  await notifyOfMonth(unit, caller.appId, spending)
}

/** Notifies managers of each limit of this month that was reached since they were last notified. */
export async function notifyOfMonth(
  unit: UnitOfWork<{ id: string; workspaceId: string }>,
  appId: string,
  spending: Spending,
) {
  const { tx, now, caller } = unit
  const reached = limitsOfMonth(spending)
  if (reached.length === 0) return
  const month = monthOf(now)
  const row = await tx.row<{ notified: string[] }>(sql`
    select budget_notified as notified from app_usage where app_id = ${appId} and month = ${month} for update`)
  // Without a row nothing was reported this month: only a limit of 0 is reached, which its manager has just set.
  if (!row) return
  const told = newLimits(reached, row.notified)
  if (told.length === 0) return
  await tx.run(sql`
    update app_usage set budget_notified = budget_notified || ${told}::text[]
    where app_id = ${appId} and month = ${month}`)
  for (const _ of told) await notifyManagers(unit, 'budget_reached', { appId })
  // The app is no longer available for delegation, and none of its sessions takes messages.
  sendHints(tx, [hintOfLists(caller.workspaceId, 'Agents')])
  await hintSessionsOf(unit, appId)
}

/** A limit with another amount is another limit. */
const newLimits = (reached: BudgetDetails[], notified: string[]) =>
  reached
    .map(({ unit, allowed, currency }) => `${unit} ${allowed} ${currency ?? ''}`.trim())
    .filter((key) => !notified.includes(key))

async function addToMonth(
  { tx, now, caller }: UnitOfWork<App>,
  appId: string,
  before: SessionUsage | null,
  after: SessionUsage,
) {
  const month = monthOf(now)
  const isFirst = before === null || monthOf(new Date(before.reported_at)) !== month
  const added = (key: 'input_tokens' | 'output_tokens') => (after[key] ?? 0) - (before?.[key] ?? 0)
  // A cost counts from the report that names its currency.
  const counted = (usage: SessionUsage | null) => (usage?.currency ? (usage.cost_micros ?? 0) : 0)
  const cost =
    after.currency && after.cost_micros !== null ? { [after.currency]: counted(after) - counted(before) } : {}
  await tx.run(sql`
    insert into app_usage as u (app_id, month, workspace_id, sessions, input_tokens, output_tokens, costs)
    values (${appId}, ${month}, ${caller.workspaceId}, 1, ${added('input_tokens')}, ${added('output_tokens')},
      ${json(cost)})
    on conflict (app_id, month) do update set
      sessions = u.sessions + ${isFirst ? 1 : 0}::int,
      input_tokens = least(${largestSum}::bigint, u.input_tokens + excluded.input_tokens),
      output_tokens = least(${largestSum}::bigint, u.output_tokens + excluded.output_tokens),
      costs = u.costs || (
        select coalesce(jsonb_object_agg(c.key, least(${largestSum}::numeric,
          coalesce((u.costs ->> c.key)::numeric, 0) + c.value::numeric)), '{}')
        from jsonb_each_text(excluded.costs) c)`)
}

/** Null for an agent inside the service and for an app without a budget. */
async function readSpending(db: Queryable, installationId: string | null, now: Date): Promise<Spending | null> {
  if (installationId === null) return null
  const row = await db.row<{ spending: Spending | null }>(sql`
    select ${spendingOf(now)} as spending from installations i join agent_apps a on a.id = i.app_id
    where i.id = ${installationId}`)
  return row?.spending ?? null
}

/** The limit that refuses a person's message in the session now. */
export async function findReachedLimit({ tx, now }: UnitOfWork, session: Session): Promise<BudgetDetails | undefined> {
  const spending = await readSpending(tx, session.installationId, now)
  if (!spending) return undefined
  const row = await tx.row<{ usage: SessionUsage | null }>(sql`
    select usage from agent_sessions where id = ${session.id}`)
  return [...limitsOfSession(spending, row?.usage ?? null), ...limitsOfMonth(spending)][0]
}

export const budgetReached = (details: BudgetDetails) => new ApiError('BUDGET_REACHED', { ...details })

/** For a change of the budget: `budget_reached` of each open session of the app may have changed. */
export async function hintSessionsOf({ tx }: UnitOfWork, appId: string) {
  const sessions = await tx.rows<Session>(sql`
    select s.id, s.workspace_id as "workspaceId", s.issue_id as "issueId", s.project_id as "projectId",
      s.personal_of as "personalOf"
    from installations i join agent_sessions s on s.agent_id = i.app_user_id
    where i.app_id = ${appId} and i.revoked_at is null and s.ended_at is null`)
  for (const session of sessions) sendSessionHint(tx, session)
}
