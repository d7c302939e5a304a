import type { Queryable } from '../db/database.ts'
import { insertRows, sql } from '../db/sql.ts'

export interface ImportedComment {
  id: string
  issue_id: string
  author_id: string | null
  text: string
  created_at: string
  updated_at: string
}

/** Inserts comments of another tracker. They mention no one: no user is notified and no agent gets a session. */
export async function insertImportedComments(tx: Queryable, workspaceId: string, comments: readonly ImportedComment[]) {
  if (comments.length === 0) return
  const rows = comments.map((comment) => ({
    ...comment,
    workspace_id: workspaceId,
    mentioned_user_ids: [],
    is_resolved: false,
    internal: false,
  }))
  const columns = sql`
    id, workspace_id, issue_id, author_id, text, mentioned_user_ids, is_resolved, internal, created_at, updated_at`
  await tx.run(insertRows(sql`comments`, columns, rows))
}

export const replaceMentioned = (tx: Queryable, workspaceId: string, from: string, to: string) =>
  tx.run(sql`
    update comments set mentioned_user_ids = array_replace(mentioned_user_ids, ${from}, ${to})
    where workspace_id = ${workspaceId} and ${from} = any(mentioned_user_ids)`)
