import type { InboxKind } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import { hintOfInbox, sendHints } from '../live/hint.ts'
import type { Recording } from '../unit-of-work.ts'
import { scheduleMails } from './settings.ts'

export interface Notice {
  kind: InboxKind
  userId: string
  issueId?: string | null
  projectId?: string | null
  commentId?: string | null
  endpointId?: string | null
  appId?: string | null
  sessionId?: string | null
  automationId?: string | null
  /** Also for the actor. */
  ofActorToo?: boolean
  teamId?: string | null
}

/** Adds inbox entries in the transaction of their cause, except for the actor's own actions. */
export async function notify({ tx, now, caller }: Recording, notices: Notice[]) {
  const { id: actorId, workspaceId } = caller
  const rows = notices
    .filter(({ userId, ofActorToo }) => ofActorToo || userId !== actorId)
    .map(({ kind, userId, ...subject }) => ({
      id: newId('inb'),
      user_id: userId,
      kind,
      issue_id: subject.issueId,
      project_id: subject.projectId,
      comment_id: subject.commentId,
      endpoint_id: subject.endpointId,
      app_id: subject.appId,
      session_id: subject.sessionId,
      automation_id: subject.automationId,
      team_id: subject.teamId,
    }))
  if (rows.length === 0) return
  // Rows of users are locked in their order, so that two transactions with several of them do not deadlock.
  const notified = await tx.rows<{ user_id: string }>(sql`
    with added as (insert into inbox_entries
      (id, workspace_id, user_id, kind, issue_id, project_id, comment_id, endpoint_id, app_id, session_id,
        automation_id, team_id, actor_id, created_at)
    select n.id, ${workspaceId}, n.user_id, n.kind, n.issue_id, n.project_id, n.comment_id, n.endpoint_id, n.app_id,
      n.session_id, n.automation_id, n.team_id, ${actorId}, ${now}
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as n (id text, user_id text, kind text, issue_id text, project_id text, comment_id text,
        endpoint_id text, app_id text, session_id text, automation_id text, team_id text)
    join memberships m on m.workspace_id = ${workspaceId} and m.user_id = n.user_id
    order by n.user_id, n.id
    returning user_id, kind), due as (${scheduleMails(sql`added`, workspaceId, now)})
    select user_id from added`)
  sendHints(
    tx,
    notified.map(({ user_id }) => hintOfInbox(workspaceId, user_id)),
  )
}

/** Adds an inbox entry for every manager of the workspace, and for the other users given. */
export async function notifyManagers(
  unit: Recording,
  kind: InboxKind,
  subject: Omit<Notice, 'kind' | 'userId'>,
  alsoUserIds: string[] = [],
) {
  const managers = await unit.tx.rows<{ userId: string }>(sql`
    select user_id as "userId" from memberships where workspace_id = ${unit.caller.workspaceId} and role in ('owner', 'admin')`)
  const userIds = new Set([...managers.map(({ userId }) => userId), ...alsoUserIds])
  await notify(
    unit,
    [...userIds].map((userId) => ({ kind, userId, ...subject })),
  )
}
