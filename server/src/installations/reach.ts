import { type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError, found, notFound } from '../http/errors.ts'
import { covers } from '../workspaces/coverage.ts'

/** Where an item stands, and whose it is if it is personal. */
export interface Place {
  personal: boolean
  personalOf: string | null
  teamIds: readonly string[]
}

/**
 * Whether the caller reaches an item: a person all that is shared and what is personal of theirs, an app what is shared
 * and of a team it covers (5.7). A personal agent reaches what is personal of its owner's where it works on such a thing.
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

/** decisions 3: an app is told that it may not; for a person what they may not see is not there. */
export const outOfReach = (caller: Actor) => (caller.kind === 'app' ? new ApiError('TEAM_ACCESS_DENIED') : notFound())

/** The row that was asked for, if there is one and `reached` says so. */
export function reached<Row extends { reached: boolean | null }>(caller: Actor, row: Row | undefined) {
  const { reached, ...rest } = found(row)
  if (!reached) throw outOfReach(caller)
  return rest
}
