import { type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'

/** Whether the caller has access to this team; null means no team. People have access to all teams. */
export const covers = (caller: Actor, teamId: string | null): boolean =>
  caller.kind === 'person' || caller.allTeams || (teamId !== null && caller.teamIds.includes(teamId))

/** The same as an SQL condition on a column with team ids. */
export const teamCovered = (caller: Actor, column: Sql): Sql =>
  caller.kind === 'person' || caller.allTeams ? sql`true` : sql`${column} = any(${caller.teamIds})`
