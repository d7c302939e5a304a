import type { NewActivity } from '@baton/protocol'
import { none, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { notify } from '../inbox/notify.ts'
import { hintOfInbox, sendHints } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Session } from './session.ts'

type Said = NewActivity['content']['type']

/** What an agent says that asks for a person, or that a person waits for. */
const kinds = { elicitation: 'agent_needs_you', response: 'agent_finished', error: 'agent_finished' } as const

export const tellsPeople = (said: Said): said is keyof typeof kinds => said in kinds

/**
 * Who asked hears of it; for a session that the agent opened, the assignee of its issue. One unread entry of a kind is
 * enough for each session, and for all that an agent opens on an issue, so that no agent fills an inbox. Who had the
 * agent stop is not told that it has.
 */
export async function notifyPeople(unit: UnitOfWork<App>, session: Session, said: Said) {
  if (!tellsPeople(said)) return
  const kind = kinds[said]
  if (kind === 'agent_finished') await settleQuestions(unit, session)
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
        session.standing.state === 'stopping'
          ? sql`and not exists (select from agent_activities a
              where a.session_id = ${session.id} and a.signal = 'stop' and a.author_id = m.user_id)`
          : none
      }`)
  if (!person) return
  const { issueId, projectId } = session
  await notify(unit, [{ kind, userId: person.userId, issueId, projectId, sessionId: session.id }])
}

/** A question that somebody has answered, or that the agent went on without, waits for nobody. */
export async function settleQuestions({ tx, now }: UnitOfWork, { id, workspaceId }: Session) {
  const settled = await tx.rows<{ userId: string }>(sql`
    update inbox_entries set read_at = ${now}
    where session_id = ${id} and kind = 'agent_needs_you' and read_at is null returning user_id as "userId"`)
  sendHints(
    tx,
    settled.map(({ userId }) => hintOfInbox(workspaceId, userId)),
  )
}
