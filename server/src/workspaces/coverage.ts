import { type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'

/** Whether the caller has access to this team; null means no team. People have access to all teams. */
export const covers = (caller: Actor, teamId: string | null): boolean =>
  caller.kind === 'person' || caller.allTeams || (teamId !== null && caller.teamIds.includes(teamId))

/** The same as an SQL condition on a column with team ids. */
export const teamCovered = (caller: Actor, column: Sql): Sql =>
  caller.kind === 'person' || caller.allTeams ? sql`true` : sql`${column} = any(${caller.teamIds})`

/** The people whom the caller sees, as a condition on a column with user ids (app.members-of-covered-teams). */
export const memberCovered = (caller: Actor, column: Sql): Sql =>
  caller.kind === 'person' || caller.allTeams
    ? sql`true`
    : sql`${column} in (select user_id from team_members where team_id = any(${caller.teamIds}))`
