import { programLimits } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { NamedCode } from './codes.ts'

/** The parts of a connection that decide what its events may link. */
export interface LinkScope {
  id: string
  workspaceId: string
  /** Null for all teams. */
  teamIds: string[] | null
}

/** Whether the issue `i` may be linked: it is shared and of a team of the connection. */
const linkable = ({ workspaceId, teamIds }: LinkScope): Sql =>
  sql`i.workspace_id = ${workspaceId} and not i.personal and ${teamIds ? sql`i.team_id = any(${teamIds})` : sql`true`}`

export interface NamedIssue {
  id: string
  closes: boolean
}

/** The issues with these codes, current or former, in the order of the codes. */
export async function issuesNamed(db: Queryable, scope: LinkScope, codes: readonly NamedCode[]): Promise<NamedIssue[]> {
  if (codes.length === 0) return []
  const rows = await db.rows<{ code: string; id: string }>(sql`
    select c.code, i.id from issue_codes c join issues i on i.id = c.issue_id
    where c.workspace_id = ${scope.workspaceId} and c.code = any(${codes.map(({ code }) => code)}) and ${linkable(scope)}`)
  const idOf = new Map(rows.map(({ code, id }) => [code, id]))
  const named = new Map<string, boolean>()
  for (const { code, closes } of codes) {
    const id = idOf.get(code)
    if (id && (named.has(id) || named.size < programLimits.gitLinks)) named.set(id, closes || named.get(id) === true)
  }
  return [...named].map(([id, closes]) => ({ id, closes }))
}

/** Whether a member may link this issue through the connection. */
export const isLinkable = async (db: Queryable, scope: LinkScope, issueId: string) =>
  (await db.row(sql`select 1 from issues i where i.id = ${issueId} and ${linkable(scope)}`)) !== undefined

/** Those of the sessions that exist on shared items of the connection's teams. */
export async function sessionsNamed(db: Queryable, scope: LinkScope, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const ofTeam = scope.teamIds
    ? sql`exists (select 1 from project_teams t where t.project_id = p.id and t.team_id = any(${scope.teamIds}))`
    : sql`true`
  const rows = await db.rows<{ id: string }>(sql`
    select s.id from agent_sessions s left join issues i on i.id = s.issue_id left join projects p on p.id = s.project_id
    where s.workspace_id = ${scope.workspaceId} and s.id = any(${ids}) and s.personal_of is null
      and (${linkable(scope)} or p.id is not null and not p.personal and ${ofTeam})`)
  return rows.map(({ id }) => id)
}
