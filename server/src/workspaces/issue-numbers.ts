import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { invalid } from '../http/errors.ts'

/**
 * Takes the next `count` issue numbers of a team, or of the workspace for issues without a team. `key` is the key of the
 * team, null without one. The counter stays locked until the transaction ends.
 */
export async function nextIssueNumbers(tx: Queryable, workspaceId: string, teamId: string | null, count: number) {
  const row = await tx.row<{ key: string | null; last: number }>(
    teamId
      ? sql`
        update teams set last_issue_number = last_issue_number + ${count}
        where workspace_id = ${workspaceId} and id = ${teamId} returning key, last_issue_number as last`
      : sql`
        update workspaces set last_issue_number = last_issue_number + ${count}
        where id = ${workspaceId} returning null::text as key, last_issue_number as last`,
  )
  // The caller has checked the team; it was deleted since.
  if (!row)
    throw teamId ? invalid({ team_id: 'was just deleted' }) : new Error(`workspace ${workspaceId} does not exist`)
  return { key: row.key, numbers: Array.from({ length: count }, (_, index) => row.last - count + 1 + index) }
}
