import { type Sql, sql } from '../db/sql.ts'
import { hintOfInbox, sendHints } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** Marks the questions of an agent session as read, once they were answered or the agent continued without an answer. */
export const markQuestionsRead = (unit: UnitOfWork, { id, workspaceId }: { id: string; workspaceId: string }) =>
  markEveryonesRead(unit, workspaceId, sql`session_id = ${id} and kind = 'agent_needs_you'`)

/** Removes "finished" of an agent session that asks a question after its answer: the question replaces it. */
export const removeFinished = ({ tx }: UnitOfWork, sessionId: string) =>
  tx.run(sql`
    delete from inbox_entries e where e.session_id = ${sessionId} and e.kind = 'agent_finished'
      and not exists (select from agent_activities a
        where a.session_id = e.session_id and a.type = 'prompt' and a.created_at > e.created_at)`)

/** Removes the unread "finished" of an agent session for the person who is asked to review it instead. */
export const replaceFinished = ({ tx }: Pick<UnitOfWork, 'tx'>, sessionId: string, userId: string) =>
  tx.run(sql`
    delete from inbox_entries
    where session_id = ${sessionId} and kind = 'agent_finished' and user_id = ${userId} and read_at is null`)

/** Marks the requests to review these agent sessions as read, once they were decided or withdrawn. */
export const markReviewsRead = (unit: Pick<UnitOfWork, 'tx' | 'now'>, workspaceId: string, sessionIds: string[]) =>
  markEveryonesRead(unit, workspaceId, sql`session_id = any(${sessionIds}) and kind = 'review_requested'`)

/** Removes the entries that users got for a comment as watchers: a mention in it replaces them. */
export const replaceCommentEntries = ({ tx }: UnitOfWork, commentId: string, userIds: string[]) =>
  tx.run(sql`
    delete from inbox_entries where comment_id = ${commentId} and kind = 'comment' and user_id = any(${userIds})`)

/** Marks the requests to install an app as read for all managers, once one of them has installed it. */
export const markInstallRequestsRead = (unit: UnitOfWork<{ workspaceId: string }>, appId: string) =>
  markEveryonesRead(unit, unit.caller.workspaceId, sql`app_id = ${appId} and kind = 'install_request'`)

async function markEveryonesRead({ tx, now }: Pick<UnitOfWork, 'tx' | 'now'>, workspaceId: string, which: Sql) {
  const marked = await tx.rows<{ userId: string }>(sql`
    update inbox_entries set read_at = ${now}
    where ${which} and read_at is null returning user_id as "userId"`)
  sendHints(
    tx,
    marked.map(({ userId }) => hintOfInbox(workspaceId, userId)),
  )
}
