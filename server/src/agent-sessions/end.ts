import { type Sql, sql } from '../db/sql.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { issueJson, lockSessions, type SessionSubject, saveLifecycles } from './session.ts'
import { sendSessionHint } from './session-hint.ts'
import { endNow } from './state.ts'

// Immediate ends: the agent posts nothing more. Each function ends all affected sessions with one update.

/** Many issues at once, or one issue or project. */
type Subjects = SessionSubject | { issueIds: readonly string[] }

/** Call when the app was uninstalled, or an agent inside the service was deleted. */
export async function endAllOf(unit: UnitOfWork, agentId: string) {
  await endMatching(unit, sql`s.agent_id = ${agentId}`, 'uninstalled')
  await unit.hooks?.agentGone(unit, agentId)
}

/** Call before the issue or project is deleted. If it is personal, only its owner can still see the sessions. */
export async function endOnDeleted(unit: UnitOfWork, subject: Subjects) {
  await endWithSnapshot(unit, isAbout(subject), 'issue_deleted')
  const owner =
    'projectId' in subject
      ? sql`select owner_id from projects where id = s.project_id and personal`
      : sql`select reporter_id from issues where id = s.issue_id and personal`
  await unit.tx.run(sql`update agent_sessions s set personal_of = (${owner}) where ${isAbout(subject)}`)
}

/** Call before the issue or project becomes personal. */
export const endOnPersonal = (unit: UnitOfWork, subject: SessionSubject) =>
  endWithSnapshot(unit, isAbout(subject), 'team_removed')

/** Call before the issue or project moves to these teams. Ends the sessions of apps that cover none of them. */
export const endOnMoved = (unit: UnitOfWork, subject: Subjects, teamIds: readonly string[]) =>
  endWithSnapshot(
    unit,
    sql`${isAbout(subject)} and s.installation_id in (
      select id from installations where not all_teams and not team_ids && ${teamIds}::text[])`,
    'team_removed',
  )

/** Call after the teams of an installation have changed. */
export const endUncovered = (unit: UnitOfWork, { id, agentId }: { id: string; agentId: string }) =>
  endWithSnapshot(
    unit,
    sql`s.agent_id = ${agentId} and exists (
      select from installations n where n.id = ${id} and not n.all_teams and not case
        when s.issue_id is not null
        then exists (select from issues where id = s.issue_id and team_id = any(n.team_ids))
        else exists (select from project_teams where project_id = s.project_id and team_id = any(n.team_ids)) end)`,
    'team_removed',
  )

function isAbout(subject: Subjects): Sql {
  if ('issueIds' in subject) return sql`s.issue_id = any(${subject.issueIds})`
  return 'issueId' in subject ? sql`s.issue_id = ${subject.issueId}` : sql`s.project_id = ${subject.projectId}`
}

type Reason = Parameters<typeof endNow>[1]

/** Ends sessions whose agent loses access to the subject. It keeps seeing issue and comment as they are now. */
async function endWithSnapshot(unit: UnitOfWork, condition: Sql, reason: Reason) {
  await endMatching(unit, condition, reason)
  await unit.tx.run(sql`
    update agent_sessions s set parting = json_build_object(
      'issue', (select ${issueJson} from issues i left join teams t on t.id = i.team_id where i.id = s.issue_id),
      'comment', (select text from comments where id = s.comment_id))
    where ${condition} and s.parting is null`)
}

async function endMatching(unit: UnitOfWork, condition: Sql, reason: Reason) {
  const { tx, now } = unit
  const sessions = await lockSessions(unit, sql`${condition} and s.ended_at is null`)
  if (sessions.length === 0) return
  // Some may already have ended because their stopping timeout passed; they keep that reason.
  const ended = sessions.map((session) => {
    const { lifecycle } = session
    return lifecycle.endedAt ? session : { ...session, lifecycle: endNow(lifecycle, reason, now) }
  })
  await saveLifecycles(unit, ended)
  for (const session of sessions) sendSessionHint(tx, session)
  await unit.hooks?.sessionsEnded(
    unit,
    sessions.map(({ id }) => id),
  )
}
