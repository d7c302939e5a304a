import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'

// A name may hold brackets itself.
const pattern = /@\[[^\n]{1,200}?\]\((usr_[0-9a-hjkmnp-tv-z]{26})\)/g

/** The ids that a text mentions as `@[Display Name](usr_…)`, each once. */
export const mentionsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(pattern)].map((match) => match[1] as string)),
]

/** Those of them that are somebody here; the rest is plain text. */
export async function mentionedIn(db: Queryable, workspaceId: string, text: string): Promise<string[]> {
  const ids = mentionsIn(text)
  if (ids.length === 0) return []
  const known = await db.rows<{ user_id: string }>(sql`
    select user_id from memberships where workspace_id = ${workspaceId} and user_id = any(${ids})`)
  const here = new Set(known.map(({ user_id }) => user_id))
  return ids.filter((id) => here.has(id))
}
