import type { NewActivity } from '@baton/protocol'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { notify } from '../inbox/notify.ts'
import type { Session } from './session.ts'

type Said = NewActivity['content']['type']

/** What an agent says that asks for a person, or that a person waits for. */
const kinds = { elicitation: 'agent_needs_you', response: 'agent_finished', error: 'agent_finished' } as const

export const tellsPeople = (said: Said): said is keyof typeof kinds => said in kinds

/**
 * Who asked hears of it; for a session that the agent opened, the assignee of its issue. One unread entry of a kind is
 * enough for each session, and for all that an agent opens on an issue, so that no agent fills an inbox.
 */
export async function notifyPeople(tx: Tx, now: Date, session: Session, said: Said) {
  if (!tellsPeople(said)) return
  const kind = kinds[said]
  const person = await tx.row<{ userId: string }>(sql`
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
      } and e.kind = ${kind} and e.user_id = m.user_id and e.read_at is null)`)
  if (!person) return
  const { issueId, projectId } = session
  await notify(tx, now, session.workspaceId, session.agentId, [
    { kind, userId: person.userId, issueId, projectId, sessionId: session.id },
  ])
}
