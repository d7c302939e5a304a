import { type Sql, sql } from '../db/sql.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { type About, lockSessions, saveStandings, shownIssue } from './session.ts'
import { endNow } from './state.ts'
import { watched } from './watched.ts'

/** 3.1, 3.2: ends without a last word. Each takes all sessions it concerns at once. */

/** The app is gone from the workspace, or an agent of the service is. */
export const endAllOf = (unit: UnitOfWork, agentId: string) => end(unit, sql`s.agent_id = ${agentId}`, 'uninstalled')

/** Before what they are about is deleted. If it was one person's own by then, they stay for that person alone. */
export async function endOnDeleted(unit: UnitOfWork, place: About) {
  await part(unit, about(place), 'issue_deleted')
  const owner =
    'issueId' in place
      ? sql`select reporter_id from issues where id = s.issue_id and personal`
      : sql`select owner_id from projects where id = s.project_id and personal`
  await unit.tx.run(sql`update agent_sessions s set personal_of = (${owner}) where ${about(place)}`)
}

/** Before what they are about becomes one person's own. */
export const endOnPersonal = (unit: UnitOfWork, place: About) => part(unit, about(place), 'team_removed')

/** Before what they are about moves to these teams: those of apps that cover none of them. */
export const endOnMoved = (unit: UnitOfWork, place: About, teamIds: readonly string[]) =>
  part(
    unit,
    sql`${about(place)} and s.installation_id in (
      select id from installations where not all_teams and not team_ids && ${teamIds}::text[])`,
    'team_removed',
  )

/** After the teams of an installation have changed. */
export const endUncovered = (unit: UnitOfWork, { id, agentId }: { id: string; agentId: string }) =>
  part(
    unit,
    sql`s.agent_id = ${agentId} and exists (
      select from installations n where n.id = ${id} and not n.all_teams and not case
        when s.issue_id is not null
        then exists (select from issues where id = s.issue_id and team_id = any(n.team_ids))
        else exists (select from project_teams where project_id = s.project_id and team_id = any(n.team_ids)) end)`,
    'team_removed',
  )

const about = (place: About) =>
  'issueId' in place ? sql`s.issue_id = ${place.issueId}` : sql`s.project_id = ${place.projectId}`

type Reason = Parameters<typeof endNow>[1]

/** Ends sessions whose agent sees no more of what they are about; what it saw last is what it goes on seeing. */
async function part(unit: UnitOfWork, condition: Sql, reason: Reason) {
  await end(unit, condition, reason)
  await unit.tx.run(sql`
    update agent_sessions s set parting = json_build_object(
      'issue', (select ${shownIssue} from issues i left join teams t on t.id = i.team_id where i.id = s.issue_id),
      'comment', (select text from comments where id = s.comment_id))
    where ${condition} and s.parting is null`)
}

async function end(unit: UnitOfWork, condition: Sql, reason: Reason) {
  const { tx, now } = unit
  const sessions = await lockSessions(unit, sql`${condition} and s.ended_at is null`)
  if (sessions.length === 0) return
  // Time may have ended some of them already, for another reason.
  const ends = sessions.map((session) => {
    const { standing } = session
    return standing.endedAt ? session : { ...session, standing: endNow(standing, reason, now) }
  })
  await saveStandings(unit, ends)
  for (const session of sessions) watched(tx, session)
}
