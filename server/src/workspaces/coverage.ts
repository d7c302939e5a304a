import { type Sql, sql } from '../db/sql.ts'
import { type Actor, limitedTo } from '../http/caller.ts'

/** Whether the caller has access to this team; null means no team. People have access to all teams, unless their token is limited. */
export function covers(caller: Actor, teamId: string | null): boolean {
  const teamIds = limitedTo(caller)
  return teamIds === null || (teamId !== null && teamIds.includes(teamId))
}

/** The same as an SQL condition on a column with team ids. */
export function teamCovered(caller: Actor, column: Sql): Sql {
  const teamIds = limitedTo(caller)
  return teamIds === null ? sql`true` : sql`${column} = any(${teamIds})`
}

/** The people whom the caller sees, as a condition on a column with user ids (app.members-of-covered-teams). */
export function memberCovered(caller: Actor, column: Sql): Sql {
  const teamIds = limitedTo(caller)
  return teamIds === null
    ? sql`true`
    : sql`${column} in (select user_id from team_members where team_id = any(${teamIds}))`
}
