import { type ActionResult, automationLimits, type RunReason } from '@baton/protocol'
import { hours, plus } from '../clock.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import { pauseMatching } from './pauses.ts'

export interface Outcome {
  state: 'done' | 'skipped' | 'failed'
  reason?: RunReason
  message?: string
  actions?: ActionResult[]
  /** Issues that actions created, by index. */
  created?: Record<number, string>
}

interface Recent {
  lastHour: number
  lastDay: number
  skips: number
}

/** The runs of an automation that the limits count. */
export async function recentRuns(tx: Queryable, automationId: string, now: Date): Promise<Recent> {
  const anHourAgo = plus(now, -hours(1))
  const acted = sql`state in ('done', 'failed')`
  const counts = await tx.row<Recent>(sql`
    select (count(*) filter (where ${acted} and finished_at > ${anHourAgo}))::int as "lastHour",
      (count(*) filter (where ${acted}))::int as "lastDay",
      (count(*) filter (where reason = 'rate_limited' and finished_at > ${anHourAgo}))::int as skips
    from automation_runs
    where automation_id = ${automationId} and finished_at > ${plus(now, -hours(24))}
      and (${acted} or reason = 'rate_limited')`)
  return counts as Recent
}

/** automation.rate-limited: the limit that one more run would exceed. */
export async function exceededLimit(tx: Queryable, automationId: string, workspaceId: string, now: Date) {
  const { runsPerHour, runsPerDay, runsPerHourInWorkspace } = automationLimits
  const { lastHour, lastDay } = await recentRuns(tx, automationId, now)
  if (lastHour >= runsPerHour) return `more than ${runsPerHour} runs in an hour`
  if (lastDay >= runsPerDay) return `more than ${runsPerDay} runs in a day`
  const all = await tx.row<{ count: number }>(sql`
    select count(*)::int as count from (
      select from automation_runs where workspace_id = ${workspaceId} and state in ('done', 'failed')
        and finished_at > ${plus(now, -hours(1))} limit ${runsPerHourInWorkspace}) r`)
  return (all?.count ?? 0) >= runsPerHourInWorkspace
    ? `more than ${runsPerHourInWorkspace} runs of the workspace in an hour`
    : undefined
}

/** Writes the outcome of a run, and what follows for its automation. Call last: it locks the automation's row. */
export async function settle(
  { tx, now }: { tx: Tx; now: Date },
  run: { id: string; automationId: string },
  version: number | null,
  { state, reason, message, actions = [], created = {} }: Outcome,
) {
  await tx.run(sql`
    update automation_runs set state = ${state}, reason = ${reason ?? null}, message = ${message ?? null},
      actions = ${json(actions)}, version = coalesce(${version}::int, version), claim_id = null, lease_until = null,
      finished_at = ${now}
    where id = ${run.id}`)
  const isAutomation = sql`a.id = ${run.automationId}`
  if (state === 'done') {
    await tx.run(sql`
      update automations a set failures = 0, last_issues = last_issues || ${json(created)}
      where ${isAutomation} and (failures > 0 or ${Object.keys(created).length > 0})`)
  } else if (state === 'failed') {
    await tx.run(sql`update automations a set failures = failures + 1 where ${isAutomation}`)
    await pauseMatching(
      { tx, now },
      sql`${isAutomation} and a.failures >= ${automationLimits.failuresInARow} and a.state = 'on'`,
      'failing',
    )
  } else if (reason === 'rate_limited') {
    const { skips } = await recentRuns(tx, run.automationId, now)
    if (skips >= automationLimits.skipsPerHour) await pauseMatching({ tx, now }, isAutomation, 'too_many_runs')
  } else if (reason === 'owner_not_allowed') await pauseMatching({ tx, now }, isAutomation, 'owner_not_allowed')
}
