import {
  type GitAutomation,
  type GitAutomationChange,
  type GitEvent,
  gitEvents,
  type IssueStatus,
  issueStatuses,
} from '@baton/protocol'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import type { Member, System } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { changeIssues } from '../issues/many.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { transactAs } from '../workspaces/members.ts'
import { readTeam } from '../workspaces/teams.ts'

/** The rules of a team that has not changed them. */
export const defaultRules: GitAutomation = {
  branch: null,
  opened: 'in_progress',
  review_requested: null,
  approved: null,
  merged: 'done',
  closed: null,
}

export async function readAutomation(ctx: Context, caller: Member, teamId: string): Promise<GitAutomation> {
  await readTeam(ctx.db, caller, teamId)
  return (await rulesOfTeams(ctx.db, [teamId]))(teamId)
}

export const setAutomation = (ctx: Context, admitted: Member, teamId: string, change: GitAutomationChange) =>
  transactAs(ctx, admitted, 'manager', async (unit) => {
    const { tx, caller } = unit
    found(
      await tx.row(sql`
        select 1 from teams where workspace_id = ${caller.workspaceId} and id = ${teamId} for no key update`),
    )
    const before = (await rulesOfTeams(tx, [teamId]))(teamId)
    const rules: GitAutomation = { ...before, ...change }
    await tx.run(sql`
      insert into git_automation (team_id, workspace_id, rules) values (${teamId}, ${caller.workspaceId}, ${json(rules)})
      on conflict (team_id) do update set rules = excluded.rules`)
    const changes = changesBetween(before, rules, gitEvents)
    await recordAudit(unit, { action: 'team.git_automation_changed', subjectId: teamId, details: { changes } })
    return rules
  })

async function rulesOfTeams(db: Queryable, teamIds: readonly string[]) {
  const rows = await db.rows<{ team_id: string; rules: GitAutomation }>(sql`
    select team_id, rules from git_automation where team_id = any(${teamIds})`)
  const byTeam = new Map(rows.map(({ team_id, rules }) => [team_id, rules]))
  return (teamId: string | null): GitAutomation => ({ ...defaultRules, ...(teamId && byTeam.get(teamId)) })
}

/** The status after these events, or null if it stays: an issue only moves forward, and never out of `done`. */
export function statusAfter(current: IssueStatus, events: readonly GitEvent[], rules: GitAutomation) {
  const rank = (status: IssueStatus) => issueStatuses.indexOf(status)
  return events.reduce<IssueStatus | null>((furthest, event) => {
    const wanted = rules[event]
    return wanted && rank(wanted) > rank(furthest ?? current) ? wanted : furthest
  }, null)
}

/** Moves issues by the rules of their teams, as the system. */
export async function automate(unit: UnitOfWork<System>, eventsByIssue: ReadonlyMap<string, readonly GitEvent[]>) {
  const ids = [...eventsByIssue].flatMap(([id, events]) => (events.length > 0 ? [id] : []))
  if (ids.length === 0) return
  const teams = await unit.tx.rows<{ team_id: string }>(sql`
    select distinct team_id from issues where id = any(${ids}) and team_id is not null`)
  const rulesOf = await rulesOfTeams(
    unit.tx,
    teams.map(({ team_id }) => team_id),
  )
  await changeIssues(unit, ids, (issue) => {
    const status = issue.personal
      ? null
      : statusAfter(issue.status, eventsByIssue.get(issue.id) ?? [], rulesOf(issue.team_id))
    return status && { status }
  })
}
