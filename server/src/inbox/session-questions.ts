import { sql } from '../db/sql.ts'
import { hintOfInbox, sendHints } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** Marks the questions of an agent session as read, once they were answered or the agent continued without an answer. */
export async function markQuestionsRead(
  { tx, now }: UnitOfWork,
  { id, workspaceId }: { id: string; workspaceId: string },
) {
  const marked = await tx.rows<{ userId: string }>(sql`
    update inbox_entries set read_at = ${now}
    where session_id = ${id} and kind = 'agent_needs_you' and read_at is null returning user_id as "userId"`)
  sendHints(
    tx,
    marked.map(({ userId }) => hintOfInbox(workspaceId, userId)),
  )
}
