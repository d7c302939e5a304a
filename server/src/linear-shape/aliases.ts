import type { Queryable } from '../db/database.ts'
import { isDuplicate } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import type { Alias } from '../http/route.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** Stores the id that the app chose for an item, in the transaction that creates it. A repeated id fails (`isTaken`). */
export const storeAlias = (
  { tx, now, caller }: UnitOfWork<Actor, Queryable>,
  { clientId, requestHash }: Alias,
  itemId: string,
) =>
  tx.run(sql`
    insert into linear_aliases (workspace_id, user_id, client_id, item_id, request_hash, created_at)
    values (${caller.workspaceId}, ${caller.id}, ${clientId}, ${itemId}, ${requestHash}, ${now})`)

export const isTaken = (error: unknown) => isDuplicate(error, 'linear_aliases_pkey')

/** Only for the app that chose the id. */
export async function findAlias(db: Queryable, { id }: Pick<Actor, 'id'>, clientId: string) {
  const row = await db.row<{ itemId: string; hash: Uint8Array }>(sql`
    select item_id as "itemId", request_hash as hash from linear_aliases
    where user_id = ${id} and client_id = ${clientId}`)
  return row && { itemId: row.itemId, requestHash: Buffer.from(row.hash) }
}
