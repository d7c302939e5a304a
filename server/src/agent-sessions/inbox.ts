import type { NewActivity } from '@baton/protocol'
import { none, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { markQuestionsRead, removeFinished } from '../inbox/answered.ts'
import { notify } from '../inbox/notify.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Session } from './session.ts'

type ActivityType = NewActivity['content']['type']

const kinds = { elicitation: 'agent_needs_you', response: 'agent_finished', error: 'agent_finished' } as const

export const notifies = (type: ActivityType): type is keyof typeof kinds => type in kinds

/**
 * Notifies the person who opened the session, or the assignee of the issue if the agent opened it. To keep inboxes
 * short, no entry is added while there is an unread one of the same kind for the session, or for any session that the
 * agent opened on the issue. A person who pressed Stop gets no entry for the agent's last activity.
 */
export async function notifyRequester(unit: UnitOfWork<App>, session: Session, type: ActivityType) {
  if (!notifies(type)) return
  const kind = kinds[type]
  if (kind === 'agent_finished') await markQuestionsRead(unit, session)
  else await removeFinished(unit, session.id)
  const person = await unit.tx.row<{ userId: string }>(sql`
    select m.user_id as "userId" from memberships m
    where m.workspace_id = ${session.workspaceId} and m.user_id = ${
      session.openedByAgent
        ? sql`(select assignee_id from issues where id = ${session.issueId})`
        : sql`${session.creatorId}`
    } and not exists (
      select from inbox_entries e
      where ${
        session.openedByAgent
          ? sql`e.issue_id = ${session.issueId} and e.actor_id = ${session.agentId}`
          : sql`e.session_id = ${session.id}`
      } and e.kind = ${kind} and e.user_id = m.user_id and e.read_at is null)
      ${
        session.lifecycle.state === 'stopping'
          ? sql`and not exists (select from agent_activities a
              where a.session_id = ${session.id} and a.signal = 'stop' and a.author_id = m.user_id)`
          : none
      }`)
  if (!person) return
  const { issueId, projectId } = session
  await notify(unit, [{ kind, userId: person.userId, issueId, projectId, sessionId: session.id }])
}
