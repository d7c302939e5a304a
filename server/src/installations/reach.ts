import { none, type Sql, sql } from '../db/sql.ts'
import { type Actor, limitedTo } from '../http/caller.ts'
import { ApiError, found, notFound } from '../http/errors.ts'
import { covers } from '../workspaces/coverage.ts'

/** The teams of an item, and its owner if it is personal. */
export interface Place {
  personal: boolean
  personalOf: string | null
  teamIds: readonly string[]
}

/**
 * A person can access shared items and their own personal items; an app, or a personal token for selected teams, shared
 * items of the teams it covers. A personal agent can also access its owner's personal items, in a session on one of them
 * (agent.personal-acts-with-owner-access).
 */
export function reaches(caller: Actor, { personal, personalOf, teamIds }: Place): boolean {
  if (personal) return personalOf !== null && personalOf === ownerInReach(caller)
  return limitedTo(caller) === null || teamIds.some((id) => covers(caller, id))
}

/** The user whose personal items the caller can access. */
function ownerInReach(caller: Actor): string | null {
  if (caller.kind === 'app') return caller.personalOf
  return limitedTo(caller) === null ? caller.id : null
}

/** The same as a condition on the issue `i`. */
export function issueInReach(caller: Actor): Sql {
  const owner = ownerInReach(caller)
  if (owner) return sql`(not i.personal or i.reporter_id = ${owner})`
  const teamIds = limitedTo(caller)
  return teamIds === null ? sql`(not i.personal)` : sql`(not i.personal and i.team_id = any(${teamIds}))`
}

/** The same as a condition on the project `p`. */
export function projectInReach(caller: Actor): Sql {
  const owner = ownerInReach(caller)
  if (owner) return sql`(not p.personal or p.owner_id = ${owner})`
  const teamIds = limitedTo(caller)
  if (teamIds === null) return sql`(not p.personal)`
  return sql`(not p.personal and exists (
    select 1 from project_teams where project_id = p.id and team_id = any(${teamIds})))`
}

/**
 * An app sees its own sessions; a person the sessions on items they can access; an agent inside the service its own
 * sessions on items it can access. A condition on the session `s` and its issue `i` or project `p`.
 */
export function sessionInReach(caller: Actor): Sql {
  const own = caller.kind === 'app' ? sql`and s.agent_id = ${caller.id}` : none
  if (caller.kind === 'app' && caller.installationId !== null) return sql`s.workspace_id = ${caller.workspaceId} ${own}`
  const personalOf = caller.kind === 'app' ? caller.personalOf : caller.id
  // A session without an item belongs to no team.
  const withoutItem = limitedTo(caller) ? sql`false` : sql`s.personal_of is null or s.personal_of = ${personalOf}`
  return sql`s.workspace_id = ${caller.workspaceId} ${own} and coalesce(${issueInReach(caller)},
    ${projectInReach(caller)}, ${withoutItem})`
}

/** 403 for an app (issue.app-other-team-403) and a token for selected teams, 404 for a person (issue.personal-hidden-from-others). */
export const outOfReach = (caller: Actor) =>
  caller.kind === 'app' || limitedTo(caller) ? new ApiError('TEAM_ACCESS_DENIED') : notFound()

/** Returns the row, or throws if there is none or it is out of reach. */
export function reached<Row extends { reached: boolean | null }>(caller: Actor, row: Row | undefined) {
  const { reached, ...rest } = found(row)
  if (!reached) throw outOfReach(caller)
  return rest
}
