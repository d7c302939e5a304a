import { type Sql, sql } from '../db/sql.ts'
import { hintOfInbox, sendHints } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** Marks the questions of an agent session as read, once they were answered or the agent continued without an answer. */
export const markQuestionsRead = (unit: UnitOfWork, { id, workspaceId }: { id: string; workspaceId: string }) =>
  markEveryonesRead(unit, workspaceId, sql`session_id = ${id} and kind = 'agent_needs_you'`)

/** Marks the requests to install an app as read for all managers, once one of them has installed it. */
export const markInstallRequestsRead = (unit: UnitOfWork<{ workspaceId: string }>, appId: string) =>
  markEveryonesRead(unit, unit.caller.workspaceId, sql`app_id = ${appId} and kind = 'install_request'`)

async function markEveryonesRead({ tx, now }: UnitOfWork, workspaceId: string, which: Sql) {
  const marked = await tx.rows<{ userId: string }>(sql`
    update inbox_entries set read_at = ${now}
    where ${which} and read_at is null returning user_id as "userId"`)
  sendHints(
    tx,
    marked.map(({ userId }) => hintOfInbox(workspaceId, userId)),
  )
}
