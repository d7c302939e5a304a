import { placeholderDomain } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { insertRows, sql } from '../db/sql.ts'

/** Names of imported people: they have no password, and no mail is sent to their address. */
export async function insertPlaceholders(
  tx: Queryable,
  workspaceId: string,
  now: Date,
  people: readonly { id: string; name: string }[],
) {
  if (people.length === 0) return
  const rows = people.map(({ id, name }) => ({
    id,
    user_kind: 'human',
    display_name: name,
    email: `${id}@${placeholderDomain}`,
    placeholder_in: workspaceId,
    created_at: now,
  }))
  await tx.run(insertRows(sql`users`, sql`id, user_kind, display_name, email, placeholder_in, created_at`, rows))
}

/** Call when nothing refers to it any more. */
export const deletePlaceholder = (tx: Queryable, workspaceId: string, id: string) =>
  tx.run(sql`delete from users where id = ${id} and placeholder_in = ${workspaceId}`)
