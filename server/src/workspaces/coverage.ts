import { type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'

/** Whether the caller works in this team; null stands for no team. People work in all of them (decisions 2). */
export const covers = (caller: Actor, teamId: string | null): boolean =>
  caller.kind === 'person' || caller.allTeams || (teamId !== null && caller.teamIds.includes(teamId))

/** The same as a condition; `column` holds the id of a team. */
export const teamCovered = (caller: Actor, column: Sql): Sql =>
  caller.kind === 'person' || caller.allTeams ? sql`true` : sql`${column} = any(${caller.teamIds})`
