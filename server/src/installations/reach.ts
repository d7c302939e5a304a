import { type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError, found, notFound } from '../http/errors.ts'
import { covers } from '../workspaces/coverage.ts'

/** The teams of an item, and its owner if it is personal. */
export interface Place {
  personal: boolean
  personalOf: string | null
  teamIds: readonly string[]
}

/**
 * A person can access shared items and their own personal items; an app shared items of the teams it covers. A personal
 * agent can also access its owner's personal items, in a session on one of them (agent.personal-acts-with-owner-access).
 */
export function reaches(caller: Actor, { personal, personalOf, teamIds }: Place): boolean {
  if (caller.kind === 'person') return !personal || personalOf === caller.id
  if (personal) return caller.personalOf !== null && personalOf === caller.personalOf
  return caller.allTeams || teamIds.some((id) => covers(caller, id))
}

/** The same as a condition on the issue `i`. */
export function issueInReach(caller: Actor): Sql {
  if (caller.kind === 'person') return sql`(not i.personal or i.reporter_id = ${caller.id})`
  if (caller.personalOf) return sql`(not i.personal or i.reporter_id = ${caller.personalOf})`
  return caller.allTeams ? sql`(not i.personal)` : sql`(not i.personal and i.team_id = any(${caller.teamIds}))`
}

/** The same as a condition on the project `p`. */
export function projectInReach(caller: Actor): Sql {
  if (caller.kind === 'person') return sql`(not p.personal or p.owner_id = ${caller.id})`
  if (caller.personalOf) return sql`(not p.personal or p.owner_id = ${caller.personalOf})`
  if (caller.allTeams) return sql`(not p.personal)`
  return sql`(not p.personal and exists (
    select 1 from project_teams where project_id = p.id and team_id = any(${caller.teamIds})))`
}

/** 403 for an app (issue.app-other-team-403), 404 for a person (issue.personal-hidden-from-others). */
export const outOfReach = (caller: Actor) => (caller.kind === 'app' ? new ApiError('TEAM_ACCESS_DENIED') : notFound())

/** Returns the row, or throws if there is none or it is out of reach. */
export function reached<Row extends { reached: boolean | null }>(caller: Actor, row: Row | undefined) {
  const { reached, ...rest } = found(row)
  if (!reached) throw outOfReach(caller)
  return rest
}
